// SPDX-License-Identifier: Apache-2.0
// Inside of the api room: the call that handlers see, the table they stand in, and what they share.
#ifndef FK_API_API_INT_H
#define FK_API_API_INT_H

#include "api/api.h"
#include "formats/formats.h"
#include "render/render.h"
#include "rpc/rpc.h"

struct fk_api_endpoint;

// One request on its way. Handlers write to `body` and set status and type; a negative result is
// turned into an error answer.
struct fk_api_call {
    struct fk_api *api;
    const struct fk_api_endpoint *endpoint;
    struct fk_arena *arena;
    const struct fk_http_pair *query; // decoded parameters, repeats in order
    size_t n_query;
    struct fk_str path_param; // {id} or {name}
    struct fk_str tenant;     // the only one, or the first
    const struct fk_str *tenants;
    size_t n_tenants; // more than one for reads only
    uint32_t scopes;  // what the caller may do, enum fk_scope
    struct fk_str request, content_type, accept, user_agent; // body and fields
    const struct fk_cancel *cancel;
    struct fk_http_req *http; // of the server; NULL when local
    struct fk_http_res *res;
    struct fk_rpc rpc; // how it came and wants its answer
    int64_t now_ns;
    // the answer
    int status;      // 200 at first
    int fail_status; // of FK_E_FORMAT and FK_E_INVALID errors, 0: the usual ones
    int fail_code;   // of a method's failure, enum fk_rpc_code; 0: the one of the status
    const char *type;
    struct fk_str file_name, receipt;
    struct fk_buf body;
    bool streamed;                 // the answer has begun: what fails now cuts it
    struct fk_query *query_run[2]; // freed when the call is over
    struct fk_err failure;         // of a call with FK_API_RPC; code 0: none
};

typedef int fk_api_handler(struct fk_api_call *c, struct fk_err *err);

// What the OpenAPI document says of a parameter; others are refused.
struct fk_api_param {
    const char *name, *type, *text; // type: string, integer, boolean, time, duration, id
};

enum fk_api_flags {
    FK_API_SOURCE = 1,      // takes the parameters of a source
    FK_API_TWO_SOURCES = 2, // left_... and right_...
    FK_API_RPC = 4,         // errors as Connect JSON
    FK_API_LOOP = 8,        // answers in microseconds: on the loop's thread
    FK_API_HIDDEN = 16,     // not in the OpenAPI document
    FK_API_INGEST = 32,     // body, worker class ingest
    FK_API_RAW = 64,        // the handler answers c->res itself; not for local calls
    FK_API_OTLP = 128,      // errors as google.rpc.Status
    // What a token must be for; each endpoint has exactly one of these five.
    FK_API_PUSH = 1 << 16,
    FK_API_READ = 1 << 17,
    FK_API_ADMIN = 1 << 18,
    FK_API_ANY = 1 << 19,  // any token
    FK_API_OPEN = 1 << 20, // none
    // Whose profiles: one tenant's, though it is no push.
    FK_API_ONE_TENANT = 1 << 21,
    FK_API_NO_TENANT = 1 << 22, // nobody's in particular
    FK_API_READS = 256,         // a method without side effects: Connect may call it by GET
};

struct fk_api_endpoint {
    const char *method, *pattern, *summary;
    fk_api_handler *handle;
    unsigned flags; // enum fk_api_flags
    const struct fk_api_param *params;
    size_t n_params;
    const char *answer;                     // name of the shape in the document, or a media type
    const struct fk_rpc_stream_ops *stream; // instead of handle: a method that streams
};
// The whole table (routes.c).
extern const struct fk_api_endpoint fk_api_table[];
extern const size_t fk_api_table_n;

struct fk_api_seen;     // recent pushes (seen.c)
struct fk_api_rejects;  // recent refusals (rejects.c)
struct fk_api_watchers; // of the health (health.c)
struct fk_access;       // who may do what (tokens.c)
struct fk_seen_key;

struct fk_api {
    struct fk_api_opts opts;
    const struct fk_clock *clock;
    struct fk_http_server *server;
    struct fk_pool *pool; // of queries; NULL: none
    struct fk_http_route *routes;
    struct route_arg {
        struct fk_api *api;
        const struct fk_api_endpoint *endpoint;
        struct fk_rpc_stream_route stream;
    } * args;
    size_t n_routes;
    struct fk_api_seen *seen;
    struct fk_api_rejects *rejects;
    struct fk_api_watchers *watchers;
    struct fk_access *access;
    int64_t started_ns;
    _Atomic bool ready;
    bool local; // only this machine is listened to; set before the server starts
    _Atomic uint64_t stored_profiles, stored_samples, refused_profiles, dropped_samples,
        repeated_profiles, query_errors, access_refused[2], cancelled,
        cancelled_late;                   // refused: 401, 403
    _Atomic int64_t cancelled_longest_ns; // from a call's cancellation to its end
};

