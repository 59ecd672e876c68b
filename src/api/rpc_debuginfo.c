// SPDX-License-Identifier: Apache-2.0
// debuginfo.v1alpha1: programs' symbol files, sent by agents. A file passes through three states,
// each a name of its own below its build id, so that a crash at any point leaves one of them:
//   <build id>/<begun, ms>/begun       what was said of it (FileMetadata)
//   <build id>/<begun, ms>/data        its bytes
//   <build id>/<begun, ms>/done-<ms>   the sender says that it is whole
#include "api/files_int.h"

#include <stdio.h>
#include <stdlib.h>

#define KIND     "debuginfo"
#define STALE_MS ((int64_t)7 * 60 * 1000) // an upload may take five minutes, and two more
#define ID_MAX   40
#define FILES    30000 // of a tenant; three make one symbol file

enum { TYPE_FULL = 1, TYPE_NO_TEXT = 2, STATE_UPLOADING = 0, STATE_UPLOADED = 1 };

struct object {
    char id[ID_MAX + 1];
    int64_t begun_ms, done_ms; // done_ms 0: not yet
    uint64_t size;
    bool has_data;
};

// ---- names ----

static int read_build_id(struct fk_str s, char to[ID_MAX + 1], struct fk_err *err)
{
    if (s.n < 2 || s.n > ID_MAX || !fk_str_is_hex(s))
        return fk_fail_param(err, "gnu_build_id",
                             "gnu_build_id must be 2 to 40 hex digits, not '%.*s'",
                             FK_STR_ARG(fk_str_head(s, 60)));
    for (size_t i = 0; i < s.n; i++)
        to[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'F' ? s.p[i] - 'A' + 'a' : s.p[i]);
    to[s.n] = 0;
    return 0;
}

static int part_key(const struct fk_api_call *c, const struct object *o, const char *part,
                    char *key, struct fk_err *err)
{
    char rest[ID_MAX + 100];
    snprintf(rest, sizeof(rest), "%s/%lld/%s", o->id, (long long)o->begun_ms, part);
    return fk_files_key(c, key, KIND, rest, err);
}

static int by_name(const void *pa, const void *pb)
{
    return fk_str_cmp(((const struct fk_kept_file *)pa)->rest,
                      ((const struct fk_kept_file *)pb)->rest);
}

// Adds what one name says to the object it belongs to, which is the last one if it is there: names
// come in order. Of several uploads the latest counts.
static int note(struct object *v, size_t *n, const struct fk_kept_file *f)
{
    struct fk_str rest = f->rest, id, begun, part = FK_S("");
    struct object x = {0};
    if (!fk_str_split(&rest, '/', &id) || !fk_str_split(&rest, '/', &begun) ||
        !fk_str_split(&rest, '/', &part) || read_build_id(id, x.id, NULL) ||
        fk_str_to_i64(begun, &x.begun_ms))
        return 0;
    size_t at = *n && strcmp(v[*n - 1].id, x.id) == 0 ? *n - 1 : *n;
    if (at == *n)
        v[(*n)++] = x;
    if (v[at].begun_ms > x.begun_ms)
        return 0;
    if (v[at].begun_ms < x.begun_ms)
        v[at] = x;
    if (fk_str_eq(part, FK_S("data"))) {
        v[at].has_data = true;
        v[at].size = f->size;
    } else if (fk_str_starts(part, FK_S("done-"))) {
        return fk_str_to_i64(fk_str_from(part, 5), &v[at].done_ms);
    }
    return 0;
}

// All objects of the tenant, or the one of a build id; in the call's arena.
static int find(struct fk_api_call *c, const char *id, struct object **ret, size_t *ret_n,
                struct fk_err *err)
{
    char prefix[ID_MAX + 2];
    struct fk_kept_files files = {0};
    size_t n = 0;
    snprintf(prefix, sizeof(prefix), "%s%s", id, *id ? "/" : "");
    int r = fk_files_list(c, KIND, prefix, &files, err);
    struct object *v = r ? NULL : fk_arena_array(c->arena, files.v.n + 1, sizeof(*v));
    if (v && files.v.n)
        qsort(files.v.v, files.v.n, sizeof(*files.v.v), by_name);
    for (size_t i = 0; v && i < files.v.n; i++)
        note(v, &n, &files.v.v[i]);
    fk_vec_free(&files.v);
    if (r || !v)
        return r ? r : fk_fail_nomem(err);
    *ret = v;
    *ret_n = n;
    return 0;
}

