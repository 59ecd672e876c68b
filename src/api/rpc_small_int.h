// SPDX-License-Identifier: Apache-2.0
// Messages of the small services: version.v1, capabilities.v1, status.v1, settings.v1,
// adhocprofiles.v1, debuginfo.v1alpha1.
#ifndef FK_API_RPC_SMALL_INT_H
#define FK_API_RPC_SMALL_INT_H

#include "api/rpc_int.h"

struct rpc_version {
    int64_t querier;
};
struct rpc_flag {
    struct fk_str name, description, url;
    bool enabled;
};
struct rpc_flags {
    struct fk_list flags;
};
struct rpc_build {
    struct fk_str version, revision, branch, user, date, go;
};
struct rpc_build_info {
    struct fk_str status;
    struct rpc_build *data;
};
struct rpc_http_body {
    struct fk_str content_type, data;
};

struct rpc_setting {
    struct fk_str name, value;
    int64_t modified_ms;
};
struct rpc_settings {
    struct fk_list settings;
};
struct rpc_setting_set { // request and answer of Set
    struct rpc_setting *setting;
};
struct rpc_name {
    struct fk_str name;
};

struct rpc_adhoc {
    struct fk_str id, name, profile, profile_type; // what a request has of these
    struct fk_str left, right;                     // of Diff
    int64_t max_nodes;
};
struct rpc_adhoc_answer {
    struct fk_str id, name, profile_type, flamebearer;
    int64_t uploaded_ms;
    struct fk_list types; // of struct fk_str
};
struct rpc_adhoc_entry {
    struct fk_str id, name;
    int64_t uploaded_ms;
};
struct rpc_adhoc_list {
    struct fk_list profiles;
};

struct rpc_debug_file {
    struct fk_str gnu_id, go_id, otel_id, name;
    int64_t type;
};
struct rpc_debug_ask {
    struct rpc_debug_file *file;
};
struct rpc_debug_verdict {
    bool upload;
    struct fk_str reason;
};
struct rpc_debug_id {
    struct fk_str gnu_id;
};
struct rpc_debug_object {
    struct rpc_debug_file *file;
    int64_t state, size;
    int64_t started_ns, finished_ns; // FK_FIELD_TIME
};
struct rpc_debug_list {
    struct fk_list objects;
};

extern const struct fk_msg_type rpc_version_type, rpc_flags_type, rpc_build_info_type,
    rpc_http_body_type, rpc_settings_type, rpc_setting_set_type, rpc_name_type,
    rpc_adhoc_upload_type, rpc_adhoc_get_type, rpc_adhoc_answer_type, rpc_adhoc_list_type,
    rpc_adhoc_diff_type, rpc_adhoc_diff_answer_type, rpc_debug_file_type, rpc_debug_ask_type,
    rpc_debug_verdict_type, rpc_debug_id_type, rpc_debug_list_type;

#endif