// Whether a call with these fields may be done (guard.c); FK_E_INVALID names the field.
int fk_api_guard(const struct fk_api *api, bool writes, const struct fk_http_req *req,
                 struct fk_err *err);

// Store, tenants, memory and cancellation of a query of the call's. ids: when the first of them was
// not stored for good, the query is of what was not.
struct fk_query_opts fk_call_query_opts(struct fk_api_call *c, const struct fk_id *id, size_t n);
// The tenant that holds what another one does not store for good. .p NULL: no memory.
struct fk_str fk_adhoc_tenant(struct fk_arena *a, struct fk_str tenant);
// Whether the caller may do this as well; else an error that names the scope, and status 403.
int fk_call_needs(struct fk_api_call *c, enum fk_scope scope, const char *what, struct fk_err *err);
// What the admit hook found out becomes the call's (access.c).
int fk_call_take_caller(struct fk_api_call *c, struct fk_http_req *req, struct fk_err *err);
// Of a local call: these; "": anonymous.
int fk_call_take_tenants(struct fk_api_call *c, struct fk_str text, struct fk_err *err);

// ---- methods of services (method.c) ----
// Whether a path or pattern is "/package.Service/Method".
bool fk_api_is_method(struct fk_str path);
// The message out of its framing, into c->request.
int fk_call_open(struct fk_api_call *c, struct fk_err *err);
// The failure of a call with FK_API_RPC; false: there is none.
bool fk_call_failure(const struct fk_api_call *c, struct fk_rpc_failure *ret);
// The error, or the message in c->body, as the protocol frames it.
void fk_call_reply(struct fk_api_call *c, struct fk_http_res *res);

// ---- parameters (params.c); errors name the parameter ----
struct fk_str fk_param(const struct fk_api_call *c,
                       const char *name); // first value; .p NULL: absent
// All values of a repeated parameter.
int fk_params(struct fk_api_call *c, const char *name, const struct fk_str **ret, size_t *ret_n,
              struct fk_err *err);
int fk_param_u64(const struct fk_api_call *c, const char *name, uint64_t low, uint64_t high,
                 uint64_t *value, struct fk_err *err);
int fk_param_i64(const struct fk_api_call *c, const char *name, int64_t *value, bool *ret_given,
                 struct fk_err *err);
int fk_param_bool(const struct fk_api_call *c, const char *name, bool *value, struct fk_err *err);
int fk_param_time(const struct fk_api_call *c, const char *name, int64_t *value, bool *ret_given,
                  struct fk_err *err);
int fk_param_duration(const struct fk_api_call *c, const char *name, int64_t *value,
                      struct fk_err *err);
// The index of the value in words[] (NULL-terminated), `none` when absent.
int fk_param_word(const struct fk_api_call *c, const char *name, const char *const *words, int none,
                  int *ret, struct fk_err *err);

// Where a long answer goes once status, type and file name are set: sent piece by piece when there
// is a connection, so that it is never whole in memory; a short one stays in the body, so that a
// failure can still be answered.
struct fk_out fk_call_out(struct fk_api_call *c);

// ---- sources (source.c) ----
// Reads a source with this prefix ("", "left_", "right_") and makes its query, kept in
// c->query_run[slot].
int fk_call_source(struct fk_api_call *c, const char *prefix, int slot, struct fk_query **ret,
                   struct fk_err *err);
// The same source, of one of its profiles only. *id must live as long as the query.
int fk_call_source_of(struct fk_api_call *c, const struct fk_id *id, int slot,
                      struct fk_query **ret, struct fk_err *err);
void fk_call_facts(struct fk_api_call *c, const struct fk_query *q, struct fk_render_facts *ret);
// The merged tree of a source, with its type.
int fk_call_tree(struct fk_api_call *c, const char *prefix, struct fk_tree **ret,
                 struct fk_type_facts *type, struct fk_render_facts *facts, struct fk_err *err);

// ---- shapes (shapes.c) ----
void fk_json_time(struct fk_json *w, int64_t unix_ns);
void fk_json_id(struct fk_json *w, struct fk_id id);
void fk_json_labels(struct fk_json *w, const struct fk_labels *l,
                    bool with_private); // object; __x__ left out unless with_private
void fk_json_entry(struct fk_json *w, struct fk_arena *a, const struct fk_entry *e); // whole object
void fk_json_entry_fields(struct fk_json *w, struct fk_arena *a, const struct fk_entry *e);
// "type", "unit"; "completeness"; "counts" (sparse) and "max": fields that answers share.
void fk_json_type_facts(struct fk_json *w, const struct fk_type_facts *t);
void fk_json_completeness(struct fk_api_call *c, struct fk_json *w, const struct fk_query *q);
void fk_json_cells(struct fk_json *w, const struct fk_heatmap *map);
struct fk_str fk_entry_type_id(struct fk_arena *a, const struct fk_entry *e, uint32_t k);
// Begins and ends a JSON answer.
void fk_call_json(struct fk_api_call *c, struct fk_json *w);
int fk_call_json_end(struct fk_api_call *c, struct fk_json *w, struct fk_err *err);

