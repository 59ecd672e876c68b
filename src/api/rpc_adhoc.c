// SPDX-License-Identifier: Apache-2.0
// adhocprofiles.v1: files that people look at beside the stored profiles. Each is kept as it was
// sent under an id that is a ULID (github.com/ulid/spec) and its name, and read again when it is
// asked for. When there is no room left the oldest go.
#include "api/files_int.h"

#include <stdio.h>
#include <stdlib.h>

#define KIND       "adhoc"
#define ULID_CHARS 26
#define NAME_MAX_  100
#define FILES_MAX  1000

static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

// ---- ids ----

// 48 bits of milliseconds and 80 random ones, five bits a digit.
static int make_ulid(int64_t ms, char to[ULID_CHARS], struct fk_err *err)
{
    uint8_t random[10];
    fk_u128 v = (fk_u128)ms << 80;
    int r = fk_random(random, sizeof(random), err);
    for (size_t i = 0; i < sizeof(random); i++)
        v |= (fk_u128)random[i] << (8 * i);
    for (int i = ULID_CHARS; i-- > 0; v >>= 5)
        to[i] = digits[(unsigned)v & 31];
    return r;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

static int make_id(struct fk_api_call *c, struct fk_str name, struct fk_str *ret,
                   struct fk_err *err)
{
    char text[ULID_CHARS + 1 + NAME_MAX_];
    int r = make_ulid(c->now_ns / FK_NS_PER_MS, text, err);
    if (!name.n)
        name = FK_S("profile");
    name = fk_str_head(name, NAME_MAX_);
    text[ULID_CHARS] = '-';
    for (size_t i = 0; i < name.n; i++)
        text[ULID_CHARS + 1 + i] = is_plain(name.p[i]) ? name.p[i] : '_';
    if (r)
        return r;
    *ret = fk_arena_str(c->arena, fk_str_make(text, ULID_CHARS + 1 + name.n));
    return ret->p ? 0 : fk_fail_nomem(err);
}

// Checks it, since it becomes part of a path.
static int read_id(struct fk_str id, struct rpc_adhoc_entry *ret, struct fk_err *err)
{
    bool good = id.n > ULID_CHARS + 1 && id.n <= ULID_CHARS + 1 + NAME_MAX_ &&
                id.p[ULID_CHARS] == '-' && id.p[0] <= '7';
    int64_t ms = 0;
    for (size_t i = 0; good && i < id.n; i++) {
        const char *at = i < ULID_CHARS && id.p[i] ? strchr(digits, id.p[i]) : NULL;
        good = i < ULID_CHARS ? at != NULL : is_plain(id.p[i]);
        if (good && i < 10)
            ms = ms << 5 | (at - digits);
    }
    if (!good)
        return fk_fail_param(err, "id", "'%.*s' is no id of an ad hoc profile",
                             FK_STR_ARG(fk_str_head(id, 60)));
    *ret = (struct rpc_adhoc_entry){id, fk_str_from(id, ULID_CHARS + 1), ms};
    return 0;
}

// ---- looking at one ----

struct look {
    struct fk_api_call *c;
    struct fk_str want;         // sample type; "" the first
    struct fk_str chosen, unit; // chosen.p NULL: not there
    FK_VEC(struct fk_str) types;
    struct fk_tree *tree; // NULL: only types are wanted
    uint32_t column;
};

static int note_type(struct look *x, struct fk_str name, struct fk_err *err)
{
    for (size_t i = 0; i < x->types.n; i++)
        if (fk_str_eq(x->types.v[i], name))
            return 0;
    struct fk_str copy = fk_arena_str(x->c->arena, name);
    return !copy.p || fk_vec_push(&x->types, copy) ? fk_fail_nomem(err) : 0;
}

static int fold(struct look *x, const struct fk_profile *p, uint32_t type, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    fk_arena_init(&a, (size_t)x->c->api->opts.limits.query_memory);
    int64_t *self = fk_arena_zalloc(&a, FK_MAX((size_t)p->sym.n_stacks, (size_t)1) * sizeof(*self));
    if (!self)
        return fk_fail_nomem(err);
    for (uint64_t row = 0; row < p->n_rows; row++) {
        uint64_t from = p->obs_begin ? p->obs_begin[row] : row,
                 until = p->obs_begin ? p->obs_begin[row + 1] : row + 1;
        for (; from < until; from++)
            self[p->stack[row]] = fk_wrap_add(self[p->stack[row]], p->value[type][from]);
    }
    return fk_tree_fold(x->tree, x->column, &p->sym, self, false, NULL, err);
}

static int on_profile(void *arg, struct fk_entry *entry, struct fk_profile *p, struct fk_err *err)
{
    struct look *x = arg;
    int r = 0;
    (void)entry;
    for (uint32_t k = 0; r == 0 && k < p->n_types; k++) {
        struct fk_str name = p->type[k].type.n ? p->type[k].type : FK_S("unknown");
        r = note_type(x, name, err);
        bool first = !x->chosen.p && !x->want.n;
        if (r == 0 && (first || (!x->chosen.p && fk_str_eq(name, x->want)))) {
            x->chosen = fk_arena_str(x->c->arena, name);
            x->unit = fk_arena_str(x->c->arena, p->type[k].unit);
            r = x->chosen.p && x->unit.p ? 0 : fk_fail_nomem(err);
        }
        if (r == 0 && x->tree && fk_str_eq(name, x->chosen))
            r = fold(x, p, k, err);
    }
    return r;
}

static int look_at(struct look *x, struct fk_str bytes, struct fk_err *err)
{
    FK_AUTO_ARENA a;
    struct fk_report report = {0};
    struct fk_decode_opts o = fk_decode_opts_upload(&x->c->api->opts.limits);
    fk_arena_init(&a, (size_t)x->c->api->opts.limits.decode_memory);
    return fk_decode(FK_FORMAT_UNKNOWN, bytes, &o, &a, (struct fk_each_profile){on_profile, x},
                     &report, err);
}

static int no_such_type(const struct look *x, struct fk_err *err)
{
    return fk_fail_param(err, "profile_type", "there is no sample type '%.*s'; the first is '%.*s'",
                         FK_STR_ARG(fk_str_head(x->want, 60)),
                         FK_STR_ARG(x->types.n ? fk_str_head(x->types.v[0], 60) : FK_S("")));
}

// The document of a tree, as a text.
static int put_document(struct look *x, int64_t max_nodes, struct fk_str *ret, struct fk_err *err)
{
    struct fk_flamebearer f;
    struct fk_buf b;
    int r = fk_rpc_flamegraph(x->c, x->tree, max_nodes, &f, err);
    if (r)
        return r;
    fk_buf_init(&b, 0);
    r = fk_render_flamebearer(&f, x->chosen, x->unit, NULL, fk_out_buf(&b), err);
    return fk_rpc_text(x->c, r, &b, ret, err);
}

static int show(struct fk_api_call *c, const struct rpc_adhoc_entry *e, const struct rpc_adhoc *in,
                struct fk_str bytes, struct fk_err *err)
{
    struct rpc_adhoc_answer out = {.id = e->id, .name = e->name, .uploaded_ms = e->uploaded_ms};
    struct look x = {.c = c, .want = in->profile_type};
    x.tree = fk_tree_new(1, (size_t)c->api->opts.limits.query_memory);
    int r = x.tree ? look_at(&x, bytes, err) : fk_fail_nomem(err);
    if (r == 0 && in->profile_type.n && !x.chosen.p)
        r = no_such_type(&x, err);
    if (r == 0)
        r = put_document(&x, in->max_nodes, &out.flamebearer, err);
    out.profile_type = x.chosen;
    out.types = (struct fk_list){x.types.v, x.types.n};
    if (r == 0)
        r = fk_rpc_answer(c, &rpc_adhoc_answer_type, &out, err);
    fk_tree_free(x.tree);
    fk_vec_free(&x.types);
    return r;
}

static int read_file(struct fk_api_call *c, struct fk_str id, struct rpc_adhoc_entry *e,
                     struct fk_str *ret, struct fk_err *err)
{
    char key[FK_BLOB_KEY_MAX + 1], text[ULID_CHARS + NAME_MAX_ + 2];
    int r = read_id(id, e, err);
    if (r)
        return r;
    snprintf(text, sizeof(text), "%.*s", FK_STR_ARG(id));
    if ((r = fk_files_key(c, key, KIND, text, err)) == 0 &&
        (r = fk_files_read(c, key, ret, err)) == -FK_E_NOTFOUND)
        fk_fail(err, FK_E_NOTFOUND, "no ad hoc profile %s: the oldest go when there are too many",
                text);
    return r;
}

// ---- room ----

static int newest_first(const void *pa, const void *pb)
{
    return fk_str_cmp(((const struct fk_kept_file *)pb)->rest,
                      ((const struct fk_kept_file *)pa)->rest);
}

static int list_files(struct fk_api_call *c, struct fk_kept_files *ret, struct fk_err *err)
{
    int r = fk_files_list(c, KIND, "", ret, err);
    if (r == 0 && ret->v.n)
        qsort(ret->v.v, ret->v.n, sizeof(*ret->v.v), newest_first);
    return r;
}

// Removes the oldest until `more` bytes fit.
static int make_room(struct fk_api_call *c, uint64_t more, struct fk_err *err)
{
    char key[FK_BLOB_KEY_MAX + 1], text[ULID_CHARS + NAME_MAX_ + 2];
    struct fk_kept_files files = {0};
    uint64_t room = c->api->opts.limits.adhoc_bytes, used = more;
    if (more > room)
        return fk_fail_limit(err, "profile", room, FK_LIMIT_FLAG(adhoc_bytes),
                             "the file has %llu bytes", (unsigned long long)more);
    int r = list_files(c, &files, err);
    for (size_t i = 0; r == 0 && i < files.v.n; i++) {
        used += files.v.v[i].size;
        if (used <= room && i + 1 < FILES_MAX)
            continue;
        snprintf(text, sizeof(text), "%.*s", FK_STR_ARG(files.v.v[i].rest));
        if ((r = fk_files_key(c, key, KIND, text, err)) == 0)
            r = fk_blob_remove(c->api->opts.files, key, err);
    }
    fk_vec_free(&files.v);
    return r;
}

// ---- calls ----

static int keep_file(struct fk_api_call *c, struct fk_str id, struct fk_str bytes,
                     struct fk_err *err)
{
    char key[FK_BLOB_KEY_MAX + 1], text[ULID_CHARS + NAME_MAX_ + 2];
    snprintf(text, sizeof(text), "%.*s", FK_STR_ARG(id));
    int r = make_room(c, bytes.n, err);
    if (r == 0)
        r = fk_files_key(c, key, KIND, text, err);
    return r ? r : fk_blob_put(c->api->opts.files, key, bytes, err);
}

int fk_rpc_adhoc_upload(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_adhoc in;
    struct rpc_adhoc_entry e;
    struct look x = {.c = c};
    struct fk_str bytes, id;
    int r = fk_rpc_read(c, &rpc_adhoc_upload_type, &in, err);
    if (r || (r = fk_files_need(c, err)) || (r = fk_rpc_check_nodes(in.max_nodes, err)))
        return r;
    if ((r = fk_base64_decode(in.profile, c->arena, &bytes)))
        return r == -FK_E_NOMEM ? fk_fail_nomem(err)
                                : fk_fail_param(err, "profile", "profile is no base64 text");
    if (!bytes.n)
        return fk_fail_param(err, "profile", "profile is missing: the file as base64 text");
    r = look_at(&x, bytes, err); // only what can be shown is kept
    fk_vec_free(&x.types);
    if (r || (r = make_id(c, in.name, &id, err)) || (r = keep_file(c, id, bytes, err)) ||
        (r = read_id(id, &e, err)))
        return r;
    return show(c, &e, &in, bytes, err);
}

int fk_rpc_adhoc_get(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_adhoc in;
    struct rpc_adhoc_entry e;
    struct fk_str bytes;
    int r = fk_rpc_read(c, &rpc_adhoc_get_type, &in, err);
    if (r || (r = fk_files_need(c, err)) || (r = fk_rpc_check_nodes(in.max_nodes, err)) ||
        (r = read_file(c, in.id, &e, &bytes, err)))
        return r;
    return show(c, &e, &in, bytes, err);
}

int fk_rpc_adhoc_list(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_empty in;
    struct fk_kept_files files = {0};
    int r = fk_rpc_read(c, &rpc_empty_type, &in, err);
    if (r || (r = fk_files_need(c, err)) || (r = list_files(c, &files, err)))
        return r;
    struct rpc_adhoc_entry *v = fk_arena_array(c->arena, files.v.n + 1, sizeof(*v));
    struct rpc_adhoc_list out = {{v, 0}};
    for (size_t i = 0; v && i < files.v.n; i++)
        out.profiles.n += read_id(files.v.v[i].rest, &v[out.profiles.n], NULL) == 0;
    fk_vec_free(&files.v);
    return v ? fk_rpc_answer(c, &rpc_adhoc_list_type, &out, err) : fk_fail_nomem(err);
}

// ---- difference ----

// The types that both have, in the order of the left one; *want becomes one of them.
static int common_types(struct fk_api_call *c, const struct fk_str bytes[2], struct fk_str *want,
                        struct fk_list *ret, struct fk_err *err)
{
    struct look x[2] = {{.c = c}, {.c = c}};
    int r = look_at(&x[0], bytes[0], err);
    if (r == 0)
        r = look_at(&x[1], bytes[1], err);
    struct fk_str *v = r ? NULL : fk_arena_array(c->arena, x[0].types.n + 1, sizeof(*v));
    size_t n = 0;
    bool found = false;
    for (size_t i = 0; v && i < x[0].types.n; i++)
        for (size_t k = 0; k < x[1].types.n; k++)
            if (fk_str_eq(x[0].types.v[i], x[1].types.v[k])) {
                found |= fk_str_eq(x[0].types.v[i], *want);
                v[n++] = x[0].types.v[i];
            }
    fk_vec_free(&x[0].types);
    fk_vec_free(&x[1].types);
    if (r || !v)
        return r ? r : fk_fail_nomem(err);
    if (n == 0 || (want->n && !found))
        return fk_fail_param(err, "profile_type", "the files have no sample type %s%.*s in common",
                             want->n ? "called " : "", FK_STR_ARG(fk_str_head(*want, 60)));
    *want = want->n ? *want : v[0];
    *ret = (struct fk_list){v, n};
    return 0;
}

static int compare(struct fk_api_call *c, const struct fk_str bytes[2], const struct rpc_adhoc *in,
                   struct fk_str type, struct fk_str *ret, struct fk_err *err)
{
    struct look x = {.c = c, .want = type};
    x.tree = fk_tree_new(2, (size_t)c->api->opts.limits.query_memory);
    int r = x.tree ? 0 : fk_fail_nomem(err);
    for (x.column = 0; r == 0 && x.column < 2; x.column++)
        r = look_at(&x, bytes[x.column], err);
    if (r == 0)
        r = put_document(&x, in->max_nodes, ret, err);
    fk_tree_free(x.tree);
    fk_vec_free(&x.types);
    return r;
}

int fk_rpc_adhoc_diff(struct fk_api_call *c, struct fk_err *err)
{
    struct rpc_adhoc in;
    struct rpc_adhoc_entry e;
    struct rpc_adhoc_answer out = {0};
    struct fk_str bytes[2];
    int r = fk_rpc_read(c, &rpc_adhoc_diff_type, &in, err);
    if (r || (r = fk_files_need(c, err)) || (r = fk_rpc_check_nodes(in.max_nodes, err)) ||
        (r = read_file(c, in.left, &e, &bytes[0], err)) ||
        (r = read_file(c, in.right, &e, &bytes[1], err)))
        return r;
    struct fk_str type = in.profile_type;
    if ((r = common_types(c, bytes, &type, &out.types, err)) ||
        (r = compare(c, bytes, &in, type, &out.flamebearer, err)))
        return r;
    return fk_rpc_answer(c, &rpc_adhoc_diff_answer_type, &out, err);
}
