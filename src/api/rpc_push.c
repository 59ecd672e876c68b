// SPDX-License-Identifier: Apache-2.0
// push.v1.PusherService/Push. Each raw profile is an entry; one that is wrong does not keep the
// others from being stored, but makes the call fail with its place in the request. What was stored
// stands in the header flamekeep-receipt.
#include "api/rpc_int.h"
#include "api/seen_int.h"

#include <stdio.h>

struct push {
    struct fk_api_call *c;
    struct fk_receipt receipt;
    struct fk_err first; // of the failures
    size_t failed, repeated;
};

static struct fk_seen_key key_of(const struct fk_api_call *c, const struct fk_labels *labels,
                                 struct fk_str bytes)
{
    uint64_t h = fk_labels_hash(labels) ^ fk_hash_str(c->tenant) * 31;
    return (struct fk_seen_key){fk_hash_u64(h), fk_hash_str(bytes) ^ fk_hash_u64(bytes.n)};
}

static int store_sample(struct push *p, const struct fk_label *label, size_t n,
                        const struct rpc_sample *s, struct fk_err *err)
{
    struct fk_api_call *c = p->c;
    struct fk_label notes[2];
    struct fk_labels sorted;
    struct fk_store_ask ask = {.format = FK_FORMAT_PPROF,
                               .decode = fk_decode_opts_push(&c->api->opts.limits)};
    ask.accept =
        (struct fk_accept_opts){.push = true, .label = label, .n_labels = n, .annotation = notes};
    if (s->id.n)
        notes[ask.accept.n_annotations++] =
            (struct fk_label){FK_S("client_id"), fk_str_head(s->id, 200)};
    if (c->user_agent.n)
        notes[ask.accept.n_annotations++] =
            (struct fk_label){FK_S("user_agent"), fk_str_head(c->user_agent, 200)};
    int r = fk_labels_make(c->arena, label, n, &sorted, err);
    if (r)
        return r;
    struct fk_seen_key key = key_of(c, &sorted, s->raw_profile);
    ask.seen = &key;
    r = fk_call_store(c, s->raw_profile, &ask, &p->receipt, err);
    p->repeated += ask.repeated;
    return r;
}

static void note_failure(struct push *p, size_t series, size_t sample, const struct rpc_sample *s,
                         struct fk_err *err)
{
    char where[96];
    snprintf(where, sizeof(where), "series %zu, profile %zu%s%.*s", series, sample,
             s->id.n ? ", ID " : "", FK_STR_ARG(fk_str_head(s->id, 40)));
    fk_fail_in(err, "%s", where);
    if (p->failed++ == 0)
        p->first = *err;
}

static int push_series(struct push *p, size_t index, const struct rpc_raw_series *series,
                       struct fk_err *err)
{
    const struct rpc_label *in = series->labels.v;
    const struct rpc_sample *sample = series->samples.v;
    struct fk_label *label = fk_arena_array(p->c->arena, series->labels.n + 1, sizeof(*label));
    if (!label)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < series->labels.n; i++)
        label[i] = (struct fk_label){in[i].name, in[i].value};
    for (size_t i = 0; i < series->samples.n; i++) {
        struct fk_err why = {0};
        int r = store_sample(p, label, series->labels.n, &sample[i], &why);
        if (r == -FK_E_FULL || r == -FK_E_STOPPED || r == -FK_E_IO || r == -FK_E_NOMEM ||
            r == -FK_E_BUSY) {
            *err = why; // nothing to do with the profile: the client sends all of it again
            return r;
        }
        if (r)
            note_failure(p, index, i, &sample[i], &why);
    }
    return 0;
}

// The receipt as a header: short, and of one line.
static void put_receipt(struct push *p)
{
    struct fk_buf b;
    fk_buf_init(&b, 4000);
    fk_buf_printf(&b, "{\"stored\":%zu,\"repeated\":%zu,\"dropped\":%llu,\"ids\":[",
                  p->receipt.n - p->repeated, p->repeated,
                  (unsigned long long)fk_report_dropped(&p->receipt.report));
    for (size_t i = 0; i < p->receipt.n && i < 64; i++) {
        char id[FK_ID_CHARS + 1];
        fk_id_format(p->receipt.v[i].id, id);
        fk_buf_printf(&b, "%s\"%s\"", i ? "," : "", id);
    }
    fk_buf_cstr(&b, "]}");
    if (!b.failed)
        p->c->receipt = fk_arena_str(p->c->arena, fk_buf_view(&b));
    fk_buf_free(&b);
}

int fk_rpc_push(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_push in;
    struct rpc_empty out = {0};
    struct push p = {.c = c};
    size_t profiles = 0;
    int r = fk_rpc_read(c, &rpc_push_type, &in, err);
    const struct rpc_raw_series *series = r ? NULL : in.series.v;
    for (size_t i = 0; r == 0 && i < in.series.n; i++) {
        profiles += series[i].samples.n;
        r = push_series(&p, i, &series[i], err);
    }
    if (r)
        return r;
    if (profiles == 0)
        return fk_fail_param(err, "series",
                             "no profiles received: the request has no series with samples");
    put_receipt(&p);
    if (p.failed) {
        *err = p.first;
        return -err->code;
    }
    return fk_rpc_answer(c, &rpc_empty_type, &out, err);
}
