// SPDX-License-Identifier: Apache-2.0
// Message tables of the small services.
#include "api/rpc_fields_int.h"
#include "api/rpc_small_int.h"

static const struct fk_field version_fields[] = {
    F(struct rpc_version, querier, 1, FK_FIELD_U64, "QuerierAPI", "QuerierAPI")};
TYPE(rpc_version_type, "VersionResponse", struct rpc_version, version_fields);

static const struct fk_field flag_fields[] = {
    F(struct rpc_flag, name, 1, FK_FIELD_STR, "name", "name"),
    F(struct rpc_flag, enabled, 2, FK_FIELD_BOOL, "enabled", "enabled"),
    F(struct rpc_flag, description, 3, FK_FIELD_STR, "description", "description"),
    F(struct rpc_flag, url, 4, FK_FIELD_STR, "documentation_url", "documentationUrl")};
static TYPE(flag_type, "FeatureFlag", struct rpc_flag, flag_fields);
static const struct fk_field flags_fields[] = {
    FMR(struct rpc_flags, flags, 1, &flag_type, "feature_flags", "featureFlags")};
TYPE(rpc_flags_type, "GetFeatureFlagsResponse", struct rpc_flags, flags_fields);

static const struct fk_field build_fields[] = {
    F(struct rpc_build, version, 1, FK_FIELD_STR, "version", "version"),
    F(struct rpc_build, revision, 2, FK_FIELD_STR, "revision", "revision"),
    F(struct rpc_build, branch, 3, FK_FIELD_STR, "branch", "branch"),
    F(struct rpc_build, user, 4, FK_FIELD_STR, "build_user", "buildUser"),
    F(struct rpc_build, date, 5, FK_FIELD_STR, "build_date", "buildDate"),
    F(struct rpc_build, go, 6, FK_FIELD_STR, "go_version", "goVersion")};
static TYPE(build_type, "GetBuildInfoData", struct rpc_build, build_fields);
static const struct fk_field build_info_fields[] = {
    F(struct rpc_build_info, status, 1, FK_FIELD_STR, "status", "status"),
    FMO(struct rpc_build_info, data, 2, &build_type, "data", "data")};
TYPE(rpc_build_info_type, "GetBuildInfoResponse", struct rpc_build_info, build_info_fields);
static const struct fk_field http_body_fields[] = {
    F(struct rpc_http_body, content_type, 1, FK_FIELD_STR, "content_type", "contentType"),
    F(struct rpc_http_body, data, 2, FK_FIELD_BYTES, "data", "data")};
TYPE(rpc_http_body_type, "HttpBody", struct rpc_http_body, http_body_fields);

// ---- settings.v1 ----

static const struct fk_field setting_fields[] = {
    F(struct rpc_setting, name, 1, FK_FIELD_STR, "name", "name"),
    F(struct rpc_setting, value, 2, FK_FIELD_STR, "value", "value"),
    F(struct rpc_setting, modified_ms, 3, FK_FIELD_I64, "modifiedAt", "modifiedAt")};
static TYPE(setting_type, "Setting", struct rpc_setting, setting_fields);
static const struct fk_field settings_fields[] = {
    FMR(struct rpc_settings, settings, 1, &setting_type, "settings", "settings")};
TYPE(rpc_settings_type, "GetSettingsResponse", struct rpc_settings, settings_fields);
static const struct fk_field setting_set_fields[] = {
    FMO(struct rpc_setting_set, setting, 1, &setting_type, "setting", "setting")};
TYPE(rpc_setting_set_type, "SetSettingsRequest", struct rpc_setting_set, setting_set_fields);
static const struct fk_field name_fields[] = {
    F(struct rpc_name, name, 1, FK_FIELD_STR, "name", "name")};
TYPE(rpc_name_type, "DeleteSettingsRequest", struct rpc_name, name_fields);

// ---- adhocprofiles.v1 ----

static const struct fk_field adhoc_upload_fields[] = {
    F(struct rpc_adhoc, name, 1, FK_FIELD_STR, "name", "name"),
    F(struct rpc_adhoc, profile, 2, FK_FIELD_STR, "profile", "profile"),
    F(struct rpc_adhoc, max_nodes, 3, FK_FIELD_I64, "max_nodes", "maxNodes")};
TYPE(rpc_adhoc_upload_type, "AdHocProfilesUploadRequest", struct rpc_adhoc, adhoc_upload_fields);
static const struct fk_field adhoc_get_fields[] = {
    F(struct rpc_adhoc, id, 1, FK_FIELD_STR, "id", "id"),
    F(struct rpc_adhoc, profile_type, 2, FK_FIELD_STR, "profile_type", "profileType"),
    F(struct rpc_adhoc, max_nodes, 3, FK_FIELD_I64, "max_nodes", "maxNodes")};
TYPE(rpc_adhoc_get_type, "AdHocProfilesGetRequest", struct rpc_adhoc, adhoc_get_fields);
static const struct fk_field adhoc_diff_fields[] = {
    F(struct rpc_adhoc, left, 1, FK_FIELD_STR, "left_id", "leftId"),
    F(struct rpc_adhoc, right, 2, FK_FIELD_STR, "right_id", "rightId"),
    F(struct rpc_adhoc, profile_type, 3, FK_FIELD_STR, "profile_type", "profileType"),
    F(struct rpc_adhoc, max_nodes, 4, FK_FIELD_I64, "max_nodes", "maxNodes")};
