// SPDX-License-Identifier: Apache-2.0
// The table of endpoints: one place from which the server's routes, the OpenAPI document and its
// test are made.
#include "api/health_int.h"

#define PARAMS(a) .params = (a), .n_params = FK_COUNTOF(a)
// A method of a service that only reads.
#define QUESTION (FK_API_RPC | FK_API_READS | FK_API_READ)
#define STREAM(ops, scope)                                                                         \
    NULL, FK_API_RPC | FK_API_RAW | FK_API_LOOP | (scope), .stream = (ops), .answer = "rpc"
#define VCS    "Nothing: no source code is read", fk_rpc_vcs, FK_API_RPC | FK_API_READ, .answer = "rpc"
#define LEGACY FK_API_RPC | FK_API_READ, .answer = "object"
// Files that are kept beside the profiles.
#define SENT   FK_API_INGEST | FK_API_RPC | FK_API_PUSH | FK_API_ONE_TENANT
#define CONFIG FK_API_ADMIN | FK_API_NO_TENANT
#define OTLP   fk_api_otlp, FK_API_INGEST | FK_API_RPC | FK_API_OTLP | FK_API_PUSH, .answer = "rpc"

static const struct fk_api_param list_params[] = {
    {"limit", "integer", "entries a page, 1 to 1000; 100 when absent"},
    {"sort", "string",
     "time, value, duration, samples or size; with a minus descending; -time when absent"},
    {"cursor", "string", "next_cursor or prev_cursor of a page of the same list"},
    {"min_value", "integer", "least total of the profile type"},
    {"max_value", "integer", "largest total of the profile type"},
    {"min_duration", "duration", "shortest profile"},
    {"max_duration", "duration", "longest profile"},
    {"has_time", "boolean", "whether samples carry their own time"},
    {"at", "time", "instead of a page: the nearest entry of each series to this moment"},
};
static const struct fk_api_param tree_params[] = {
    {"max_nodes", "integer", "nodes of the answer, the heaviest; 16384 when absent, 0 for all"},
    {"invert", "boolean", "callers below callees: leaf functions at the root"},
    {"order", "string", "siblings by name, or -total: the larger first"},
};
static const struct fk_api_param sandwich_params[] = {
    {"function", "string", "displayed name of the function in the middle"},
    {"max_nodes", "integer", "nodes of each tree; 16384 when absent, 0 for all"},
    {"order", "string", "siblings by name, or -total"},
};
static const struct fk_api_param top_params[] = {
    {"limit", "integer", "rows; 100 when absent, 0 for all"},
    {"sort", "string", "self, total or name; with a minus descending; -self when absent"},
};
static const struct fk_api_param diff_params[] = {
    {"mode", "string", "share of each side's total (when absent), or absolute"},
    {"max_nodes", "integer", "nodes of the answer; 16384 when absent, 0 for all"},
    {"order", "string", "siblings by name, or -total"},
};
static const struct fk_api_param diff_top_params[] = {
    {"mode", "string", "share of each side's total (when absent), or absolute"},
    {"limit", "integer", "rows; 100 when absent, 0 for all"},
    {"sort", "string", "delta, self, total or name; with a minus descending; -delta when absent"},
};
static const struct fk_api_param series_params[] = {
    {"step", "duration", "width of a step; chosen for about 200 points when absent"},
    {"group_by", "string", "label; repeat for several; one group when absent"},
    {"aggregation", "string", "auto, sum, rate or avg; auto: mean of gauges, sum of the rest"},
    {"limit", "integer", "groups, the largest; all when absent"},
};
static const struct fk_api_param heatmap_params[] = {
    {"x_buckets", "integer", "columns; 120 when absent"},
    {"y_buckets", "integer", "rows; 40 when absent"},
    {"step", "duration", "width of a column instead of x_buckets"},
};
static const struct fk_api_param timeline_params[] = {
    {"begin", "time", "start of the window; the first sample when absent"},
    {"end", "time", "end of the window; the last sample when absent"},
    {"width", "integer", "columns, 1 to 20000; 1000 when absent"},
    {"lanes", "integer", "threads with most samples; 50 when absent"},
};
static const struct fk_api_param window_params[] = {
    {"begin", "time", "start of the window; the first sample when absent"},
    {"end", "time", "end of the window; the last sample when absent"},
};
static const struct fk_api_param export_params[] = {
    {"format", "string",
     "original (the bytes as uploaded), pprof, pgo (for go build -pgo), otlp (protobuf, revision "
     "1.10), folded, speedscope, firefox, flamebearer, svg, html, dot, top.csv, top.json"},
    {"max_nodes", "integer",
     "svg, html: nodes of the tree, 16384 when absent; dot: functions, 80 when absent; 0 for all"},
    {"each", "boolean",
     "true: every profile of the source as a file of its own, all in one zip (what cannot be such "
     "a "
     "file stands in its not-exported.txt)"},
};
static const struct fk_api_param names_params[] = {
    {"prefix", "string", "only texts that begin so"},
    {"limit", "integer", "at most so many; 1000 when absent"},
};
static const struct fk_api_param reject_params[] = {
    {"limit", "integer", "the latest so many, 1 to 256; 100 when absent"},
};
static const struct fk_api_param upload_params[] = {
    {"format", "string",
     "of the file, like pprof, folded, jfr or otlp; found out from the content when absent"},
    {"labels", "string", "labels like {service_name=\"web\",pod=\"web-1\"}"},
    {"time", "time", "overrides the time in the file"},
    {"duration", "duration", "overrides the duration in the file"},
    {"sample_rate", "integer", "samples a second of a folded file: adds a column of nanoseconds"},
    {"store", "boolean",
     "false: the profiles can be looked at under their ids for an hour and are in no list"},
};

