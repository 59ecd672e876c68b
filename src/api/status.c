// SPDX-License-Identifier: Apache-2.0
// Health: readiness, liveness, status as JSON, metrics as Prometheus text (exposition format
// 0.0.4).
#include "api/access_int.h"
#include "api/rejects_int.h"

int fk_api_ready(struct fk_api_call *c, struct fk_err *err)
{
    (void)err;
    bool ready = c->api->ready;
    c->status = ready ? 200 : 503;
    c->type = "text/plain; charset=utf-8";
    fk_buf_cstr(&c->body, ready ? "ready\n" : "not ready\n");
    return 0;
}

int fk_api_health(struct fk_api_call *c, struct fk_err *err)
{
    (void)err;
    c->type = "text/plain; charset=utf-8";
    fk_buf_cstr(&c->body, "ok\n");
    return 0;
}

// What Grafana asks to find out which server it talks to.
int fk_api_buildinfo(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_json w;
    fk_call_json(c, &w);
    fk_json_k(&w, "status");
    fk_json_str(&w, FK_S("success"));
    fk_json_k(&w, "data");
    fk_json_object(&w);
    fk_json_k(&w, "version");
    fk_json_str(&w, FK_S(FK_VERSION));
    fk_json_k(&w, "application");
    fk_json_str(&w, FK_S("flamekeep"));
    fk_json_object_end(&w);
    return fk_call_json_end(c, &w, err);
}

struct number {
    const char *name;
    uint64_t value;
};

int fk_api_status(struct fk_api_call *c, struct fk_err *err)
{
    struct fk_store_stats s;
    struct fk_json w;
    fk_store_stats(c->api->opts.store, &s);
    const struct number v[] = {
        {"profiles", s.profiles + s.head_profiles},
        {"samples", s.samples + s.head_samples},
        {"blocks", s.blocks},
        {"block_bytes", s.block_bytes},
        {"head_profiles", s.head_profiles},
        {"head_memory_bytes", s.head_memory},
        {"pack_bytes", s.pack_bytes},
        {"disk_free_bytes", s.space.free},
        {"disk_total_bytes", s.space.total},
        {"stored_since_start", c->api->stored_profiles},
        {"refused_since_start", c->api->refused_profiles},
        {"dropped_samples_since_start", c->api->dropped_samples},
        {"repeated_since_start", c->api->repeated_profiles},
        {"expired_blocks_since_start", s.expired_blocks},
        {"torn_bytes_at_start", s.torn_bytes},
    };
    fk_call_json(c, &w);
    fk_json_k(&w, "version");
    fk_json_str(&w, FK_S(FK_VERSION));
    fk_json_k(&w, "ready");
    fk_json_bool(&w, c->api->ready);
    fk_json_k(&w, "started");
    fk_json_time(&w, c->api->started_ns);
    fk_json_k(&w, "disk_full");
    fk_json_bool(&w, s.full);
    for (size_t i = 0; i < FK_COUNTOF(v); i++) {
        fk_json_key(&w, fk_str_of(v[i].name));
        fk_json_u64(&w, v[i].value);
    }
    return fk_call_json_end(c, &w, err);
}

// ---- metrics ----

static void metric(struct fk_buf *b, const char *name, const char *type, const char *help,
                   double value)
{
    fk_buf_printf(b, "# HELP flamekeep_%s %s\n# TYPE flamekeep_%s %s\nflamekeep_%s %.17g\n", name,
                  help, name, type, name, value);
}

static void store_metrics(struct fk_api_call *c, struct fk_buf *b)
{
    struct fk_store_stats s;
    fk_store_stats(c->api->opts.store, &s);
    metric(b, "profiles", "gauge", "Profiles kept.", (double)(s.profiles + s.head_profiles));
    metric(b, "samples", "gauge", "Samples kept.", (double)(s.samples + s.head_samples));
    metric(b, "blocks", "gauge", "Sealed blocks.", (double)s.blocks);
    metric(b, "block_bytes", "gauge", "Bytes in sealed blocks.", (double)s.block_bytes);
    metric(b, "head_profiles", "gauge", "Profiles not yet sealed.", (double)s.head_profiles);
    metric(b, "head_memory_bytes", "gauge", "Memory of profiles not yet sealed.",
           (double)s.head_memory);
    metric(b, "pack_bytes", "gauge", "Bytes in packs not yet sealed.", (double)s.pack_bytes);
    metric(b, "commits_total", "counter", "Group commits.", (double)s.commits);
    metric(b, "committed_profiles_total", "counter", "Profiles made durable.", (double)s.committed);
    metric(b, "commit_failures_total", "counter", "Group commits that failed.",
           (double)s.commit_failures);
    metric(b, "last_commit_seconds", "gauge", "How long the last group commit took.",
           (double)s.last_sync_ns / 1e9);
    metric(b, "seals_total", "counter", "Heads sealed into blocks.", (double)s.sealed);
    metric(b, "seal_failures_total", "counter", "Seals that failed and are tried again.",
           (double)s.seal_failures);
    metric(b, "expired_blocks_total", "counter", "Blocks removed by retention.",
           (double)s.expired_blocks);
    metric(b, "disk_free_bytes", "gauge", "Free bytes of the data folder's disk.",
           (double)s.space.free);
    metric(b, "disk_full", "gauge", "1 while profiles are refused for want of room.", s.full);
}

