// SPDX-License-Identifier: Apache-2.0
// The sink of routes with `run`: gathers the body in memory, then in an unlinked file, both within
// the server's budgets; in a worker undoes the Content-Encoding and calls the route.
//
// The file is written by workers too: while one writes, the connection is paused.
#include "http/http_int.h"

#include "codec/codec.h"

#define STAGE ((size_t)1 << 20) // bytes of one write to the file

static struct fk_http_ex *ex_of(struct fk_http_res *res)
{
    return res->ex;
}

// Frees the body but for its file, which is returned; for the loop and the worker, whoever has the
// request.
static struct fk_file *release(struct fk_http_ex *ex)
{
    struct fk_http_collect *c = &ex->collect;
    struct fk_http_server *s = ex->loop->server;
    struct fk_file *spool = c->spool;
    atomic_fetch_sub_explicit(&s->memory, c->charged_memory, memory_order_relaxed);
    atomic_fetch_sub_explicit(&s->spool, c->charged_spool, memory_order_relaxed);
    c->charged_memory = c->charged_spool = 0;
    fk_buf_free(&c->body);
    fk_buf_free(&c->stage);
    c->spool = NULL;
    return spool;
}

static void close_job(void *arg)
{
    fk_file_close(arg);
}

void fk_http_collect_free(struct fk_http_ex *ex)
{
    struct fk_http_server *s = ex->loop->server;
    struct fk_file *spool = release(ex);
    atomic_fetch_sub_explicit(&s->memory, ex->collect.charged_head, memory_order_relaxed);
    // Giving back the blocks of a long file takes its time: not the loop's if it can be helped.
    if (spool && fk_pool_submit(s->opts.pool, FK_WORK_INGEST, close_job, spool, NULL))
        fk_file_close(spool);
}

// --- budgets ---
static int charge_memory(struct fk_http_ex *ex, uint64_t n, struct fk_err *err)
{
    struct fk_http_server *s = ex->loop->server;
    if (!fk_http_budget_take(&s->memory, n, s->opts.limits.bodies)) {
        fk_fail_limit(err, "body", s->opts.limits.bodies, FK_HTTP_FLAG(bodies),
                      "too many request bodies are in memory: try again");
        if (err)
            err->code = FK_E_BUSY;
        return -FK_E_BUSY;
    }
    ex->collect.charged_memory += n;
    return 0;
}

static int charge_spool(struct fk_http_ex *ex, uint64_t n, struct fk_err *err)
{
    struct fk_http_server *s = ex->loop->server;
    if (!fk_http_budget_take(&s->spool, n, s->opts.limits.spool)) {
        fk_fail_limit(err, "body", s->opts.limits.spool, FK_HTTP_FLAG(spool),
                      "too many request bodies are on disk: try again");
        if (err)
            err->code = FK_E_BUSY;
        return -FK_E_BUSY;
    }
    ex->collect.charged_spool += n;
    return 0;
}

static void uncharge_memory(struct fk_http_ex *ex)
{
    atomic_fetch_sub_explicit(&ex->loop->server->memory, ex->collect.charged_memory,
                              memory_order_relaxed);
    ex->collect.charged_memory = 0;
}

bool fk_http_ex_charge_head(struct fk_http_ex *ex, struct fk_err *err)
{
    uint64_t had = ex->collect.charged_head, have = ex->head.cap;
    if (have <= 4096 || have == had)
        return true;
    if (charge_memory(ex, have - had, err))
        return false;
    ex->collect.charged_memory -= have - had; // kept apart: it stays until the end
    ex->collect.charged_head = have;
    return true;
}

// --- a store of bytes, first in memory, then in a file; used for both the raw body and the
// decoded one ---
static bool may_spool(const struct fk_http_ex *ex)
{
    return ex->loop->server->opts.spool_folder != NULL;
}

static int open_spool(struct fk_http_ex *ex, struct fk_file **ret, struct fk_err *err)
{
    const struct fk_http_server_opts *o = &ex->loop->server->opts;
    int rc = fk_fs_open_unnamed(o->fs, o->spool_folder, ret, err);
    if (!rc)
        return 0;
    if (err->code == FK_E_NOTFOUND || err->code == FK_E_EXISTS)
        err->code = FK_E_IO; // it is our folder that is missing, not what the client asks for
    return fk_fail_in(err, "the body cannot be kept in %s", o->spool_folder);
}

