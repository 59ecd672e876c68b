// SPDX-License-Identifier: Apache-2.0
// The program's profile of itself. Samples gather in a builder; every period it becomes a profile
// with the time of each sample, the thread as attribute, symbols from our own ELF files and, where
// frames of the kernel are permitted, from /proc/kallsyms.
#include "agent/self_int.h"

#include <stdio.h>
#include <stdlib.h>

#define PERIOD_NS (10 * FK_NS_PER_S)
#define LOOK_NS   FK_NS_PER_S // how often the rings are emptied

struct row {
    uint32_t stack, set;
    int64_t time_ns;
};

struct fk_self {
    struct fk_perf *perf;
    struct fk_self_symbols *symbols;
    struct fk_self_opts opts;
    int64_t begin_ns;
    struct fk_thread thread;
    struct fk_mutex lock; // of stopping
    struct fk_cond wake;
    bool stopping, running;
    uint64_t lost;
    // of the period at hand
    struct fk_arena arena;
    struct fk_builder *builder;
    FK_VEC(struct row) rows;
    FK_VEC(uint32_t) frames;
};

int fk_self_begin(struct fk_self **ret, struct fk_err *err)
{
    struct fk_self *s = fk_calloc(1, sizeof(*s));
    if (!s)
        return fk_fail_nomem(err);
    fk_mutex_init(&s->lock, FK_RANK_LEAF);
    fk_cond_init(&s->wake);
    fk_arena_init(&s->arena, 0);
    int r = fk_perf_open_self(FK_SELF_HZ, &s->perf, err);
    if (r == -FK_E_UNSUPPORTED)
        r = fk_perf_open_timer(FK_SELF_HZ, &s->perf, err);
    if (r == 0)
        r = fk_self_symbols_new(&s->symbols, err);
    if (r) {
        fk_self_stop(s);
        return r;
    }
    *ret = s;
    return 0;
}

// ---- gathering ----

static int begin_period(struct fk_self *s, struct fk_err *err)
{
    fk_arena_free(&s->arena);
    fk_arena_init(&s->arena, 0);
    s->rows.n = 0;
    s->begin_ns = fk_clock_wall(fk_clock_real());
    s->builder = fk_builder_new(&s->arena, s->opts.limits->push_rows, FK_LIMIT_FLAG(push_rows));
    if (!s->builder || fk_builder_type(s->builder, FK_S("samples"), FK_S("count"), FK_KIND_DELTA) ||
        fk_builder_type(s->builder, FK_S("cpu"), FK_S("nanoseconds"), FK_KIND_DELTA))
        return fk_fail_nomem(err);
    return fk_self_symbols_begin(s->symbols, s->opts.folder, s->builder, err);
}

static int thread_set(struct fk_self *s, uint32_t tid, uint32_t *ret)
{
    struct fk_dict *d = fk_builder_dict(s->builder);
    char name[16];
    struct fk_attr a = {0};
    fk_thread_name_of(tid, name);
    if (fk_dict_string(d, FK_S("thread"), &a.key) ||
        fk_dict_string(d, name[0] ? fk_str_of(name) : FK_S("(ended)"), &a.str))
        return -FK_E_NOMEM;
    return fk_dict_set(d, &a, 1, ret);
}

static int on_sample(void *arg, const struct fk_perf_sample *x, struct fk_err *err)
{
    struct fk_self *s = arg;
    struct row row = {.time_ns = x->time_ns};
    s->frames.n = 0;
    if (fk_vec_reserve(&s->frames, x->n))
        return fk_fail_nomem(err);
    for (uint32_t i = 0; i < x->n; i++) {
        // A return address lies behind its call: one less is within it. The innermost frame is
        // where it is.
        bool innermost = i == 0 || i == x->n_kernel;
        uint64_t address = x->frame[i] - (innermost ? 0 : 1);
        int r =
            fk_self_location(s->symbols, address, i < x->n_kernel, &s->frames.v[s->frames.n], err);
        if (r)
            return r;
        s->frames.n++;
    }
    if (fk_dict_stack(fk_builder_dict(s->builder), s->frames.v, (uint32_t)s->frames.n,
                      &row.stack) ||
        thread_set(s, x->tid, &row.set) || fk_vec_push(&s->rows, row))
        return fk_fail_nomem(err);
    return 0;
}

// ---- delivering ----