static void ingest_metrics(struct fk_api *api, struct fk_buf *b)
{
    metric(b, "ingested_profiles_total", "counter", "Profiles stored.",
           (double)api->stored_profiles);
    metric(b, "ingested_samples_total", "counter", "Samples stored.", (double)api->stored_samples);
    metric(b, "refused_profiles_total", "counter", "Profiles refused.",
           (double)api->refused_profiles);
    metric(b, "dropped_samples_total", "counter", "Samples or lines dropped from stored profiles.",
           (double)api->dropped_samples);
    metric(b, "repeated_pushes_total", "counter",
           "Pushes answered from memory because they were stored before.",
           (double)api->repeated_profiles);
    metric(b, "query_errors_total", "counter", "Queries answered with an error.",
           (double)api->query_errors);
    metric(b, "cancelled_calls_total", "counter",
           "Calls whose client left or whose time was over while they ran.",
           (double)api->cancelled);
    metric(b, "cancelled_calls_late_total", "counter",
           "Of these, calls that went on for more than 100 ms.", (double)api->cancelled_late);
    metric(b, "cancelled_call_longest_seconds", "gauge",
           "The longest time that a call went on after it was cancelled.",
           (double)api->cancelled_longest_ns / 1e9);
}

static void route_metrics(struct fk_api *api, struct fk_buf *b)
{
    fk_buf_cstr(b, "# HELP flamekeep_http_requests_total Requests by route and class of status.\n"
                   "# TYPE flamekeep_http_requests_total counter\n");
    for (size_t i = 0; i <= api->n_routes; i++) {
        struct fk_http_route_stats s;
        fk_http_route_stats(api->server, i, &s);
        const char *name = i < api->n_routes ? api->routes[i].pattern : "none";
        for (int k = 0; k < 6; k++)
            if (s.status[k])
                fk_buf_printf(b,
                              "flamekeep_http_requests_total{method=\"%s\",route=\"%s\",status=\"%"
                              "dxx\"} %llu\n",
                              i < api->n_routes ? api->routes[i].method : "", name, k,
                              (unsigned long long)s.status[k]);
    }
}

static void connection_metrics(struct fk_api *api, struct fk_buf *b)
{
    struct fk_http_stats s;
    fk_http_server_stats(api->server, &s);
    metric(b, "tls_connections_total", "counter", "TLS connections.", (double)s.tls_connections);
    metric(b, "tls_failures_total", "counter", "TLS handshakes that failed or took too long.",
           (double)s.tls_failed);
    metric(b, "tls_clear_total", "counter", "Of these, clients that spoke HTTP without TLS.",
           (double)s.tls_clear);
    metric(b, "http2_connections_total", "counter", "Connections that spoke HTTP/2.",
           (double)s.h2_connections);
    metric(b, "http2_streams_total", "counter", "Requests over HTTP/2.", (double)s.h2_streams);
    metric(b, "http2_resets_total", "counter", "Of these, given up or broken by the client.",
           (double)s.h2_resets);
    metric(b, "http2_floods_total", "counter",
           "HTTP/2 connections closed for too many resets or frames that bring nothing.",
           (double)s.h2_floods);
}

static void process_metrics(struct fk_buf *b)
{
    struct fk_process_facts f;
    if (fk_process_facts(&f, NULL))
        return;
    fk_buf_printf(b,
                  "# HELP process_cpu_seconds_total User and system time.\n# TYPE "
                  "process_cpu_seconds_total counter\n"
                  "process_cpu_seconds_total %.6f\n",
                  (double)(f.user_ns + f.system_ns) / 1e9);
    fk_buf_printf(b,
                  "# HELP process_open_fds Open file descriptors.\n# TYPE process_open_fds "
                  "gauge\nprocess_open_fds %llu\n",
                  (unsigned long long)f.open_fds);
    fk_buf_printf(b,
                  "# HELP process_resident_memory_bytes Resident memory.\n# TYPE "
                  "process_resident_memory_bytes gauge\n"
                  "process_resident_memory_bytes %llu\n",
                  (unsigned long long)f.resident_bytes);
}

int fk_api_metrics(struct fk_api_call *c, struct fk_err *err)
{
    c->type = "text/plain; version=0.0.4; charset=utf-8";
    store_metrics(c, &c->body);
    ingest_metrics(c->api, &c->body);
    fk_rejects_metrics(c->api, &c->body);
    fk_access_metrics(c->api, &c->body);
    if (c->api->server) {
        route_metrics(c->api, &c->body);
        connection_metrics(c->api, &c->body);
    }
    process_metrics(&c->body);
    return fk_buf_check(&c->body, "metrics", err);
}