TYPE(rpc_adhoc_diff_type, "AdHocProfilesDiffRequest", struct rpc_adhoc, adhoc_diff_fields);
static const struct fk_field adhoc_answer_fields[] = {
    F(struct rpc_adhoc_answer, id, 1, FK_FIELD_STR, "id", "id"),
    F(struct rpc_adhoc_answer, name, 2, FK_FIELD_STR, "name", "name"),
    F(struct rpc_adhoc_answer, uploaded_ms, 3, FK_FIELD_I64, "uploaded_at", "uploadedAt"),
    F(struct rpc_adhoc_answer, profile_type, 4, FK_FIELD_STR, "profile_type", "profileType"),
    FR(struct rpc_adhoc_answer, types, 5, FK_FIELD_STR, "profile_types", "profileTypes"),
    F(struct rpc_adhoc_answer, flamebearer, 6, FK_FIELD_STR, "flamebearer_profile",
      "flamebearerProfile")};
TYPE(rpc_adhoc_answer_type, "AdHocProfilesGetResponse", struct rpc_adhoc_answer,
     adhoc_answer_fields);
static const struct fk_field adhoc_diff_answer_fields[] = {
    FR(struct rpc_adhoc_answer, types, 1, FK_FIELD_STR, "profile_types", "profileTypes"),
    F(struct rpc_adhoc_answer, flamebearer, 2, FK_FIELD_STR, "flamebearer_profile",
      "flamebearerProfile")};
TYPE(rpc_adhoc_diff_answer_type, "AdHocProfilesDiffResponse", struct rpc_adhoc_answer,
     adhoc_diff_answer_fields);
static const struct fk_field adhoc_entry_fields[] = {
    F(struct rpc_adhoc_entry, id, 1, FK_FIELD_STR, "id", "id"),
    F(struct rpc_adhoc_entry, name, 2, FK_FIELD_STR, "name", "name"),
    F(struct rpc_adhoc_entry, uploaded_ms, 3, FK_FIELD_I64, "uploaded_at", "uploadedAt")};
static TYPE(adhoc_entry_type, "AdHocProfilesProfileMetadata", struct rpc_adhoc_entry,
            adhoc_entry_fields);
static const struct fk_field adhoc_list_fields[] = {
    FMR(struct rpc_adhoc_list, profiles, 1, &adhoc_entry_type, "profiles", "profiles")};
TYPE(rpc_adhoc_list_type, "AdHocProfilesListResponse", struct rpc_adhoc_list, adhoc_list_fields);

// ---- debuginfo.v1alpha1 ----

static const char *const debug_types[] = {"TYPE_UNSPECIFIED", "TYPE_EXECUTABLE_FULL",
                                          "TYPE_EXECUTABLE_NO_TEXT", NULL};
static const char *const debug_states[] = {"STATE_UPLOADING", "STATE_UPLOADED", NULL};
static const struct fk_field debug_file_fields[] = {
    F(struct rpc_debug_file, gnu_id, 1, FK_FIELD_STR, "gnu_build_id", "gnuBuildId"),
    F(struct rpc_debug_file, go_id, 2, FK_FIELD_STR, "go_build_id", "goBuildId"),
    F(struct rpc_debug_file, otel_id, 3, FK_FIELD_STR, "otel_file_id", "otelFileId"),
    F(struct rpc_debug_file, name, 4, FK_FIELD_STR, "name", "name"),
    FE(struct rpc_debug_file, type, 5, debug_types, "type", "type")};
TYPE(rpc_debug_file_type, "FileMetadata", struct rpc_debug_file, debug_file_fields);
static const struct fk_field debug_ask_fields[] = {
    FMO(struct rpc_debug_ask, file, 1, &rpc_debug_file_type, "file", "file")};
TYPE(rpc_debug_ask_type, "ShouldInitiateUploadRequest", struct rpc_debug_ask, debug_ask_fields);
static const struct fk_field debug_verdict_fields[] = {
    F(struct rpc_debug_verdict, upload, 1, FK_FIELD_BOOL, "should_initiate_upload",
      "shouldInitiateUpload"),
    F(struct rpc_debug_verdict, reason, 2, FK_FIELD_STR, "reason", "reason")};
TYPE(rpc_debug_verdict_type, "ShouldInitiateUploadResponse", struct rpc_debug_verdict,
     debug_verdict_fields);
static const struct fk_field debug_id_fields[] = {
    F(struct rpc_debug_id, gnu_id, 1, FK_FIELD_STR, "gnu_build_id", "gnuBuildId")};
TYPE(rpc_debug_id_type, "UploadFinishedRequest", struct rpc_debug_id, debug_id_fields);
static const struct fk_field debug_object_fields[] = {
    FMO(struct rpc_debug_object, file, 1, &rpc_debug_file_type, "file", "file"),
    FE(struct rpc_debug_object, state, 2, debug_states, "state", "state"),
    F(struct rpc_debug_object, started_ns, 3, FK_FIELD_TIME, "started_at", "startedAt"),
    F(struct rpc_debug_object, finished_ns, 4, FK_FIELD_TIME, "finished_at", "finishedAt"),
    F(struct rpc_debug_object, size, 5, FK_FIELD_I64, "size_bytes", "sizeBytes")};
static TYPE(debug_object_type, "ObjectMetadata", struct rpc_debug_object, debug_object_fields);
static const struct fk_field debug_list_fields[] = {
    FMR(struct rpc_debug_list, objects, 1, &debug_object_type, "object", "object")};
TYPE(rpc_debug_list_type, "ListDebuginfoResponse", struct rpc_debug_list, debug_list_fields);