// Writes the stage behind the file's end. In a worker.
static int write_stage(struct fk_http_ex *ex, struct fk_err *err)
{
    struct fk_http_collect *c = &ex->collect;
    int rc = c->spool ? 0 : open_spool(ex, &c->spool, err);
    if (!rc)
        rc = charge_spool(ex, c->stage.n, err);
    if (!rc && c->stage.n)
        rc = fk_file_write_at(c->spool, c->spooled, c->stage.p, c->stage.n, err);
    if (rc)
        return rc;
    c->spooled += c->stage.n;
    fk_buf_clear(&c->stage);
    if (c->stage.cap > 2 * STAGE) { // the first stage is what was in memory
        fk_buf_free(&c->stage);
        uncharge_memory(ex);
    }
    return 0;
}

// --- decoding, in a worker ---
static int coding_of(struct fk_http_ex *ex, enum fk_zip *ret, struct fk_err *err)
{
    struct fk_str coding[2] = {FK_S("identity"), FK_S("")};
    size_t n = fk_http_req_fields(&ex->req, "Content-Encoding", coding, 2);
    struct fk_str c = coding[0];
    if (n > 1)
        return fk_fail(err, FK_E_UNSUPPORTED, "more than one Content-Encoding");
    if (c.n == 0 || fk_str_eq_nocase(c, FK_S("identity")))
        *ret = FK_ZIP_NONE;
    else if (fk_str_eq_nocase(c, FK_S("gzip")) || fk_str_eq_nocase(c, FK_S("x-gzip")))
        *ret = FK_ZIP_GZIP;
    else if (fk_str_eq_nocase(c, FK_S("deflate")))
        *ret = FK_ZIP_ZLIB; // RFC 9110 §8.4.1.2: with the zlib wrapper
    else if (fk_str_eq_nocase(c, FK_S("zstd")))
        *ret = FK_ZIP_ZSTD;
    else
        return fk_fail(err, FK_E_UNSUPPORTED,
                       "Content-Encoding \"%.*s\" is not known: use gzip, deflate, zstd or none",
                       FK_STR_ARG(fk_str_head(c, 40)));
    return 0;
}

struct decode {
    struct fk_http_ex *ex;
    struct fk_buf out;    // until it is as long as spool_from
    struct fk_file *file; // afterwards
    uint64_t written;
};

static int decode_flush(struct decode *d, struct fk_err *err)
{
    int rc = d->file ? 0 : open_spool(d->ex, &d->file, err);
    if (!rc)
        rc = charge_spool(d->ex, d->out.n, err);
    if (!rc)
        rc = fk_file_write_at(d->file, d->written, d->out.p, d->out.n, err);
    if (rc)
        return rc;
    d->written += d->out.n;
    fk_buf_clear(&d->out);
    return 0;
}

static int decode_write(void *arg, const void *p, size_t n, struct fk_err *err)
{
    struct decode *d = arg;
    struct fk_http_ex *ex = d->ex;
    uint64_t most = d->file ? STAGE : ex->loop->server->opts.limits.spool_from;
    int rc = fk_cancel_check(&ex->cancel, err);
    if (!rc && may_spool(ex) && d->out.n + n > most)
        rc = decode_flush(d, err);
    if (!rc && d->out.n + n > d->out.cap) { // charged by capacity, as it grows
        size_t cap = FK_MAX(d->out.cap * 2, (size_t)256 << 10), was = d->out.cap;
        cap = FK_MAX(cap, d->out.n + n);
        rc = charge_memory(ex, cap - was, err);
        if (!rc && !fk_buf_reserve(&d->out, cap - d->out.n))
            rc = fk_fail_nomem(err);
    }
    if (rc)
        return rc;
    fk_buf_put(&d->out, p, n);
    return fk_buf_check(&d->out, "body", err);
}

// The decoded bytes replace the raw ones.
static int decode_finish(struct decode *d, struct fk_err *err)
{
    struct fk_http_collect *c = &d->ex->collect;
    int rc = d->file && d->out.n ? decode_flush(d, err) : 0;
    if (rc)
        return rc;
    fk_buf_free(&c->body);
    fk_file_close(c->spool);
    c->spool = d->file;
    c->spooled = d->written;
    if (!d->file)
        c->body = d->out;
    else
        fk_buf_free(&d->out);
    d->file = NULL;
    fk_buf_init(&d->out, 0);
    return 0;
}

static int raw_body(struct fk_http_collect *c, struct fk_str *ret, struct fk_err *err)
{
    const uint8_t *p = NULL;
    size_t n = 0;
    if (!c->spool) {
        *ret = fk_buf_view(&c->body);
        return 0;
    }
    int rc = fk_file_map(c->spool, &p, &n, err);
    if (!rc)
        *ret = fk_str_make(p, n);
    return rc;
}

