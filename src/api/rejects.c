// SPDX-License-Identifier: Apache-2.0
// What was sent and not stored: the most recent refusals and losses with their reasons, for the
// people who look for their profiles, and a counter for each reason. In memory: a restart forgets.
#include "api/rejects_int.h"

#include <stdio.h>

#define RECENT         256
#define REASONS_OF_ONE 48  // tenant; what comes beyond is counted as "other"
#define REASONS        480 // of all; what comes beyond is of nobody

struct reject {
    int64_t time_ns;
    uint64_t tenant; // hash
    int status;      // 0: stored, but not all of it
    const char *endpoint;
    char name[120], agent[80], reason[80], detail[320];
    uint64_t bytes, fingerprint, count;
};

struct fk_api_rejects {
    struct fk_mutex lock;
    struct reject recent[RECENT];
    uint64_t n; // in all; the newest is (n - 1) % RECENT
    struct {
        char reason[80];
        uint64_t tenant, count, times;
    } total[REASONS];
    size_t n_totals;
};

struct fk_api_rejects *fk_rejects_new(void)
{
    struct fk_api_rejects *x = fk_calloc(1, sizeof(*x));
    if (x)
        fk_mutex_init(&x->lock, FK_RANK_LEAF);
    return x;
}

void fk_rejects_free(struct fk_api_rejects *x)
{
    if (x)
        fk_mutex_destroy(&x->lock);
    fk_free(x);
}

// The row of a reason; x->n_totals: there is none.
static size_t row_of(const struct fk_api_rejects *x, uint64_t tenant, const char *reason,
                     size_t *ret_rows)
{
    size_t at = x->n_totals;
    *ret_rows = 0;
    for (size_t i = 0; i < x->n_totals && at == x->n_totals; i++) {
        if (x->total[i].tenant != tenant)
            continue;
        ++*ret_rows;
        if (strcmp(x->total[i].reason, reason) == 0)
            at = i;
    }
    return at;
}

// Reasons are words of clients: each tenant has a few rows, all tenants together some more.
static void count(struct fk_api_rejects *x, uint64_t tenant, const char *reason, uint64_t more)
{
    size_t rows, i = row_of(x, tenant, reason, &rows);
    if (i == x->n_totals && rows >= REASONS_OF_ONE - 1) {
        reason = "other";
        i = row_of(x, tenant, reason, &rows);
    }
    if (i == REASONS) {
        i = REASONS - 1;
    } else if (i == x->n_totals) {
        bool last = i == REASONS - 1;
        x->total[i].tenant = last ? 0 : tenant;
        snprintf(x->total[i].reason, sizeof(x->total[i].reason), "%s", last ? "other" : reason);
        x->n_totals++;
    }
    x->total[i].count += more;
    x->total[i].times++;
}

static struct reject *begin(struct fk_api_call *c, struct fk_api_rejects *x)
{
    struct reject *r = &x->recent[x->n++ % RECENT];
    struct fk_str name = fk_param(c, "name");
    *r = (struct reject){.time_ns = c->now_ns,
                         .tenant = fk_hash_str(c->tenant),
                         .endpoint = c->endpoint->pattern,
                         .bytes = c->request.n,
                         .fingerprint = fk_hash_bytes(c->request.p, c->request.n)};
    name = name.p ? name : fk_param(c, "labels");
    snprintf(r->name, sizeof(r->name), "%.*s", FK_STR_ARG(fk_str_head(name, 119)));
    snprintf(r->agent, sizeof(r->agent), "%.*s", FK_STR_ARG(fk_str_head(c->user_agent, 79)));
    return r;
}

static const char *word_of(int code)
{
    static const char *const words[] = {
        [FK_E_NOMEM] = "memory",    [FK_E_LIMIT] = "limit",          [FK_E_FORMAT] = "format",
        [FK_E_INVALID] = "invalid", [FK_E_UNSUPPORTED] = "unknown",  [FK_E_BUSY] = "overload",
        [FK_E_FULL] = "disk full",  [FK_E_STOPPED] = "shutting down"};
    size_t i = (size_t)code;
    return code > 0 && i < FK_COUNTOF(words) && words[i] ? words[i] : "failure";
}

void fk_rejects_note(struct fk_api_call *c, const struct fk_err *err, uint64_t n)
{
    struct fk_api_rejects *x = c->api->rejects;
    fk_mutex_lock(&x->lock);
    struct reject *r = begin(c, x);
    const char *what = err->flag[0] ? err->flag : err->param;
    r->status = c->status < 400 ? 0 : c->status;
    r->count = n;
    snprintf(r->reason, sizeof(r->reason), "%s%s%.60s", word_of(err->code), what[0] ? " " : "",
             what);
    snprintf(r->detail, sizeof(r->detail), "%s", err->msg);
    count(x, r->tenant, r->reason, n);
    fk_mutex_unlock(&x->lock);
}

void fk_rejects_note_dropped(struct fk_api_call *c, const struct fk_report *report)
{
    struct fk_api_rejects *x = c->api->rejects;
    fk_mutex_lock(&x->lock);
    for (uint32_t i = 0; i < report->n; i++) {
        if (!report->item[i].dropped)
            continue;
        struct reject *r = begin(c, x);
        r->count = report->item[i].count;
        snprintf(r->reason, sizeof(r->reason), "%s", report->item[i].reason);
        snprintf(r->detail, sizeof(r->detail), "%s", report->item[i].detail);
        count(x, r->tenant, r->reason, r->count);
    }
    fk_mutex_unlock(&x->lock);
}

