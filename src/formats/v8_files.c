// SPDX-License-Identifier: Apache-2.0
// V8's files: .cpuprofile (DevTools and `node --cpu-prof`; also the older form with a tree below
// "head"), and .heapprofile (`node --heap-prof`: sampled live bytes by the stack that allocated).
#include "formats/v8_int.h"

enum { NODES, HEAD, SAMPLES, DELTAS, STAMPS, START, END, LOCATIONS, MEMBERS };
static const char *const members[MEMBERS] = {"nodes",      "head",      "samples", "timeDeltas",
                                             "timestamps", "startTime", "endTime", "locations"};

// The older form: times of the samples instead of differences; start and end in seconds.
static int read_old(struct fk_v8 *v, const struct fk_jval *m, struct fk_err *err)
{
    int rc = fk_v8_tree(v, &m[HEAD], err);
    if (!rc)
        rc = fk_v8_samples(v, &m[SAMPLES], &m[STAMPS], err);
    int64_t before = 0;
    for (size_t i = 0; !rc && i < v->sample.n; i++) {
        int64_t at = v->sample.v[i].delta_us;
        v->sample.v[i].delta_us = fk_wrap_sub(at, before);
        before = at;
    }
    return rc;
}

static int read_new(struct fk_v8 *v, const struct fk_jval *m, struct fk_err *err)
{
    v->start_us = fk_jval_i64(&m[START], FK_NO_TIME);
    v->end_us = fk_jval_i64(&m[END], FK_NO_TIME);
    int rc = fk_v8_nodes(v, &m[NODES], err);
    return rc ? rc : fk_v8_samples(v, &m[SAMPLES], &m[DELTAS], err);
}

static int read_cpuprofile(struct fk_v8 *v, struct fk_str bytes, struct fk_err *err)
{
    struct fk_jval document, m[MEMBERS];
    struct fk_profile p;
    int rc = fk_jval_document(bytes, &document, err);
    if (!rc)
        rc = fk_jval_pick(&document, members, MEMBERS, m, err);
    if (rc)
        return rc;
    if (fk_jval_is(&m[LOCATIONS], FK_JSON_ARRAY))
        return fk_fail(err, FK_E_UNSUPPORTED,
                       "this is the model of a profile viewer, made from a .cpuprofile; send the "
                       ".cpuprofile itself");
    bool old = fk_jval_is(&m[HEAD], FK_JSON_OBJECT);
    if (!old && !fk_jval_is(&m[NODES], FK_JSON_ARRAY))
        return fk_fail(err, FK_E_FORMAT, ".cpuprofile: it has neither 'nodes' nor 'head'");
    rc = old ? read_old(v, m, err) : read_new(v, m, err);
    if (!rc)
        rc = fk_v8_cpu_profile(v, 0, &p, err);
    if (rc)
        return rc;
    double seconds = fk_jval_f64(&m[END], 0) - fk_jval_f64(&m[START], 0);
    if (old && !p.duration_ns && seconds > 0 && seconds < 1e8)
        p.duration_ns = (int64_t)(seconds * 1e9);
    else if (!old && v->start_us != FK_NO_TIME && v->end_us > v->start_us)
        p.duration_ns = (int64_t)((uint64_t)fk_wrap_sub(v->end_us, v->start_us) * 1000);
    return fk_decoding_deliver(v->s.d, &p, err);
}

int fk_cpuprofile_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct fk_v8 v;
    int rc = fk_v8_begin(&v, d, err);
    if (!rc)
        rc = read_cpuprofile(&v, bytes, err);
    fk_v8_end(&v);
    return rc;
}

static int read_heapprofile(struct fk_v8 *v, struct fk_str bytes, struct fk_err *err)
{
    struct fk_jval document, m[MEMBERS];
    struct fk_profile p;
    int rc = fk_jval_document(bytes, &document, err);
    if (!rc)
        rc = fk_jval_pick(&document, members, MEMBERS, m, err);
    if (rc)
        return rc;
    if (!fk_jval_is(&m[HEAD], FK_JSON_OBJECT))
        return fk_fail(err, FK_E_FORMAT, ".heapprofile: it has no 'head'");
    rc = fk_stacks_type(&v->s, FK_S("inuse_space"), FK_S("bytes"), err);
    if (!rc)
        rc = fk_v8_tree(v, &m[HEAD], err);
    for (uint32_t i = 0; !rc && i < v->nodes.n; i++) {
        uint32_t stack;
        if (v->hits.v[i] == 0)
            continue;
        rc = fk_nodes_stack(&v->s, &v->nodes, i, &stack, err);
        if (!rc)
            rc = fk_stacks_add(&v->s, stack, 0, &v->hits.v[i], err);
    }
    if (!rc)
        rc = fk_stacks_finish(&v->s, &p, err);
    return rc ? rc : fk_decoding_deliver(v->s.d, &p, err);
}

int fk_heapprofile_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct fk_v8 v;
    int rc = fk_v8_begin(&v, d, err);
    if (!rc)
        rc = read_heapprofile(&v, bytes, err);
    fk_v8_end(&v);
    return rc;
}
