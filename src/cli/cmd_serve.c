// SPDX-License-Identifier: Apache-2.0
// flamekeep serve: the server. Wiring only: store, API, HTTP, signals.
#include "agent/agent.h"
#include "cli/cli_int.h"

struct options {
    struct fk_str data;
    struct fk_opt_list listen, listen_otlp, listen_plain, host;
    struct fk_str tls_cert, tls_key, tls_client_ca;
    uint64_t min_free, retention_bytes, seal_bytes, workers;
    uint64_t originals_bytes;
    int64_t retention_age, seal_age, originals_age;
    struct fk_str originals;
    struct fk_str auth, self_tenant;
    bool quiet, verbose, no_self, multitenancy;
    struct fk_limits limits;
    struct fk_http_limits http;
};

// ---- log ----

static void write_log(void *arg, enum fk_log_level level, const char *domain, struct fk_str line)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    char time_text[FK_TIME_CHARS + 1];
    (void)arg;
    fk_time_format(fk_clock_wall(fk_clock_real()), time_text);
    fprintf(stderr, "%.23sZ %-5s %s: %.*s\n", time_text, names[level], domain, FK_STR_ARG(line));
}

// ---- parts ----

struct server {
    const struct options *o;
    struct fk_log log;
    struct fk_store *store;
    struct fk_state *state;
    struct fk_blob *files;
    struct fk_api *api;
    struct fk_pool *pool;
    struct fk_http_server *http;
    struct fk_self *self; // NULL: not asked for, or forbidden
    char dir[FK_PATH_MAX], spool[FK_PATH_MAX];
    char address[FK_ADDR_CHARS];
    struct fk_buf others; // lines about further addresses
    char *tls_files[3];   // owned; certificate, key, authorities of clients
    bool open;            // other machines reach it
};

static int read_originals(struct options *o, enum fk_originals *ret, struct fk_err *err)
{
    static const char *const words[] = {"uploads", "all", "none"};
    o->originals_bytes = o->originals_bytes ? o->originals_bytes : (uint64_t)1 << 30;
    o->originals_age = o->originals_age ? o->originals_age : 24 * 3600 * FK_NS_PER_S;
    for (int i = 0; i < 3; i++)
        if (!o->originals.n || fk_str_eq(o->originals, fk_str_of(words[i]))) {
            *ret = (enum fk_originals)i;
            return 0;
        }
    return fk_fail_param(err, "--originals", "--originals is uploads, all or none, not '%.*s'",
                         FK_STR_ARG(fk_str_head(o->originals, 40)));
}

static int read_auth(const struct options *o, enum fk_auth *ret, struct fk_err *err)
{
    static const char *const words[] = {"auto", "none", "tokens"};
    for (int i = 0; i < 3; i++)
        if (!o->auth.n || fk_str_eq(o->auth, fk_str_of(words[i]))) {
            *ret = (enum fk_auth)i;
            break;
        } else if (i == 2) {
            return fk_fail_param(err, "--auth", "--auth is auto, none or tokens, not '%.*s'",
                                 FK_STR_ARG(fk_str_head(o->auth, 40)));
        }
    return o->self_tenant.n ? fk_tenant_check(o->self_tenant, err) : 0;
}