// ---- storing (storing.c) ----
// What a
// push brings along, beside the bytes.
struct fk_store_ask {
    enum fk_format format; // UNKNOWN: detect
    struct fk_decode_opts decode;
    struct fk_accept_opts accept; // limits and now are filled in by fk_call_store
    struct fk_str (*name)(
        void *arg, const struct fk_profile *p); // of the profile; NULL: from its sample types
    void *name_arg;
    // One profile that is refused does not end the whole, which is counted instead; profiles are
    // appended without waiting for each, so the decoder must keep what it delivered until its end.
    bool one_by_one;
    const struct fk_seen_key *seen; // of the whole: its profiles are stored once; NULL: always
    uint64_t refused, repeated;
    struct fk_err first_refusal;
    struct fk_str tenant; // instead of the call's; .p NULL: that
    bool keep_original;
};
struct fk_stored {
    struct fk_id id;
    int64_t time_ns, duration_ns;
    struct fk_labels labels;
    struct fk_entry_type *type;
    struct fk_str *type_id;
    uint32_t n_types;
    uint64_t samples;
    bool arrival;
};
struct fk_receipt {
    struct fk_report report;
    struct fk_stored *v;
    size_t n, cap;
};
// Decodes, accepts and stores every profile of the bytes; waits until they are durable. Adds to the
// receipt.
int fk_call_store(struct fk_api_call *c, struct fk_str bytes, struct fk_store_ask *ask,
                  struct fk_receipt *to, struct fk_err *err);
void fk_json_receipt(struct fk_json *w, const struct fk_receipt *r);

// ---- OTLP (otlp_route.c) ----
// The service: a request as it was decoded from its framing (JSON or protobuf, found out), the
// response as JSON or protobuf appended to `to`. Profiles that are refused are told there; an error
// when none could be taken.
int fk_otlp_export(struct fk_api_call *c, struct fk_str message, bool json, struct fk_buf *to,
                   struct fk_err *err);
void fk_otlp_error(struct fk_api_call *c, int status, const struct fk_err *err);
void fk_otlp_http_error(struct fk_http_res *res, int status, const struct fk_err *err);

// Whether errors have OTLP's form: a sender that speaks OTLP over plain HTTP.
bool fk_api_answers_otlp(const struct fk_api_endpoint *e, const struct fk_rpc *rpc);

// ---- handlers ----
fk_api_handler fk_api_timeline, fk_api_subsecond, fk_api_rejects_list, fk_api_profiles,
    fk_api_profile, fk_api_flamegraph, fk_api_top, fk_api_diff, fk_api_diff_top, fk_api_sandwich,
    fk_api_series, fk_api_heatmap, fk_api_export, fk_api_types, fk_api_services, fk_api_labels,
    fk_api_label_values, fk_api_upload, fk_api_status, fk_api_metrics, fk_api_ready, fk_api_health,
    fk_api_openapi, fk_api_buildinfo, fk_api_session, fk_api_login, fk_api_logout;

fk_api_handler fk_api_ingest, fk_api_otlp, fk_rpc_push, fk_rpc_select_stacktraces,
    fk_rpc_select_span, fk_rpc_diff, fk_rpc_select_profile, fk_rpc_select_series,
    fk_rpc_select_heatmap, fk_rpc_label_names, fk_rpc_label_values, fk_rpc_profile_types,
    fk_rpc_series, fk_rpc_profile_stats, fk_rpc_analyze_query;

fk_api_handler fk_api_legacy_render, fk_api_legacy_diff, fk_api_legacy_label_values, fk_api_config,
    fk_api_config_diff, fk_api_config_default, fk_rpc_version, fk_rpc_feature_flags,
    fk_rpc_build_info, fk_rpc_config, fk_rpc_config_diff, fk_rpc_config_default, fk_rpc_vcs,
    fk_rpc_settings_get, fk_rpc_settings_set, fk_rpc_settings_delete, fk_rpc_adhoc_upload,
    fk_rpc_adhoc_get, fk_rpc_adhoc_list, fk_rpc_adhoc_diff, fk_rpc_debug_ask, fk_api_debug_upload,
    fk_rpc_debug_finished, fk_rpc_debug_list, fk_rpc_debug_delete;

extern const struct fk_http_asset fk_ui_assets[]; // made from ui/dist, sorted by path
extern const size_t fk_ui_assets_n;
fk_api_handler fk_api_ui;

void fk_call_init(struct fk_api_call *c, struct fk_api *api, const struct fk_api_endpoint *e,
                  struct fk_arena *a);
void fk_call_run(struct fk_api_call *c);
// FK_E_INVALID for a parameter that the endpoint does not have (openapi.c).
int fk_api_check_params(const struct fk_api_call *c,
                        struct fk_err *err); // handler, then the error answer if it failed
void fk_call_free(struct fk_api_call *c);

#endif