static int remove_all(struct fk_api_call *c, const char *id, struct fk_err *err)
{
    char key[FK_BLOB_KEY_MAX + 1], text[ID_MAX + 100];
    struct fk_kept_files files = {0};
    snprintf(text, sizeof(text), "%s/", id);
    int r = fk_files_list(c, KIND, text, &files, err);
    for (size_t i = 0; r == 0 && i < files.v.n; i++) {
        snprintf(text, sizeof(text), "%.*s", FK_STR_ARG(fk_str_head(files.v.v[i].rest, 130)));
        if ((r = fk_files_key(c, key, KIND, text, err)) == 0)
            r = fk_blob_remove(c->api->opts.files, key, err);
    }
    fk_vec_free(&files.v);
    return r;
}

// ---- beginning ----

static int verdict(struct fk_api_call *c, bool upload, const char *reason, struct fk_err *err)
{
    struct rpc_debug_verdict out = {upload, fk_str_of(reason)};
    return fk_rpc_answer(c, &rpc_debug_verdict_type, &out, err);
}

static int begin(struct fk_api_call *c, const char *id, const struct rpc_debug_file *file,
                 struct fk_err *err)
{
    struct object o = {.begun_ms = c->now_ns / FK_NS_PER_MS};
    char key[FK_BLOB_KEY_MAX + 1];
    struct fk_buf text;
    snprintf(o.id, sizeof(o.id), "%s", id);
    int r = remove_all(c, id, err); // of an upload that came to nothing
    if (r || (r = part_key(c, &o, "begun", key, err)))
        return r;
    fk_buf_init(&text, 0);
    fk_msg_encode(&rpc_debug_file_type, file, &text);
    if ((r = fk_buf_check(&text, "metadata", err)) == 0)
        r = fk_blob_put(c->api->opts.files, key, fk_buf_view(&text), err);
    fk_buf_free(&text);
    return r ? r : verdict(c, true, "the file is not here yet", err);
}

static int is_room(struct fk_api_call *c, bool *ret, struct fk_err *err)
{
    struct fk_kept_files files = {0};
    uint64_t used = 0;
    int r = fk_files_list(c, KIND, "", &files, err);
    for (size_t i = 0; r == 0 && i < files.v.n; i++)
        used += files.v.v[i].size;
    *ret = used < c->api->opts.limits.debuginfo_bytes && files.v.n < FILES;
    fk_vec_free(&files.v);
    return r;
}

// Uploads that nobody has finished in time, of any file.
static int remove_stale(struct fk_api_call *c, struct fk_err *err)
{
    struct object *o;
    size_t n = 0;
    int r = find(c, "", &o, &n, err);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (!o[i].done_ms && c->now_ns / FK_NS_PER_MS - o[i].begun_ms >= STALE_MS)
            r = remove_all(c, o[i].id, err);
    return r;
}

static int judge(struct fk_api_call *c, const char *id, const struct rpc_debug_file *file,
                 struct fk_err *err)
{
    struct object *o;
    size_t n;
    bool room;
    int r = find(c, id, &o, &n, err);
    if (r || (r = is_room(c, &room, err)))
        return r;
    if (!room && ((r = remove_stale(c, err)) || (r = is_room(c, &room, err))))
        return r;
    if (n && o->done_ms)
        return verdict(c, false, "the file is here already", err);
    if (n && c->now_ns / FK_NS_PER_MS - o->begun_ms < STALE_MS)
        return verdict(c, false, "the file is being uploaded", err);
    if (!room)
        return verdict(c, false,
                       "no room is left for debug files (--limit-debuginfo); DeleteDebuginfo "
                       "makes some",
                       err);
    return begin(c, id, file, err);
}

int fk_rpc_debug_ask(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_debug_ask in;
    char id[ID_MAX + 1];
    int r = fk_rpc_read(c, &rpc_debug_ask_type, &in, err);
    if (r)
        return r;
    if (!c->api->opts.files)
        return verdict(c, false, "debug files are not kept here", err);
    if (!in.file || !in.file->gnu_id.n)
        return verdict(c, false, "the file has no build id", err);
    if ((r = read_build_id(in.file->gnu_id, id, err)))
        return r;
    if (in.file->type != TYPE_FULL && in.file->type != TYPE_NO_TEXT)
        return fk_fail_param(err, "type",
                             "type must be TYPE_EXECUTABLE_FULL or TYPE_EXECUTABLE_NO_TEXT");
    return judge(c, id, in.file, err);
}

// ---- bytes ----

static int keep_data(struct fk_api_call *c, const struct object *o, struct fk_err *err)
{
    char key[FK_BLOB_KEY_MAX + 1];
    bool room;
    int r = is_room(c, &room, err); // many may have begun while there was some
    if (r == 0 && !room && !o->has_data)
        r = fk_fail_limit(err, "body", c->api->opts.limits.debuginfo_bytes,
                          FK_LIMIT_FLAG(debuginfo_bytes),
                          "no room is left for debug files; DeleteDebuginfo makes some");
    if (r == 0)
        r = part_key(c, o, "data", key, err);
    if (r == 0 && !o->has_data) // the same again is fine
        r = fk_blob_put(c->api->opts.files, key, c->request, err);
    c->type = "text/plain; charset=utf-8";
    return r;
}