static int open_store(struct server *s, struct fk_err *err)
{
    const struct options *o = s->o;
    int r = fk_path_printf(s->dir, err, "%.*s", FK_STR_ARG(o->data.n ? o->data : FK_S("./data")));
    if (r == 0)
        r = fk_path_printf(s->spool, err, "%s/spool", s->dir);
    if (r == 0)
        r = fk_fs_mkdirs(fk_fs_real(), s->spool, err);
    struct fk_store_opts so = {.dir = s->dir,
                               .log = &s->log,
                               .min_free = o->min_free,
                               .retention_bytes = o->retention_bytes,
                               .retention_age_ns = o->retention_age,
                               .series_per_day = o->limits.series_per_day,
                               .originals_bytes = o->originals_bytes,
                               .originals_age_ns = o->originals_age,
                               .seal_bytes = o->seal_bytes,
                               .seal_age_ns = o->seal_age};
    if (r == 0)
        r = fk_store_open(&so, &s->store, err);
    char state[FK_PATH_MAX], files[FK_PATH_MAX];
    if (r == 0)
        r = fk_path_printf(state, err, "%s/state.db", s->dir);
    if (r == 0)
        r = fk_path_printf(files, err, "%s/files", s->dir);
    if (r == 0)
        r = fk_blob_open_dir(fk_fs_real(), files, &s->files, err);
    return r ? r : fk_state_open(state, &s->state, err);
}

// What the start line, which names the first address, leaves out.
static void note_address(struct server *s, const struct fk_addr *bound, bool plain,
                         const char *what)
{
    char text[FK_ADDR_CHARS];
    fk_addr_format(bound, text);
    fk_buf_printf(&s->others, "flamekeep also listens on http%s://%s (%s)\n",
                  s->o->tls_cert.n && !plain ? "s" : "", text, what);
}

// Each address is opened here: what is said of it and who reaches it are never left out.
static int open_address(struct server *s, const struct fk_addr *a, bool plain, const char *what,
                        struct fk_err *err)
{
    struct fk_addr bound;
    int r = plain ? fk_http_server_listen_plain(s->http, a, &bound, err)
                  : fk_http_server_listen(s->http, a, &bound, err);
    if (r)
        return r;
    if (s->address[0])
        note_address(s, &bound, plain, what);
    else
        fk_addr_format(&bound, s->address);
    s->open |= !fk_addr_is_loopback(&bound);
    return 0;
}

static int open_named(struct server *s, struct fk_str text, uint16_t port, bool plain,
                      const char *what, struct fk_err *err)
{
    struct fk_addr address;
    int r = fk_addr_parse(text, port, &address, err);
    return r ? r : open_address(s, &address, plain, what, err);
}

static int listen_on(struct server *s, struct fk_str text, struct fk_err *err)
{
    return open_named(s, text, 4040, false, "interface, API and senders", err);
}

// Nobody asked for 4040 in particular: when another program has it, any other port does.
static int listen_by_default(struct server *s, struct fk_err *err)
{
    struct fk_err why;
    if (listen_on(s, FK_S("127.0.0.1:4040"), &why) == 0)
        return 0;
    int r = listen_on(s, FK_S("127.0.0.1:0"), err);
    if (r == 0)
        fk_logf(&s->log, FK_LOG_WARN, "serve", "%s; %s is taken instead (--listen chooses)",
                why.msg, s->address);
    return r;
}

#define FOR_SENDERS "for senders of OpenTelemetry; the rest is there too"

// Beside the first address. Another program may hold that port.
static void listen_for_senders(struct server *s, uint16_t port)
{
    const struct options *o = s->o;
    struct fk_str first = o->listen.n ? o->listen.v[0] : FK_S("127.0.0.1");
    struct fk_addr address;
    struct fk_err err = {0};
    int r = fk_addr_parse(first, 4040, &address, &err);
    if (r == 0 && !fk_addr_set_port(&address, port))
        return; // a Unix socket: nobody asked for a port
    if (r == 0)
        r = open_address(s, &address, false, FOR_SENDERS, &err);
    if (r)
        fk_logf(&s->log, FK_LOG_WARN, "serve",
                "port %u for OpenTelemetry is not opened (--listen-otlp chooses another, or "
                "none): %s",
                (unsigned)port, err.msg);
}

static int listen_otlp(struct server *s, struct fk_err *err)
{
    const struct fk_opt_list *l = &s->o->listen_otlp;
    int r = 0;
    if (l->n == 0) { // where senders look: gRPC and HTTP, though each port takes both
        listen_for_senders(s, 4317);
        listen_for_senders(s, 4318);
    }
    for (size_t i = 0; r == 0 && i < l->n; i++)
        if (!fk_str_eq(l->v[i], FK_S("none")))
            r = open_named(s, l->v[i], 4318, false, FOR_SENDERS, err);
    return r;
}

