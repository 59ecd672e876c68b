// SPDX-License-Identifier: Apache-2.0
// RPC messages: the first byte chooses message type and codec. What is read can be written in both
// codecs and reads back; the second writing equals the first.
#include "api/rpc_small_int.h"
#include "fuzz.h"

#define LIMIT ((size_t)64 << 20)

static const struct fk_msg_type *const types[] = {
    &rpc_push_type,           &rpc_empty_type,          &rpc_select_type,
    &rpc_select_profile_type, &rpc_stacktraces_type,    &rpc_select_series_type,
    &rpc_series_answer_type,  &rpc_label_values_type,   &rpc_label_names_type,
    &rpc_series_type,         &rpc_strings_type,        &rpc_label_sets_type,
    &rpc_profile_types_type,  &rpc_range_type,          &rpc_pprof_type,
    &rpc_stats_type,          &rpc_select_span_type,    &rpc_diff_type,
    &rpc_diff_answer_type,    &rpc_select_heatmap_type, &rpc_heatmap_answer_type,
    &rpc_analyze_type,        &rpc_analyze_answer_type, &rpc_version_type,
    &rpc_flags_type,          &rpc_build_info_type,     &rpc_http_body_type,
    &rpc_settings_type,       &rpc_setting_set_type,    &rpc_name_type,
    &rpc_adhoc_upload_type,   &rpc_adhoc_get_type,      &rpc_adhoc_answer_type,
    &rpc_adhoc_list_type,     &rpc_adhoc_diff_type,     &rpc_adhoc_diff_answer_type,
    &rpc_debug_file_type,     &rpc_debug_ask_type,      &rpc_debug_verdict_type,
    &rpc_debug_id_type,       &rpc_debug_list_type};

union any { // room for each of them
    struct rpc_push a;
    struct rpc_select b;
    struct rpc_stacktraces c;
    struct rpc_select_series d;
    struct rpc_names e;
    char room[1024];
};

static int read_as(bool json, const struct fk_msg_type *t, struct fk_str s, struct fk_arena *a,
                   union any *to, struct fk_err *err)
{
    return json ? fk_msg_decode_json(t, s, a, to, err) : fk_msg_decode(t, s, a, to, err);
}

static int write_as(bool json, const struct fk_msg_type *t, const union any *m, struct fk_buf *b)
{
    struct fk_json w;
    if (!json) {
        fk_msg_encode(t, m, b);
        return fk_buf_check(b, "message", NULL);
    }
    fk_json_init(&w, fk_out_buf(b), false);
    fk_msg_encode_json(t, m, &w);
    return fk_json_finish(&w, NULL);
}

static void round_trip(bool json, const struct fk_msg_type *t, const union any *m)
{
    FK_AUTO_ARENA a;
    FK_AUTO_BUF first, second;
    union any again;
    struct fk_err err = {0};
    fk_arena_init(&a, LIMIT);
    fk_buf_init(&first, 0);
    fk_buf_init(&second, 0);
    FK_FUZZ_CHECK(write_as(json, t, m, &first) == 0);
    int r = read_as(json, t, fk_buf_view(&first), &a, &again, &err);
    if (r == -FK_E_NOMEM)
        return;
    if (r)
        fprintf(stderr, "%s: %s\n", err.msg, first.p ? first.p : "");
    FK_FUZZ_CHECK(r == 0);
    FK_FUZZ_CHECK(write_as(json, t, &again, &second) == 0);
    FK_FUZZ_CHECK(fk_str_eq(fk_buf_view(&first), fk_buf_view(&second)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FK_AUTO_ARENA a;
    union any m;
    struct fk_err err = {0};
    fk_arena_init(&a, LIMIT);
    if (size < 1)
        return 0;
    const struct fk_msg_type *t = types[(data[0] & 127) % FK_COUNTOF(types)];
    FK_FUZZ_CHECK(t->size <= sizeof(m));
    int r = read_as(data[0] & 128, t, fk_str_make(data + 1, size - 1), &a, &m, &err);
    FK_FUZZ_CHECK(r == -err.code);
    if (r)
        return 0;
    round_trip(false, t, &m);
    round_trip(true, t, &m);
    return 0;
}