// Small bodies at once into the arena, which is faster: 1 done, 0 to be streamed.
static int decode_at_once(struct fk_http_ex *ex, enum fk_zip kind, struct fk_str raw,
                          const struct fk_size_limit *limit, struct fk_err *err)
{
    uint64_t most = FK_MIN(ex->loop->server->opts.limits.request_memory / 4, (uint64_t)4 << 20);
    struct fk_size_limit small = {FK_MIN(most, limit->bytes), limit->flag, limit->what};
    const uint8_t *p = (const uint8_t *)raw.p;
    struct fk_inflated out;
    if (raw.n > most || fk_zip_detect(p, raw.n) != kind)
        return 0;
    int rc = fk_inflate(p, raw.n, &small, &ex->arena, &out, err);
    if (rc == -FK_E_LIMIT && small.bytes < limit->bytes)
        return 0;
    if (!rc)
        rc = charge_memory(ex, out.bytes.n, err);
    if (rc)
        return rc;
    ex->req.body = out.bytes;
    return 1;
}

static int decode_stream(struct fk_http_ex *ex, enum fk_zip kind, struct fk_str raw,
                         const struct fk_size_limit *limit, struct fk_err *err)
{
    struct decode d = {.ex = ex};
    fk_buf_init(&d.out, 0);
    struct fk_inflater *z = fk_inflater_new(kind, limit);
    int rc = z ? 0 : fk_fail_nomem(err);
    for (size_t at = 0; !rc && at < raw.n;) { // in pieces, so that a cancelled one stops
        size_t n = FK_MIN(raw.n - at, (size_t)256 << 10);
        rc = fk_inflater_feed(z, (const uint8_t *)raw.p + at, n, (struct fk_out){decode_write, &d},
                              err);
        at += n;
    }
    if (!rc)
        rc = fk_inflater_end(z, NULL, NULL, err);
    if (!rc)
        rc = decode_finish(&d, err);
    fk_inflater_free(z);
    fk_buf_free(&d.out);
    fk_file_close(d.file);
    return rc;
}

static int decode_body(struct fk_http_ex *ex, struct fk_err *err)
{
    const struct fk_http_route *r = ex->req.route;
    struct fk_size_limit limit = {r->decoded_max ? r->decoded_max : r->body_max,
                                  r->decoded_max ? r->decoded_flag : r->body_flag, "the body"};
    enum fk_zip kind = FK_ZIP_NONE;
    int rc = r->keep_encoding || !ex->req.wire_body ? 0 : coding_of(ex, &kind, err);
    if (rc)
        return rc;
    struct fk_str raw;
    rc = raw_body(&ex->collect, &raw, err);
    if (!rc && kind != FK_ZIP_NONE) {
        rc = decode_at_once(ex, kind, raw, &limit, err);
        if (rc)
            return rc < 0 ? rc : 0;
        rc = decode_stream(ex, kind, raw, &limit, err);
    }
    if (!rc)
        rc = raw_body(&ex->collect, &ex->req.body, err);
    if (!rc)
        ex->req.spooled = ex->collect.spool != NULL;
    return rc;
}

// --- in a worker ---
static void run_route(struct fk_http_ex *ex)
{
    struct fk_err err = {0};
    int rc = ex->collect.stage.n ? write_stage(ex, &err) : 0;
    if (!rc)
        rc = decode_body(ex, &err);
    if (!rc)
        rc = fk_cancel_check(&ex->cancel, &err); // waited too long for a worker
    if (rc)
        fk_http_res_fail(&ex->res, 0, &err);
    else
        ex->req.route->run(ex->req.route->arg, &ex->req, &ex->res);
    fk_file_close(release(ex)); // the answer may be long on its way
    ex->run_ns = fk_clock_mono(fk_clock_real()) - ex->run_from_ns;
    fk_http_res_end(&ex->res);
}

static void run_job(void *arg)
{
    run_route(arg);
}

static void write_job(void *arg)
{
    struct fk_http_ex *ex = arg;
    ex->collect.write_failed = write_stage(ex, &ex->collect.err) != 0;
    fk_http_req_resume(&ex->req); // the loop reads `collect` after this
}

// --- on the loop ---
static void refuse(struct fk_http_ex *ex, const struct fk_err *err)
{
    fk_http_res_fail(&ex->res, 0, err);
    fk_http_res_end(&ex->res);
}