static int read_tls(struct server *s, struct fk_http_tls *ret, struct fk_err *err)
{
    const struct options *o = s->o;
    const struct fk_str names[] = {o->tls_cert, o->tls_key, o->tls_client_ca};
    if (!o->tls_cert.n && (o->tls_key.n || o->tls_client_ca.n))
        return fk_fail_param(err, "--tls-cert", "%s needs --tls-cert, the server's certificate",
                             o->tls_key.n ? "--tls-key" : "--tls-client-ca");
    for (size_t i = 0; i < FK_COUNTOF(names); i++)
        if (names[i].n && !(s->tls_files[i] = fk_strndup(names[i].p, names[i].n)))
            return fk_fail_nomem(err);
    *ret = (struct fk_http_tls){s->tls_files[0], s->tls_files[1], s->tls_files[2]};
    return 0;
}

static int listen_plain(struct server *s, struct fk_err *err)
{
    const struct fk_opt_list *l = &s->o->listen_plain;
    int r = 0;
    for (size_t i = 0; r == 0 && i < l->n; i++)
        r = open_named(s, l->v[i], 4040, true, "without TLS: interface, API and senders", err);
    return r;
}

static int open_http(struct server *s, struct fk_err *err)
{
    const struct options *o = s->o;
    size_t n;
    const struct fk_http_route *routes = fk_api_routes(s->api, &n);
    unsigned workers =
        o->workers ? (unsigned)FK_MIN(o->workers, (uint64_t)256) : FK_MAX(8u, 2 * fk_cpu_count());
    int r =
        fk_pool_new(&(struct fk_pool_opts){.workers = workers, .name = "worker"}, &s->pool, err);
    if (r)
        return r;
    fk_api_set_pool(s->api, s->pool);
    struct fk_http_server_opts ho = {.routes = routes,
                                     .routes_n = n,
                                     .arg = s->api,
                                     .admit = fk_api_admit,
                                     .pool = s->pool,
                                     .limits = s->o->http,
                                     .spool_folder = s->spool,
                                     .error = fk_api_http_error};
    if ((r = read_tls(s, &ho.tls, err)) || (r = fk_http_server_new(&ho, &s->http, err)))
        return r;
    if (o->listen.n == 0)
        r = listen_by_default(s, err);
    for (size_t i = 0; r == 0 && i < o->listen.n; i++)
        r = listen_on(s, o->listen.v[i], err);
    if (r == 0)
        r = listen_otlp(s, err);
    if (r == 0)
        r = listen_plain(s, err);
    fk_api_set_local(s->api, !s->open);
    if (r == 0)
        r = fk_http_server_start(s->http, err);
    if (r == 0)
        fk_api_set_server(s->api, s->http);
    return r;
}

static void close_parts(struct server *s)
{
    if (s->api)
        fk_api_set_ready(s->api, false);
    fk_self_stop(s->self);
    if (s->http)
        fk_http_server_drain(s->http, 10 * FK_NS_PER_S);
    fk_http_server_free(s->http);
    for (size_t i = 0; i < FK_COUNTOF(s->tls_files); i++)
        fk_free(s->tls_files[i]);
    fk_pool_free(s->pool);
    fk_api_free(s->api);
    fk_state_close(s->state);
    fk_blob_close(s->files);
    fk_store_close(s->store);
    fk_buf_free(&s->others);
}

// ---- access ----

#define REFRESH_NS FK_NS_PER_S

struct refreshing {
    struct server *s;
    struct fk_loop *loop;
    struct fk_timer timer;
    bool failed;
};