int fk_api_debug_upload(struct fk_api_call *c, struct fk_err *err)
{
    struct object *o;
    char id[ID_MAX + 1];
    size_t n;
    int r = fk_files_need(c, err);
    if (r || (r = read_build_id(c->path_param, id, err)) || (r = find(c, id, &o, &n, err)))
        return r;
    if (n == 0 || o->done_ms) {
        c->fail_status = 412;
        return fk_fail(err, FK_E_INVALID,
                       "no upload of %s was begun: call ShouldInitiateUpload first", id);
    }
    if (!fk_str_starts(c->request, fk_str_make("\177ELF", 4)))
        return fk_fail(err, FK_E_FORMAT, "the body is no ELF file");
    return keep_data(c, o, err);
}

int fk_rpc_debug_finished(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_debug_id in;
    struct rpc_empty out = {0};
    struct object *o;
    char id[ID_MAX + 1], part[40], key[FK_BLOB_KEY_MAX + 1];
    size_t n;
    int r = fk_rpc_read(c, &rpc_debug_id_type, &in, err);
    if (r || (r = fk_files_need(c, err)) || (r = read_build_id(in.gnu_id, id, err)) ||
        (r = find(c, id, &o, &n, err)))
        return r;
    if (n == 0)
        return fk_fail(err, FK_E_NOTFOUND, "no upload of %s was begun", id);
    if (!o->has_data || o->done_ms)
        return fk_rpc_fail_as(c, FK_RPC_FAILED_PRECONDITION, err, "%s %s", id,
                              o->done_ms ? "is uploaded already" : "has no bytes yet");
    snprintf(part, sizeof(part), "done-%lld", (long long)(c->now_ns / FK_NS_PER_MS));
    if ((r = part_key(c, o, part, key, err)) == 0)
        r = fk_blob_put(c->api->opts.files, key, FK_S("done"), err);
    return r ? r : fk_rpc_answer(c, &rpc_empty_type, &out, err);
}

// ---- what there is ----

static int by_id(const void *pa, const void *pb)
{
    return strcmp(((const struct object *)pa)->id, ((const struct object *)pb)->id);
}

static int describe(struct fk_api_call *c, const struct object *o, struct rpc_debug_object *to,
                    struct fk_err *err)
{
    struct rpc_debug_file *file = fk_arena_zalloc(c->arena, sizeof(*file));
    char key[FK_BLOB_KEY_MAX + 1];
    struct fk_str text = {NULL, 0};
    if (!file)
        return fk_fail_nomem(err);
    int r = part_key(c, o, "begun", key, err);
    if (r == 0)
        r = fk_files_read(c, key, &text, err);
    if (r == 0)
        r = fk_msg_decode(&rpc_debug_file_type, text, c->arena, file, err);
    *to = (struct rpc_debug_object){.file = file,
                                    .state = o->done_ms ? STATE_UPLOADED : STATE_UPLOADING,
                                    .size = (int64_t)o->size,
                                    .started_ns = o->begun_ms * FK_NS_PER_MS,
                                    .finished_ns = o->done_ms * FK_NS_PER_MS};
    return r;
}

int fk_rpc_debug_list(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_empty in;
    struct rpc_debug_list out = {0};
    struct object *o = NULL;
    size_t n = 0;
    int r = fk_rpc_read(c, &rpc_empty_type, &in, err);
    if (r || (r = fk_files_need(c, err)) || (r = find(c, "", &o, &n, err)))
        return r;
    struct rpc_debug_object *v = fk_arena_array(c->arena, n + 1, sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    if (n)
        qsort(o, n, sizeof(*o), by_id);
    out.objects.v = v;
    for (size_t i = 0; r == 0 && i < n; i++) {
        r = describe(c, &o[i], &v[out.objects.n], err);
        out.objects.n += r == 0;
        r = r == -FK_E_NOTFOUND ? 0 : r; // gone meanwhile
    }
    return r ? r : fk_rpc_answer(c, &rpc_debug_list_type, &out, err);
}

int fk_rpc_debug_delete(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_debug_id in;
    struct rpc_empty out = {0};
    char id[ID_MAX + 1];
    int r = fk_rpc_read(c, &rpc_debug_id_type, &in, err);
    if (r || (r = fk_files_need(c, err)) || (r = read_build_id(in.gnu_id, id, err)) ||
        (r = remove_all(c, id, err)))
        return r;
    return fk_rpc_answer(c, &rpc_empty_type, &out, err);
}