const struct fk_api_endpoint fk_api_table[] = {
    {"GET", "/api/v1/profiles", "A page of entries", fk_api_profiles, FK_API_SOURCE | FK_API_READ,
     PARAMS(list_params), .answer = "list"},
    {"GET", "/api/v1/profiles/{id}", "One entry with its facts and neighbours", fk_api_profile,
     FK_API_READ, .answer = "profile"},
    {"GET", "/api/v1/flamegraph", "The merged profiles as a tree of functions", fk_api_flamegraph,
     FK_API_SOURCE | FK_API_READ, PARAMS(tree_params), .answer = "flamegraph"},
    {"GET", "/api/v1/sandwich", "Callers and callees of one function", fk_api_sandwich,
     FK_API_SOURCE | FK_API_READ, PARAMS(sandwich_params), .answer = "sandwich"},
    {"GET", "/api/v1/top", "Functions by weight", fk_api_top, FK_API_SOURCE | FK_API_READ,
     PARAMS(top_params), .answer = "top"},
    {"GET", "/api/v1/diff", "Two sources in one tree", fk_api_diff,
     FK_API_TWO_SOURCES | FK_API_READ, PARAMS(diff_params), .answer = "diff"},
    {"GET", "/api/v1/diff/top", "Functions by difference", fk_api_diff_top,
     FK_API_TWO_SOURCES | FK_API_READ, PARAMS(diff_top_params), .answer = "difftop"},
    {"GET", "/api/v1/series", "Values over time", fk_api_series, FK_API_SOURCE | FK_API_READ,
     PARAMS(series_params), .answer = "series"},
    {"GET", "/api/v1/heatmap", "Entries over time and value", fk_api_heatmap,
     FK_API_SOURCE | FK_API_READ, PARAMS(heatmap_params), .answer = "heatmap"},
    {"GET", "/api/v1/timeline", "Spans per thread, where samples have times", fk_api_timeline,
     FK_API_SOURCE | FK_API_READ, PARAMS(timeline_params), .answer = "timeline"},
    {"GET", "/api/v1/subsecond", "Samples over seconds and the offset within them",
     fk_api_subsecond, FK_API_SOURCE | FK_API_READ, PARAMS(window_params), .answer = "subsecond"},
    {"GET", "/api/v1/export", "A source as a file", fk_api_export, FK_API_SOURCE | FK_API_READ,
     PARAMS(export_params), .answer = "file"},
    {"GET", "/api/v1/types", "Profile types", fk_api_types, FK_API_SOURCE | FK_API_READ,
     .answer = "types"},
    {"GET", "/api/v1/services", "Services", fk_api_services, FK_API_SOURCE | FK_API_READ,
     .answer = "services"},
    {"GET", "/api/v1/labels", "Names of labels and of sample attributes", fk_api_labels,
     FK_API_SOURCE | FK_API_READ, PARAMS(names_params), .answer = "labels"},
    {"GET", "/api/v1/labels/{name}/values", "Values of one label or attribute", fk_api_label_values,
     FK_API_SOURCE | FK_API_READ, PARAMS(names_params), .answer = "values"},
    {"POST", "/api/v1/upload", "Stores a file of profiles", fk_api_upload,
     FK_API_INGEST | FK_API_PUSH, PARAMS(upload_params), .answer = "receipt"},
    {"GET", "/api/v1/status", "Health and sizes", fk_api_status, FK_API_READ | FK_API_NO_TENANT,
     .answer = "status"},
    {"GET", "/api/v1/rejects", "What was sent lately and not stored, and why", fk_api_rejects_list,
     FK_API_READ, PARAMS(reject_params), .answer = "rejects"},
    {"GET", "/api/v1/status/buildinfo", "Which server this is", fk_api_buildinfo,
     FK_API_LOOP | FK_API_ANY, .answer = "object"},
    {"GET", "/api/v1/session", "Who asks: scopes and tenants", fk_api_session, FK_API_ANY,
     .answer = "session"},
    {"POST", "/api/v1/login", "Takes a token (the body) and keeps it in a cookie", fk_api_login,
     FK_API_OPEN, .answer = "session"},
    {"POST", "/api/v1/logout", "Forgets the cookie", fk_api_logout, FK_API_OPEN,
     .answer = "object"},
    {"GET", "/api/v1/status/config", "Its flags, a line each", fk_api_config, CONFIG | FK_API_LOOP,
     .answer = "text"},
    {"GET", "/api/v1/status/config/diff", "Those that were given", fk_api_config_diff,
     CONFIG | FK_API_LOOP, .answer = "text"},
    {"GET", "/api/v1/status/config/default", "What they are when none is given",
     fk_api_config_default, CONFIG | FK_API_LOOP, .answer = "text"},
    {"GET", "/config", "Its flags", fk_api_config, CONFIG | FK_API_HIDDEN | FK_API_LOOP,
     .answer = "text"},
    {"GET", "/api/openapi.json", "This document", fk_api_openapi, FK_API_READ | FK_API_NO_TENANT,
     .answer = "object"},
    {"POST", "/ingest", "Stores a profile the way older Pyroscope clients send it", fk_api_ingest,
     FK_API_INGEST | FK_API_RPC | FK_API_PUSH, .answer = "receipt"},
    {"POST", "/v1development/profiles", "Stores OpenTelemetry profiles", OTLP},
    {"POST", "/otlp/v1development/profiles", "Stores OpenTelemetry profiles", OTLP},
    {"POST", "/v1experimental/profiles", "Stores OpenTelemetry profiles", OTLP},
    {"POST", "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
     "Stores OpenTelemetry profiles", OTLP},
    {"POST", "/push.v1.PusherService/Push", "Stores profiles", fk_rpc_push,
     FK_API_INGEST | FK_API_RPC | FK_API_PUSH, .answer = "rpc"},
    {"POST", "/querier.v1.QuerierService/SelectMergeStacktraces", "Flame graph",
     fk_rpc_select_stacktraces, QUESTION, .answer = "rpc"},
    {"POST", "/querier.v1.QuerierService/SelectMergeProfile", "Merged pprof", fk_rpc_select_profile,
     QUESTION, .answer = "rpc"},
    {"POST", "/querier.v1.QuerierService/SelectMergeSpanProfile", "Flame graph of spans",
     fk_rpc_select_span, QUESTION, .answer = "rpc"},
    {"POST", "/querier.v1.QuerierService/Diff", "Two flame graphs in one", fk_rpc_diff, QUESTION,
     .answer = "rpc"},
    {"POST", "/querier.v1.QuerierService/SelectHeatmap", "Profiles or spans over time and value",
     fk_rpc_select_heatmap, QUESTION, .answer = "rpc"},
    {"POST", "/querier.v1.QuerierService/SelectSeries", "Values over time", fk_rpc_select_series,
     QUESTION, .answer = "rpc"},
    {"POST", "/querier.v1.QuerierService/LabelNames", "Label names", fk_rpc_label_names, QUESTION,
     .answer = "rpc"},
    {"POST", "/querier.v1.QuerierService/LabelValues", "Label values", fk_rpc_label_values,
     QUESTION, .answer = "rpc"},
    {"POST", "/querier.v1.QuerierService/ProfileTypes", "Profile types", fk_rpc_profile_types,
     QUESTION, .answer = "rpc"},
    {"POST", "/querier.v1.QuerierService/Series", "Label sets", fk_rpc_series, QUESTION,
     .answer = "rpc"},
    {"POST", "/querier.v1.QuerierService/GetProfileStats", "Whether there are profiles, and when",
     fk_rpc_profile_stats, QUESTION | FK_API_ONE_TENANT, .answer = "rpc"},
    {"POST", "/querier.v1.QuerierService/AnalyzeQuery", "What a query would read",
     fk_rpc_analyze_query, QUESTION, .answer = "rpc"},
    {"POST", "/grpc.health.v1.Health/Check", "Whether the server can be used", fk_rpc_health_check,
     FK_API_RPC | FK_API_READS | FK_API_OPEN | FK_API_LOOP, .answer = "rpc"},
    {"POST", "/grpc.health.v1.Health/Watch", "The same, and when it changes",
     STREAM(&fk_api_health_watch, FK_API_OPEN)},
    {"POST", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
     "Descriptions of the services", STREAM(&fk_rpc_reflection, FK_API_ANY)},
    {"POST", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
     "Descriptions of the services", STREAM(&fk_rpc_reflection, FK_API_ANY)},
    {"POST", "/settings.v1.SettingsService/Get", "Settings of the pages", fk_rpc_settings_get,
     QUESTION | FK_API_ONE_TENANT, .answer = "rpc"},
    {"POST", "/settings.v1.SettingsService/Set", "Keeps a setting", fk_rpc_settings_set,
     FK_API_RPC | FK_API_ADMIN | FK_API_ONE_TENANT, .answer = "rpc"},
    {"POST", "/settings.v1.SettingsService/Delete", "Removes a setting", fk_rpc_settings_delete,
     FK_API_RPC | FK_API_ADMIN | FK_API_ONE_TENANT, .answer = "rpc"},
    {"POST", "/version.v1.Version/Version", "Versions of the services", fk_rpc_version,
     FK_API_RPC | FK_API_READS | FK_API_ANY, .answer = "rpc"},
    {"POST", "/capabilities.v1.FeatureFlagsService/GetFeatureFlags", "What the server can",
     fk_rpc_feature_flags, QUESTION, .answer = "rpc"},
    {"POST", "/status.v1.StatusService/GetBuildInfo", "Which server this is", fk_rpc_build_info,
     FK_API_RPC | FK_API_READS | FK_API_ANY, .answer = "rpc"},
    {"POST", "/status.v1.StatusService/GetConfig", "Its flags", fk_rpc_config,
     CONFIG | FK_API_RPC | FK_API_READS, .answer = "rpc"},
    {"POST", "/status.v1.StatusService/GetDiffConfig", "The flags that were given",
     fk_rpc_config_diff, CONFIG | FK_API_RPC | FK_API_READS, .answer = "rpc"},
    {"POST", "/status.v1.StatusService/GetDefaultConfig", "Flags when none are given",
     fk_rpc_config_default, CONFIG | FK_API_RPC | FK_API_READS, .answer = "rpc"},
    {"POST", "/adhocprofiles.v1.AdHocProfileService/Upload", "Keeps a file to look at",
     fk_rpc_adhoc_upload, SENT, .answer = "rpc"},
    {"POST", "/adhocprofiles.v1.AdHocProfileService/Get", "Such a file as a flame graph",
     fk_rpc_adhoc_get, QUESTION | FK_API_ONE_TENANT, .answer = "rpc"},
    {"POST", "/adhocprofiles.v1.AdHocProfileService/List", "Such files, newest first",
     fk_rpc_adhoc_list, QUESTION | FK_API_ONE_TENANT, .answer = "rpc"},
    {"POST", "/adhocprofiles.v1.AdHocProfileService/Diff", "Two of them in one flame graph",
     fk_rpc_adhoc_diff, QUESTION | FK_API_ONE_TENANT, .answer = "rpc"},
    {"POST", "/debuginfo.v1alpha1.DebuginfoService/ShouldInitiateUpload",
     "Whether a symbol file is wanted", fk_rpc_debug_ask, SENT, .answer = "rpc"},
    {"POST", "/debuginfo.v1alpha1.DebuginfoService/Upload/{id}", "Keeps its bytes",
     fk_api_debug_upload, SENT, .answer = "text"},
    {"POST", "/debuginfo.v1alpha1.DebuginfoService/UploadFinished", "It is whole",
     fk_rpc_debug_finished, SENT, .answer = "rpc"},
    {"POST", "/debuginfo.v1alpha1.DebuginfoService/ListDebuginfo", "Symbol files",
     fk_rpc_debug_list, QUESTION | FK_API_ONE_TENANT, .answer = "rpc"},
    {"POST", "/debuginfo.v1alpha1.DebuginfoService/DeleteDebuginfo", "Removes a symbol file",
     fk_rpc_debug_delete, FK_API_RPC | FK_API_ADMIN | FK_API_ONE_TENANT, .answer = "rpc"},
    {"POST", "/vcs.v1.VCSService/GithubApp", VCS},
    {"POST", "/vcs.v1.VCSService/GithubLogin", VCS},
    {"POST", "/vcs.v1.VCSService/GithubRefresh", VCS},
    {"POST", "/vcs.v1.VCSService/GetFile", VCS},
    {"POST", "/vcs.v1.VCSService/GetCommit", VCS},
    {"POST", "/vcs.v1.VCSService/GetCommits", VCS},
    {"GET", "/pyroscope/render", "Flame graph and timeline", fk_api_legacy_render, LEGACY},
    {"GET", "/pyroscope/render-diff", "Two flame graphs in one", fk_api_legacy_diff, LEGACY},
    {"GET", "/pyroscope/label-values", "Values of a label", fk_api_legacy_label_values, LEGACY},
    {"GET", "/metrics", "Prometheus metrics", fk_api_metrics,
     FK_API_HIDDEN | FK_API_READ | FK_API_NO_TENANT, .answer = "text"},
    {"GET", "/ready", "Readiness", fk_api_ready, FK_API_HIDDEN | FK_API_LOOP | FK_API_OPEN,
     .answer = "text"},
    {"GET", "/healthz", "Liveness", fk_api_health, FK_API_HIDDEN | FK_API_LOOP | FK_API_OPEN,
     .answer = "text"},
    {"GET", "/", "The interface", fk_api_ui, FK_API_HIDDEN | FK_API_RAW | FK_API_LOOP | FK_API_OPEN,
     .answer = "html"},
    {"GET", "/{rest...}", "The interface", fk_api_ui,
     FK_API_HIDDEN | FK_API_RAW | FK_API_LOOP | FK_API_OPEN, .answer = "html"},
};
const size_t fk_api_table_n = FK_COUNTOF(fk_api_table);