// Tokens that were made and revoked meanwhile, by whatever process. What is wrong is said once.
static void on_refresh(void *arg)
{
    struct refreshing *x = arg;
    struct fk_err err = {0};
    bool asked = fk_api_asks_for_tokens(x->s->api);
    bool failed = fk_api_refresh(x->s->api, &err) != 0;
    if (!asked && fk_api_asks_for_tokens(x->s->api))
        fk_logf(&x->s->log, FK_LOG_INFO, "serve",
                "there is a token now: nobody is answered without");
    if (failed && !x->failed)
        fk_logf(&x->s->log, FK_LOG_WARN, "serve",
                "the tokens cannot be read, those known before go on: %s", err.msg);
    x->failed = failed;
    if (fk_timer_set(x->loop, &x->timer, fk_loop_now(x->loop) + REFRESH_NS, &err))
        fk_logf(&x->s->log, FK_LOG_ERROR, "serve", "changes of tokens are not noticed: %s",
                err.msg);
}

// ---- signals ----

struct stopping {
    struct fk_loop *loop;
    const struct fk_log *log;
    struct fk_http_server *tls; // whose certificate is read again on SIGHUP; NULL: it has none
};

static void reload(struct stopping *x)
{
    struct fk_err err = {0};
    if (fk_http_server_reload_tls(x->tls, &err))
        fk_logf(x->log, FK_LOG_ERROR, "serve", "the certificate stays as it was: %s", err.msg);
    else
        fk_logf(x->log, FK_LOG_INFO, "serve", "new connections get the certificate as it is now");
}

static void on_signal(void *arg, int signo)
{
    struct stopping *x = arg;
    if (x->tls && fk_signal_is_hup(signo)) {
        reload(x);
        return;
    }
    fk_logf(x->log, FK_LOG_INFO, "serve", "stopping on signal %d: finishing what is in flight",
            signo);
    fk_loop_stop(x->loop);
}

// Until SIGTERM or SIGINT; without a certificate SIGHUP ends it as well.
static int run_until_stopped(struct server *s, struct fk_err *err)
{
    struct fk_signals signals;
    bool tls = s->o->tls_cert.n > 0;
    struct stopping x = {.log = &s->log, .tls = tls ? s->http : NULL};
    struct refreshing tokens = {.s = s, .timer.on = on_refresh};
    int r = fk_loop_new(fk_clock_real(), &x.loop, err);
    if (r)
        return r;
    tokens.timer.arg = &tokens;
    tokens.loop = x.loop;
    r = fk_timer_set(x.loop, &tokens.timer, fk_loop_now(x.loop) + REFRESH_NS, err);
    if (r == 0 && (r = fk_signals_open(&signals, x.loop, on_signal, &x, err)) == 0) {
        fprintf(stderr, "flamekeep %s listens on http%s://%s, data in %s\n", FK_VERSION,
                tls ? "s" : "", s->address, s->dir);
        fprintf(stderr, "%.*s", FK_STR_ARG(fk_buf_view(&s->others)));
        r = fk_loop_run(x.loop, err);
        fk_signals_close(&signals);
    }
    fk_loop_free(x.loop);
    return r;
}

// Who opens the door to others should know that it is open, and who closes it that there is no key.
static void hint_at_access(struct server *s, enum fk_auth auth)
{
    if (auth == FK_AUTH_AUTO && s->open && !fk_api_asks_for_tokens(s->api))
        fk_logf(&s->log, FK_LOG_WARN, "serve",
                "whoever reaches %s may read and write everything; flamekeep admin token create "
                "--data %s --scope push,read,admin closes it (--auth none: meant so)",
                s->address, s->dir);
}

// Limits that were not given take their defaults.
static void complete_limits(void *limits, const struct fk_limit_info *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t *value = (uint64_t *)(void *)((char *)limits + table[i].offset);
        if (*value == 0)
            *value = table[i].value;
    }
}