// Bytes that clients sent may be anything: not all of it is text.
static void put_text(struct fk_json *w, const char *key, const char *text)
{
    if (!text[0])
        return;
    fk_json_key(w, fk_str_of(key));
    fk_json_str(w, fk_str_of(text));
}

static void put_reject(struct fk_json *w, const struct reject *r)
{
    char print[17];
    snprintf(print, sizeof(print), "%016llx", (unsigned long long)r->fingerprint);
    fk_json_object(w);
    fk_json_k(w, "time");
    fk_json_time(w, r->time_ns);
    put_text(w, "endpoint", r->endpoint);
    fk_json_k(w, "status");
    fk_json_i64(w, r->status);
    put_text(w, "reason", r->reason);
    put_text(w, "detail", r->detail);
    fk_json_k(w, "count");
    fk_json_u64(w, r->count);
    put_text(w, "name", r->name);
    put_text(w, "user_agent", r->agent);
    fk_json_k(w, "bytes");
    fk_json_u64(w, r->bytes);
    put_text(w, "fingerprint", print);
    fk_json_object_end(w);
}

static bool concerns(const struct fk_api_call *c, uint64_t tenant)
{
    for (size_t i = 0; i < c->n_tenants; i++)
        if (fk_hash_str(c->tenants[i]) == tenant)
            return true;
    return false;
}

// Reasons of all tenants asked for, each once.
static void put_reasons(struct fk_api_call *c, struct fk_json *w)
{
    const struct fk_api_rejects *x = c->api->rejects;
    bool mine[REASONS];
    for (size_t i = 0; i < x->n_totals; i++)
        mine[i] = concerns(c, x->total[i].tenant);
    fk_json_k(w, "reasons");
    fk_json_array(w);
    for (size_t i = 0; i < x->n_totals; i++) {
        uint64_t sum = 0;
        bool first = mine[i];
        for (size_t j = 0; first && j < x->n_totals; j++) {
            if (!mine[j] || strcmp(x->total[i].reason, x->total[j].reason) != 0)
                continue;
            first = j >= i;
            sum += x->total[j].count;
        }
        if (!first)
            continue;
        fk_json_object(w);
        put_text(w, "reason", x->total[i].reason);
        fk_json_k(w, "count");
        fk_json_u64(w, sum);
        fk_json_object_end(w);
    }
    fk_json_array_end(w);
}

static void put_recent(struct fk_api_call *c, struct fk_json *w, uint64_t limit)
{
    const struct fk_api_rejects *x = c->api->rejects;
    fk_json_k(w, "rejects");
    fk_json_array(w);
    for (uint64_t i = 0; limit && i < FK_MIN(x->n, (uint64_t)RECENT); i++) {
        const struct reject *r = &x->recent[(x->n - 1 - i) % RECENT];
        if (!concerns(c, r->tenant))
            continue;
        put_reject(w, r);
        limit--;
    }
    fk_json_array_end(w);
}

static uint64_t total_of(const struct fk_api_call *c)
{
    const struct fk_api_rejects *x = c->api->rejects;
    uint64_t n = 0;
    for (size_t i = 0; i < x->n_totals; i++)
        n += concerns(c, x->total[i].tenant) ? x->total[i].times : 0;
    return n;
}

int fk_api_rejects_list(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_api_rejects *x = c->api->rejects;
    struct fk_json w;
    uint64_t limit = 100;
    int r = fk_param_u64(c, "limit", 1, RECENT, &limit, err);
    if (r)
        return r;
    fk_call_json(c, &w);
    fk_mutex_lock(&x->lock);
    fk_json_k(&w, "total");
    fk_json_u64(&w, total_of(c));
    put_reasons(c, &w);
    put_recent(c, &w, limit);
    fk_mutex_unlock(&x->lock);
    return fk_call_json_end(c, &w, err);
}

void fk_rejects_metrics(struct fk_api *api, struct fk_buf *b)
{
    struct fk_api_rejects *x = api->rejects;
    fk_buf_cstr(b, "# HELP flamekeep_rejects_total What was sent and not stored, by reason.\n"
                   "# TYPE flamekeep_rejects_total counter\n");
    fk_mutex_lock(&x->lock);
    for (size_t i = 0; i < x->n_totals; i++) {
        uint64_t sum = 0;
        bool first = true;
        for (size_t j = 0; first && j < x->n_totals; j++)
            if (strcmp(x->total[i].reason, x->total[j].reason) == 0) {
                first = j >= i;
                sum += x->total[j].count;
            }
        if (!first)
            continue;
        fk_buf_cstr(b, "flamekeep_rejects_total{reason=\"");
        for (const char *p = x->total[i].reason; *p; p++)
            fk_buf_byte(b, *p == '"' || *p == '\\' || *p == '\n' ? '_' : (uint8_t)*p);
        fk_buf_printf(b, "\"} %llu\n", (unsigned long long)sum);
    }
    fk_mutex_unlock(&x->lock);
}
