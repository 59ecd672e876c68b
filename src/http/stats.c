// SPDX-License-Identifier: Apache-2.0
// Counters of the server and of its routes: relaxed atomics, one writer each (mostly).
#include "http/http_int.h"

#define MS FK_NS_PER_MS

const int64_t fk_http_bucket_ns[FK_HTTP_BUCKETS - 1] = {
    MS / 4,   MS / 2,   1 * MS,   5 * MS / 2, 5 * MS,    10 * MS,   25 * MS,   50 * MS,
    100 * MS, 250 * MS, 500 * MS, 1000 * MS,  2500 * MS, 5000 * MS, 10000 * MS};

static void add(_Atomic uint64_t *to, uint64_t n)
{
    atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

bool fk_http_budget_take(_Atomic uint64_t *used, uint64_t n, uint64_t most)
{
    uint64_t was = atomic_fetch_add_explicit(used, n, memory_order_relaxed);
    if (n <= most && was <= most - n)
        return true;
    atomic_fetch_sub_explicit(used, n, memory_order_relaxed);
    return false;
}

void fk_http_count(struct fk_http_ex *ex, int status, int64_t duration_ns)
{
    struct fk_http_server *s = ex->loop->server;
    struct fk_http_counters *c = &s->counters[ex->route];
    size_t bucket = 0;
    while (bucket < FK_HTTP_BUCKETS - 1 && duration_ns > fk_http_bucket_ns[bucket])
        bucket++;
    add(&c->requests, 1);
    add(&c->status[status / 100 % 6], 1);
    add(&c->bytes_in, ex->bytes_in);
    add(&c->bytes_out, ex->bytes_out);
    add(&c->bucket[bucket], 1);
    add(&c->duration_ns, (uint64_t)FK_MAX(duration_ns, (int64_t)0));
    if (!ex->req.route && status >= 400 && status != 404 && status != 405)
        add(&s->broken, 1);
}

void fk_http_route_stats(struct fk_http_server *s, size_t i, struct fk_http_route_stats *ret)
{
    const struct fk_http_counters *c = &s->counters[FK_MIN(i, s->opts.routes_n)];
    *ret = (struct fk_http_route_stats){.requests = get(&c->requests),
                                        .bytes_in = get(&c->bytes_in),
                                        .bytes_out = get(&c->bytes_out),
                                        .duration_ns = get(&c->duration_ns)};
    for (size_t k = 0; k < FK_COUNTOF(ret->status); k++)
        ret->status[k] = get(&c->status[k]);
    for (size_t k = 0; k < FK_HTTP_BUCKETS; k++)
        ret->bucket[k] = get(&c->bucket[k]);
}

void fk_http_server_stats(struct fk_http_server *s, struct fk_http_stats *ret)
{
    *ret = (struct fk_http_stats){.accepted = get(&s->accepted),
                                  .refused = get(&s->refused),
                                  .open = get(&s->open),
                                  .active = get(&s->active),
                                  .bodies_memory = get(&s->memory),
                                  .bodies_spool = get(&s->spool),
                                  .broken = get(&s->broken),
                                  .timeouts = get(&s->timeouts),
                                  .tls_connections = get(&s->tls_connections),
                                  .tls_failed = get(&s->tls_failed),
                                  .tls_clear = get(&s->tls_clear),
                                  .h2_connections = get(&s->h2_connections),
                                  .h2_streams = get(&s->h2_streams),
                                  .h2_resets = get(&s->h2_resets),
                                  .h2_floods = get(&s->h2_floods)};
}