static int by_row(const void *pa, const void *pb)
{
    const struct row *a = pa, *b = pb;
    if (a->stack != b->stack)
        return a->stack < b->stack ? -1 : 1;
    if (a->set != b->set)
        return a->set < b->set ? -1 : 1;
    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

// Samples of equal stack and thread are one row with many observations.
static int put_rows(struct fk_self *s, struct fk_err *err)
{
    int64_t period = FK_NS_PER_S / FK_SELF_HZ;
    int64_t *values = fk_arena_array(&s->arena, s->rows.n * 2 + 1, sizeof(*values));
    int64_t *times = fk_arena_array(&s->arena, s->rows.n + 1, sizeof(*times));
    if (!values || !times)
        return fk_fail_nomem(err);
    if (s->rows.n)
        qsort(s->rows.v, s->rows.n, sizeof(struct row), by_row);
    for (size_t from = 0, n; from < s->rows.n; from += n) {
        const struct row *first = &s->rows.v[from];
        for (n = 0;
             from + n < s->rows.n && first[n].stack == first->stack && first[n].set == first->set;
             n++) {
            values[n * 2] = 1;
            values[n * 2 + 1] = period;
            times[n] = first[n].time_ns;
        }
        int r = fk_builder_sample(s->builder, first->stack, first->set, values, times, n, err);
        if (r)
            return r;
    }
    return 0;
}

struct delivery {
    struct fk_event over;
    int code;
    struct fk_err err;
};

static void on_done(void *arg, int code, struct fk_id id, const struct fk_err *err)
{
    struct delivery *d = arg;
    (void)id;
    d->code = code;
    if (err)
        d->err = *err;
    fk_event_set(&d->over);
}

static int deliver_waiting(struct fk_self *s, const struct fk_entry *e, const struct fk_profile *p,
                           struct fk_err *err)
{
    struct delivery d = {0};
    fk_event_init(&d.over);
    struct fk_str tenant = s->opts.tenant.n ? s->opts.tenant : FK_S("anonymous");
    int r = s->opts.sink.deliver(s->opts.sink.arg, tenant, e, p, on_done, &d, err);
    if (r)
        return r;
    fk_event_wait(&d.over);
    if (d.code && err)
        *err = d.err;
    return d.code;
}

// Ten seconds without a sample, as an idle server has them, make no entry.
static int end_period(struct fk_self *s, struct fk_err *err)
{
    if (s->rows.n == 0)
        return 0;
    struct fk_profile p;
    struct fk_entry e = {0};
    char host[128];
    int64_t now = fk_clock_wall(fk_clock_real());
    fk_host_name(host, sizeof(host));
    struct fk_label labels[] = {{FK_S("service_name"), FK_S("flamekeep")},
                                {FK_S("hostname"), fk_str_of(host)}};
    int r = put_rows(s, err);
    if (r == 0 && fk_self_symbols_end(s->symbols))
        r = fk_fail_nomem(err);
    if (r == 0)
        r = fk_builder_finish(s->builder, &p, err);
    if (r)
        return r;
    p.time_ns_start = s->begin_ns;
    p.duration_ns = now - s->begin_ns;
    p.period = FK_NS_PER_S / FK_SELF_HZ;
    p.has_period_type = true;
    p.period_type = FK_S("cpu");
    p.period_unit = FK_S("nanoseconds");
    p.default_type = FK_S("cpu");
    p.time_key = FK_S("end_timestamp_ns");
    p.time_unit = FK_S("nanoseconds");
    e.samples = s->rows.n;
    struct fk_accept_opts o = {
        .limits = s->opts.limits, .now_ns = now, .label = labels, .n_labels = host[0] ? 2 : 1};
    r = fk_accept(&o, &s->arena, &e, &p, NULL, err);
    return r ? r : deliver_waiting(s, &e, &p, err);
}

// ---- thread ----

// Until the next look at the rings; true when it is time to stop.
static bool pause_thread(struct fk_self *s)
{
    int64_t until = fk_clock_mono(fk_clock_real()) + LOOK_NS;
    fk_mutex_lock(&s->lock);
    while (!s->stopping && fk_cond_wait_until(&s->wake, &s->lock, until))
        ;
    bool stopping = s->stopping;
    fk_mutex_unlock(&s->lock);
    return stopping;
}

static int one_period(struct fk_self *s, bool *stopping, struct fk_err *err)
{
    int r = begin_period(s, err);
    int64_t end = fk_clock_mono(fk_clock_real()) + s->opts.period_ns;
    while (r == 0 && !*stopping && fk_clock_mono(fk_clock_real()) < end) {
        *stopping = pause_thread(s);
        r = fk_perf_drain(s->perf, on_sample, s, &s->lost, err);
    }
    if (r == 0)
        r = end_period(s, err);
    fk_builder_free(s->builder);
    s->builder = NULL;
    return r;
}

static void run(void *arg)
{
    struct fk_self *s = arg;
    bool stopping = false;
    while (!stopping) {
        struct fk_err err = {0};
        if (one_period(s, &stopping, &err)) {
            fk_logf(s->opts.log, FK_LOG_WARN, "self", "own profile lost: %s", err.msg);
            if (!stopping)
                stopping = pause_thread(s);
        }
    }
}

int fk_self_start(struct fk_self *s, const struct fk_self_opts *opts, struct fk_err *err)
{
    s->opts = *opts;
    s->opts.period_ns = opts->period_ns ? opts->period_ns : PERIOD_NS;
    int r = fk_thread_start(&s->thread, "self", run, s, err);
    s->running = r == 0;
    return r;
}

void fk_self_stop(struct fk_self *s)
{
    if (!s)
        return;
    fk_mutex_lock(&s->lock);
    s->stopping = true;
    fk_cond_signal(&s->wake);
    fk_mutex_unlock(&s->lock);
    if (s->running)
        fk_thread_join(&s->thread);
    fk_perf_close(s->perf);
    fk_self_symbols_free(s->symbols);
    fk_vec_free(&s->rows);
    fk_vec_free(&s->frames);
    fk_arena_free(&s->arena);
    fk_cond_destroy(&s->wake);
    fk_mutex_destroy(&s->lock);
    fk_free(s);
}