// The program's profile of itself: nice to have, so a system that forbids it is a line in the log.
static void begin_self(struct server *s)
{
    struct fk_err err = {0};
    if (!s->o->no_self && fk_self_begin(&s->self, &err))
        fk_logf(&s->log, FK_LOG_WARN, "serve", "no profile of the server itself: %s", err.msg);
}

static void start_self(struct server *s)
{
    struct fk_err err = {0};
    struct fk_self_opts o = {.sink = fk_store_sink(s->store),
                             .tenant = s->o->self_tenant,
                             .limits = &s->o->limits,
                             .log = &s->log,
                             .folder = s->spool};
    if (s->self && fk_self_start(s->self, &o, &err))
        fk_logf(&s->log, FK_LOG_WARN, "serve", "no profile of the server itself: %s", err.msg);
}

static int run(void *options, struct fk_opt_list *args)
{
    struct options *o = options;
    struct fk_err err = {0};
    if (args->n) {
        fprintf(stderr, "flamekeep: serve takes no arguments\n");
        return FK_EXIT_USAGE;
    }
    struct server s = {.o = o,
                       .log = {.write = write_log,
                               .least = o->quiet     ? FK_LOG_ERROR
                                        : o->verbose ? FK_LOG_DEBUG
                                                     : FK_LOG_INFO}};
    struct fk_config_text config;
    fk_buf_init(&s.others, 0);
    if (fk_config_text(&fk_cmd_serve, o, &config, &err))
        return fk_cli_fail(&err);
    complete_limits(&o->limits, fk_limit_table, fk_limit_count);
    complete_limits(&o->http, fk_http_limit_table, fk_http_limit_count);
    fk_signals_block(); // before any thread is there
    fk_process_keep_memory();
    (void)fk_process_raise_fds(1 << 16, NULL, NULL);
    begin_self(&s);
    enum fk_originals originals = FK_ORIGINALS_UPLOADS;
    enum fk_auth auth = FK_AUTH_AUTO;
    int r = read_originals(o, &originals, &err);
    if (r == 0)
        r = read_auth(o, &auth, &err);
    if (r == 0)
        r = open_store(&s, &err);
    if (r == 0)
        r = fk_api_new(&(struct fk_api_opts){.store = s.store,
                                             .state = s.state,
                                             .files = s.files,
                                             .limits = o->limits,
                                             .log = &s.log,
                                             .originals = originals,
                                             .host = o->host.v,
                                             .n_hosts = o->host.n,
                                             .auth = auth,
                                             .multitenancy = o->multitenancy,
                                             .config = fk_config_views(&config)},
                       &s.api, &err);
    if (r == 0)
        r = fk_api_refresh(s.api, &err);
    if (r == 0)
        r = open_http(&s, &err);
    if (r == 0) {
        fk_api_set_ready(s.api, true);
        hint_at_access(&s, auth);
        start_self(&s);
        r = run_until_stopped(&s, &err);
    }
    close_parts(&s);
    fk_config_free(&config);
    return r ? fk_cli_fail(&err) : FK_EXIT_OK;
}

#define LIMIT_KIND_bytes FK_OPT_BYTES
#define LIMIT_KIND_count FK_OPT_COUNT
#define LIMIT_KIND_ns    FK_OPT_DURATION
#define LIMIT_ARG_bytes  "SIZE"
#define LIMIT_ARG_count  "N"
#define LIMIT_ARG_ns     "DURATION"
#define LIMIT_ROW(member, flag, value, unit, text)                                                 \
    {flag, LIMIT_ARG_##unit, LIMIT_KIND_##unit, offsetof(struct options, limits.member), text,     \
     NULL},