static void collect_headers(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    struct fk_http_ex *ex = ex_of(res);
    const struct fk_http_limits *l = &ex->loop->server->opts.limits;
    struct fk_err err;
    enum fk_zip kind;
    if (ex->has_body && !req->route->keep_encoding && coding_of(ex, &kind, &err)) {
        fk_http_res_set(res, "Accept-Encoding", FK_S("gzip, deflate, zstd"));
        refuse(ex, &err);
        return;
    }
    // Known to be too much for now: better said before the body than in its midst.
    uint64_t used = atomic_load_explicit(&ex->loop->server->memory, memory_order_relaxed);
    uint64_t n = ex->content_length > 0 ? (uint64_t)ex->content_length : 0;
    if ((n <= l->spool_from || !may_spool(ex)) && n && used + n > l->bodies) {
        if (charge_memory(ex, n, &err)) {
            refuse(ex, &err);
            return;
        }
        uncharge_memory(ex);
    }
}

// To the file from now on: what is in memory is its first stage.
static void start_spool(struct fk_http_collect *c)
{
    c->stage = c->body;
    fk_buf_init(&c->body, 0);
}

static enum fk_http_more stage_body(struct fk_http_ex *ex)
{
    struct fk_http_collect *c = &ex->collect;
    struct fk_err err;
    if (c->stage.n < STAGE)
        return FK_HTTP_MORE;
    c->busy = true;
    if (fk_pool_submit(ex->loop->server->opts.pool, FK_WORK_INGEST, write_job, ex, &err)) {
        c->busy = false;
        refuse(ex, &err);
        return FK_HTTP_MORE;
    }
    return FK_HTTP_PAUSE;
}

static int append(struct fk_http_ex *ex, struct fk_buf *b, const uint8_t *p, size_t n,
                  struct fk_err *err)
{
    if (b->n + n > b->cap) {
        size_t cap = FK_MAX(b->n + n, b->cap * 2), was = b->cap;
        uint64_t length = ex->content_length > 0 ? (uint64_t)ex->content_length : 0;
        if (length >= b->n + n && length < cap)
            cap = (size_t)length;
        if (b == &ex->collect.stage) // written away as soon as it is that long
            cap = FK_MAX(b->n + n, FK_MIN(cap, STAGE + FK_HTTP_READ));
        int rc = charge_memory(ex, cap - was, err);
        if (rc)
            return rc;
        if (!fk_buf_reserve(b, cap - b->n))
            return fk_fail_nomem(err);
    }
    fk_buf_put(b, p, n);
    return 0;
}

static enum fk_http_more collect_body(void *arg, struct fk_http_req *req, struct fk_http_res *res,
                                      const uint8_t *p, size_t n)
{
    (void)arg;
    (void)req;
    struct fk_http_ex *ex = ex_of(res);
    struct fk_http_collect *c = &ex->collect;
    struct fk_err err;
    uint64_t from = ex->loop->server->opts.limits.spool_from;
    bool spooling = c->spool || c->stage.n;
    if (!spooling && may_spool(ex) && c->body.n + n > from) {
        start_spool(c);
        spooling = true;
    }
    if (append(ex, spooling ? &c->stage : &c->body, p, n, &err)) {
        refuse(ex, &err);
        return FK_HTTP_MORE;
    }
    return spooling ? stage_body(ex) : FK_HTTP_MORE;
}

// Everything is here: hands it to a worker, or runs it at once.
static void start_run(struct fk_http_ex *ex)
{
    const struct fk_http_route *r = ex->req.route;
    struct fk_err err;
    ex->run_from_ns = fk_clock_mono(fk_clock_real());
    ex->collect.busy = true;
    // Patience that is over already: a quick worker would be done before the loop's timer.
    if (fk_http_ex_deadline(ex) <= ex->run_from_ns)
        fk_cancel_set(&ex->cancel, FK_E_TIMEOUT);
    if (r->on_loop && !ex->collect.stage.n && !ex->collect.spool)
        run_route(ex);
    else if (fk_pool_submit(ex->loop->server->opts.pool, r->cls, run_job, ex, &err))
        refuse(ex, &err);
}

static void collect_complete(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    (void)req;
    struct fk_http_ex *ex = ex_of(res);
    ex->collect.complete = true;
    if (!ex->collect.busy)
        start_run(ex);
}

static void collect_abort(void *arg, struct fk_http_req *req, struct fk_http_res *res)
{
    (void)arg;
    (void)req;
    struct fk_http_ex *ex = ex_of(res);
    ex->collect.lost = true;
    if (!ex->collect.busy)
        fk_http_res_end(res); // else the worker ends it, or fk_http_collect_resumed
}

void fk_http_collect_resumed(struct fk_http_ex *ex)
{
    struct fk_http_collect *c = &ex->collect;
    c->busy = false;
    if (c->lost)
        fk_http_res_end(&ex->res);
    else if (c->write_failed)
        refuse(ex, &c->err);
}

const struct fk_http_sink fk_http_collect_sink = {collect_headers, collect_body, collect_complete,
                                                  collect_abort, NULL};