#define HTTP_LIMIT_ROW(member, flag, value, unit, text)                                            \
    {flag, LIMIT_ARG_##unit, LIMIT_KIND_##unit, offsetof(struct options, http.member), text, NULL},

static const struct fk_option rows[] = {
    {"--data", "DIR", FK_OPT_STR, offsetof(struct options, data), "folder of the data", "./data"},
    {"--listen", "ADDRESS", FK_OPT_STRS, offsetof(struct options, listen), "address and port",
     "127.0.0.1:4040"},
    {"--listen-otlp", "ADDRESS", FK_OPT_STRS, offsetof(struct options, listen_otlp),
     "more addresses, for senders of OpenTelemetry; none: no such port", "ports 4317 and 4318"},
    {"--listen-plain", "ADDRESS", FK_OPT_STRS, offsetof(struct options, listen_plain),
     "address without TLS, beside those with it", NULL},
    {"--tls-cert", "FILE", FK_OPT_STR, offsetof(struct options, tls_cert),
     "certificate (PEM, its chain behind it): all addresses speak TLS; read again on SIGHUP", NULL},
    {"--tls-key", "FILE", FK_OPT_STR, offsetof(struct options, tls_key), "its private key",
     "in the file of --tls-cert"},
    {"--tls-client-ca", "FILE", FK_OPT_STR, offsetof(struct options, tls_client_ca),
     "clients need a certificate signed by one of these", NULL},
    {"--host", "NAME", FK_OPT_STRS, offsetof(struct options, host),
     "name under which browsers reach the server, as behind a proxy", NULL},
    {"--auth", "WHICH", FK_OPT_STR, offsetof(struct options, auth),
     "who is answered: none: everybody; tokens: who has a token; auto: the same once there was one",
     "auto"},
    {"--multitenancy", NULL, FK_OPT_FLAG, offsetof(struct options, multitenancy),
     "keeps tenants apart: every request says in X-Scope-OrgID whose profiles it means", NULL},
    {"--self-profile-tenant", "TENANT", FK_OPT_STR, offsetof(struct options, self_tenant),
     "whose profiles those of the server itself are", "anonymous"},
    {"--min-free", "SIZE", FK_OPT_BYTES, offsetof(struct options, min_free),
     "room that must stay free on the disk", "256MiB or 2 %"},
    {"--retention-age", "DURATION", FK_OPT_DURATION, offsetof(struct options, retention_age),
     "blocks older than this go; -1s: never", "31d"},
    {"--retention-bytes", "SIZE", FK_OPT_BYTES, offsetof(struct options, retention_bytes),
     "blocks beyond this go, the oldest first", "80 % of own and free bytes"},
    {"--originals", "WHICH", FK_OPT_STR, offsetof(struct options, originals),
     "bytes that are also kept as they came: uploads, all or none", "uploads"},
    {"--originals-age", "DURATION", FK_OPT_DURATION, offsetof(struct options, originals_age),
     "how long", "24h"},
    {"--originals-bytes", "SIZE", FK_OPT_BYTES, offsetof(struct options, originals_bytes),
     "and how much of them, the oldest go first", "1GiB"},
    {"--seal-bytes", "SIZE", FK_OPT_BYTES, offsetof(struct options, seal_bytes),
     "packs are sealed into blocks at this size", "64MiB"},
    {"--seal-age", "DURATION", FK_OPT_DURATION, offsetof(struct options, seal_age),
     "or at this age", "10m"},
    {"--workers", "N", FK_OPT_COUNT, offsetof(struct options, workers),
     "threads that decode and query", "twice the processors, at least 8"},
    FK_LIMITS(LIMIT_ROW) FK_HTTP_LIMITS(HTTP_LIMIT_ROW){
        "--quiet", NULL, FK_OPT_FLAG, offsetof(struct options, quiet), "errors only", NULL},
    {"--verbose", NULL, FK_OPT_FLAG, offsetof(struct options, verbose), "everything", NULL},
    {"--no-self-profile", NULL, FK_OPT_FLAG, offsetof(struct options, no_self),
     "does not profile itself into the service flamekeep", NULL},
};
const struct fk_command fk_cmd_serve = {
    "serve", "", "runs the server", NULL, rows, FK_COUNTOF(rows), sizeof(struct options), run};
