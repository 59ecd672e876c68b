// SPDX-License-Identifier: Apache-2.0
// The constants of a JFR chunk: found once by walking its checkpoints from the last to the first,
// kept as places in the bytes, and resolved into the dictionary of the rows when an event asks.
#include "formats/jfr_int.h"

#include <stdio.h>

#define TEXT_DEPTH   6 // constants that name constants
#define BYTES_A_STEP 4 // of text that is put together

// ---- finding them ----

static struct jfr_constant *find(const struct jfr_type *t, uint64_t key)
{
    const struct jfr_pool *p = &t->pool;
    uint64_t h = fk_hash_u64(key);
    for (uint32_t at = fk_map_first(&p->index, h); at != FK_NONE;
         at = fk_map_next(&p->index, h, at))
        if (p->v[fk_map_id(&p->index, at)].key == key)
            return &p->v[fk_map_id(&p->index, at)];
    return NULL;
}

// The one of the newest checkpoint, which is read first, stays.
static int add(struct jfr_chunk *k, struct jfr_type *t, uint64_t key, const uint8_t *at)
{
    struct jfr_pool *p = &t->pool;
    if (find(t, key))
        return 0;
    struct jfr_constant *v = fk_arena_grow(k->arena, p->v, p->n, &p->cap, p->n + 1, sizeof(*v));
    if (!v)
        return -FK_E_NOMEM;
    p->v = v;
    if (p->n >= FK_NONE - 1 || fk_map_add(&p->index, fk_hash_u64(key), (uint32_t)p->n))
        return -FK_E_NOMEM;
    v[p->n++] = (struct jfr_constant){.key = key, .at = at};
    return 0;
}

static int read_pool(struct jfr_chunk *k, struct jfr_type *t, uint64_t n, struct fk_cur *c)
{
    const struct jfr_field whole = {.of = t, .kind = t->kind};
    for (uint64_t i = 0; i < n; i++) {
        uint64_t key;
        if (jfr_integer(k, t->key_kind, c, &key))
            return -FK_E_FORMAT;
        int rc = add(k, t, key, c->p);
        if (!rc)
            rc = jfr_skip(k, &whole, c, 0);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_pools(struct jfr_chunk *k, struct fk_cur *c, uint64_t n)
{
    for (uint64_t i = 0; i < n && c->p < c->end; i++) {
        uint64_t id, count = 0;
        bool bad = k->old ? jfr_u32(k, c, &id) || jfr_u32(k, c, &count)
                          : jfr_u64(k, c, &id) || jfr_u32(k, c, &count);
        struct jfr_type *t = bad ? NULL : jfr_find_type(k, id);
        if (!t)
            return -FK_E_FORMAT;
        int rc = read_pool(k, t, count, c);
        if (rc)
            return rc;
    }
    return 0;
}

// *ret_before: how far back the checkpoint before it lies, 0: it is the first.
static int read_head(const struct jfr_chunk *k, struct fk_cur *c, uint64_t at, uint64_t *ret_before,
                     uint64_t *ret_pools)
{
    uint64_t ignored, before, flags;
    if (k->old) { // the place of the one before it, from the chunk's begin
        if (jfr_u64(k, c, &ignored) || jfr_u64(k, c, &before))
            return -FK_E_FORMAT;
        *ret_before = before && before < at ? at - before : 0;
        *ret_pools = UINT64_MAX; // as many as there are
        return 0;
    }
    if (jfr_u64(k, c, &ignored) || jfr_u64(k, c, &ignored) || jfr_u64(k, c, &before) ||
        jfr_integer(k, JFR_U8, c, &flags) || jfr_u32(k, c, ret_pools))
        return -FK_E_FORMAT;
    *ret_before = 0 - before; // a negative distance
    return 0;
}

// One checkpoint at an offset; *ret_at is that of the one before, 0 none.
static int read_checkpoint(struct jfr_chunk *k, uint64_t at, uint64_t *ret_at)
{
    uint64_t size, type, before, pools;
    struct fk_cur c = {k->begin + at, k->end};
    *ret_at = 0;
    if (jfr_u32(k, &c, &size) || size > (uint64_t)(k->end - k->begin) - at)
        return -FK_E_FORMAT;
    c.end = k->begin + at + size;
    if (c.end < c.p || (k->old ? jfr_u32(k, &c, &type) : jfr_u64(k, &c, &type)) || type != 1 ||
        read_head(k, &c, at, &before, &pools))
        return -FK_E_FORMAT;
    if (before && before < at) // only backwards: a chain that leads anywhere else ends
        *ret_at = at - before;
    return read_pools(k, &c, pools);
}

// Without a chain (a recording that is still written): every checkpoint that lies in the chunk.
static int read_all_checkpoints(struct jfr_chunk *k, uint64_t *broken)
{
    for (const uint8_t *p = k->first_event; p < k->end;) {
        uint64_t size, type, ignored;
        struct fk_cur c = {p, k->end};
        if (jfr_u32(k, &c, &size) || size > (uint64_t)(k->end - p) || jfr_u64(k, &c, &type) ||
            size < (uint64_t)(c.p - p))
            return 0;
        int rc = type == 1 ? read_checkpoint(k, (uint64_t)(p - k->begin), &ignored) : 0;
        if (rc == -FK_E_NOMEM)
            return rc;
        *broken += rc != 0;
        p += size;
    }
    return 0;
}

int jfr_read_constants(struct jfr_chunk *k, struct fk_err *err)
{
    uint64_t at = k->checkpoint_at, broken = 0;
    int rc = 0;
    k->near = fk_arena_zalloc(k->arena, JFR_NEAR * sizeof(*k->near));
    if (!k->near)
        return jfr_nomem(k, err);
    if (at == 0 && !k->old)
        rc = read_all_checkpoints(k, &broken);
    while (at && !rc) {
        if (at >= (uint64_t)(k->end - k->begin)) {
            broken++;
            break;
        }
        rc = read_checkpoint(k, at, &at);
        broken += rc == -FK_E_FORMAT;
        rc = rc == -FK_E_FORMAT ? 0 : rc;
    }
    if (rc)
        return jfr_nomem(k, err);
    fk_report_warn(k->d->report, "JFR checkpoint that could not be read whole", broken,
                   "names and stacks that it holds are missing");
    return 0;
}

void jfr_free_pools(struct jfr_chunk *k)
{
    for (uint32_t i = 0; i < k->n_types; i++)
        fk_map_free(&k->type[i].pool.index);
}

// ---- texts ----

static int intern(struct jfr_chunk *k, struct fk_str s, uint32_t *ret)
{
    *ret = 0;
    return s.n ? fk_dict_string(jfr_rows_dict(k->rows), s, ret) : 0;
}

// What a constant is to its user, made once: also what could not be made is remembered, unless it
// was for lack of memory. depth: of texts within texts.
typedef int make_fn(struct jfr_chunk *k, const struct jfr_type *t, struct jfr_constant *x,
                    uint32_t depth, uint32_t *ret);

static int resolve(struct jfr_chunk *k, const struct jfr_type *t, struct jfr_constant *x,
                   enum jfr_use use, make_fn *make, uint32_t depth, uint32_t *ret)
{
    uint8_t bit = (uint8_t)(1u << use);
    if (x->failed & bit)
        return -FK_E_FORMAT;
    if (!(x->done & bit)) {
        uint32_t id = 0;
        int rc = make(k, t, x, depth, &id);
        if (rc == -FK_E_FORMAT)
            x->failed |= bit;
        if (rc)
            return rc;
        x->done |= bit;
        x->memo[use] = id;
    }
    *ret = x->memo[use];
    return 0;
}

static int text_of(struct jfr_chunk *k, const struct jfr_object *o, enum jfr_slot s, uint32_t depth,
                   uint32_t *ret);

static int text_of_object(struct jfr_chunk *k, const struct jfr_type *t, const uint8_t *at,
                          uint32_t depth, uint32_t *ret)
{
    static const enum jfr_slot slots[] = {JFR_STRING, JFR_NAME};
    struct fk_cur c = {at, k->end};
    struct jfr_object o;
    int rc = jfr_object(k, t, &c, &o);
    if (rc)
        return rc;
    *ret = 0;
    for (size_t i = 0; i < FK_COUNTOF(slots); i++)
        if (jfr_has(&o, slots[i]))
            return text_of(k, &o, slots[i], depth + 1, ret);
    return 0;
}

static int text_at(struct jfr_chunk *k, enum jfr_kind kind, const uint8_t *at, uint32_t depth,
                   uint32_t *ret);

static int make_text(struct jfr_chunk *k, const struct jfr_type *t, struct jfr_constant *x,
                     uint32_t depth, uint32_t *ret)
{
    return t->is_string ? text_at(k, JFR_TEXT, x->at, depth, ret)
                        : text_of_object(k, t, x->at, depth, ret);
}

static int text_of_constant(struct jfr_chunk *k, const struct jfr_type *t, uint64_t key,
                            uint32_t depth, uint32_t *ret)
{
    struct jfr_constant *x = t && depth < TEXT_DEPTH ? find(t, key) : NULL;
    *ret = 0;
    if (!x)
        return 0;
    return resolve(k, t, x, JFR_AS_TEXT, make_text, depth, ret);
}

static const struct jfr_type *string_type(const struct jfr_chunk *k)
{
    for (uint32_t i = 0; i < k->n_types; i++)
        if (k->type[i].is_string)
            return &k->type[i];
    return NULL;
}

static int text_at(struct jfr_chunk *k, enum jfr_kind kind, const uint8_t *at, uint32_t depth,
                   uint32_t *ret)
{
    struct fk_cur c = {at, k->end};
    struct fk_str s;
    uint64_t key;
    int rc = jfr_text(k, kind, &c, &s, &key);
    if (rc)
        return rc;
    return key ? text_of_constant(k, string_type(k), key, depth + 1, ret) : intern(k, s, ret);
}

static int text_of(struct jfr_chunk *k, const struct jfr_object *o, enum jfr_slot s, uint32_t depth,
                   uint32_t *ret)
{
    *ret = 0;
    if (!jfr_has(o, s) || depth >= TEXT_DEPTH)
        return 0;
    const struct jfr_field *f = o->v[s].field;
    if (f->array)
        return 0;
    if (f->reference)
        return text_of_constant(k, f->of, o->v[s].n, depth, ret);
    if (f->kind >= JFR_TEXT)
        return text_at(k, f->kind, o->v[s].at, depth, ret);
    return f->kind == JFR_STRUCT && f->of ? text_of_object(k, f->of, o->v[s].at, depth, ret) : 0;
}

int jfr_text_of(struct jfr_chunk *k, const struct jfr_object *o, enum jfr_slot s, uint32_t *ret)
{
    return text_of(k, o, s, 0, ret);
}

static struct fk_str string_of(const struct jfr_chunk *k, uint32_t id)
{
    struct fk_symbols s;
    fk_dict_view(jfr_rows_dict(k->rows), &s);
    return fk_symbols_string(&s, id);
}

// ---- stacks ----

static int put_function_name(struct jfr_chunk *k, uint32_t class, uint32_t method, bool raw,
                             uint32_t *ret)
{
    FK_AUTO_BUF b;
    struct fk_str first = string_of(k, class ? class : method);
    fk_buf_init(&b, 0);
    if (jfr_spend(k, (first.n + string_of(k, method).n) / BYTES_A_STEP))
        return -FK_E_FORMAT;
    if (raw)
        fk_buf_str(&b, first);
    else
        jfr_put_stable_name(&b, first);
    if (class && method) {
        fk_buf_byte(&b, '.');
        fk_buf_str(&b, string_of(k, method));
    }
    if (b.n == 0)
        fk_buf_cstr(&b, "[unknown]");
    return b.failed ? -FK_E_NOMEM : fk_dict_string(jfr_rows_dict(k->rows), fk_buf_view(&b), ret);
}

static int make_function(struct jfr_chunk *k, uint32_t class, uint32_t method, uint32_t *ret)
{
    struct fk_function f = {0};
    int rc = put_function_name(k, class, method, false, &f.name);
    if (rc == 0)
        rc = put_function_name(k, class, method, true, &f.system_name);
    return rc ? rc : fk_dict_function(jfr_rows_dict(k->rows), &f, ret);
}

static int make_named_function(struct jfr_chunk *k, const struct jfr_type *t,
                               struct jfr_constant *x, uint32_t depth, uint32_t *ret)
{
    (void)depth;
    struct fk_cur c = {x->at, k->end};
    struct jfr_object o;
    uint32_t class = 0, method = 0;
    int rc = jfr_object(k, t, &c, &o);
    if (rc || (rc = jfr_text_of(k, &o, jfr_has(&o, JFR_TYPE) ? JFR_TYPE : JFR_CLASS, &class)) ||
        (rc = jfr_text_of(k, &o, JFR_NAME, &method)))
        return rc;
    return make_function(k, class, method, ret);
}

static int function_of(struct jfr_chunk *k, const struct jfr_object *frame, uint32_t *ret)
{
    const struct jfr_field *f = jfr_has(frame, JFR_METHOD) ? frame->v[JFR_METHOD].field : NULL;
    struct jfr_constant *x =
        f && f->reference && f->of ? find(f->of, frame->v[JFR_METHOD].n) : NULL;
    if (!x)
        return make_function(k, 0, 0, ret);
    return resolve(k, f->of, x, JFR_AS_FUNCTION, make_named_function, 0, ret);
}

static int make_location(struct jfr_chunk *k, const struct jfr_object *frame, uint32_t *ret)
{
    struct fk_location l = {.mapping = FK_NONE, .line_count = 1};
    struct fk_line line = {0};
    int rc = function_of(k, frame, &line.function);
    if (rc)
        return rc;
    int64_t number = (int64_t)jfr_number(frame, JFR_LINE);
    line.line = number > 0 ? number : 0; // -1: native
    return fk_dict_location(jfr_rows_dict(k->rows), &l, &line, ret);
}

static int location_of(struct jfr_chunk *k, const struct jfr_object *frame, uint32_t *ret)
{
    uint64_t method = jfr_number(frame, JFR_METHOD), line = jfr_number(frame, JFR_LINE);
    struct jfr_near *near = &k->near[fk_hash_u64(method * 31 + line) % JFR_NEAR];
    if (near->location == 0 || near->method != method || near->line != line) {
        uint32_t location;
        int rc = make_location(k, frame, &location);
        if (rc)
            return rc;
        *near = (struct jfr_near){method, line, location + 1};
    }
    *ret = near->location - 1;
    return 0;
}

// The frames at a place, leaf first, at most `depth` of them.
static int read_frames(struct jfr_chunk *k, const struct jfr_object *trace, uint32_t *frame,
                       uint64_t depth, uint32_t *ret_n, bool *ret_cut)
{
    const struct jfr_field *f = trace->v[JFR_FRAMES].field;
    struct fk_cur c = {trace->v[JFR_FRAMES].at, k->end};
    uint64_t n;
    if (!f->array || f->reference || !f->of || jfr_u32(k, &c, &n))
        return -FK_E_FORMAT;
    *ret_cut = n > depth;
    *ret_n = (uint32_t)FK_MIN(n, depth);
    for (uint32_t i = 0; i < *ret_n; i++) {
        struct jfr_object o;
        int rc = jfr_object(k, f->of, &c, &o);
        if (!rc)
            rc = location_of(k, &o, &frame[i]);
        if (rc)
            return rc;
    }
    return 0;
}

static int make_stack(struct jfr_chunk *k, const struct jfr_type *t, struct jfr_constant *x,
                      uint32_t unused, uint32_t *ret)
{
    (void)unused;
    struct fk_cur c = {x->at, k->end};
    struct jfr_object o;
    uint64_t depth = FK_MIN(k->d->opts->limits->stack_depth, (uint64_t)UINT32_MAX / 8);
    uint32_t n = 0;
    bool cut = false;
    int rc = jfr_object(k, t, &c, &o);
    if (rc || !jfr_has(&o, JFR_FRAMES))
        return rc ? rc : -FK_E_FORMAT;
    // A frame takes a byte at least.
    size_t room = FK_MIN((size_t)depth, (size_t)(k->end - x->at));
    FK_AUTO_FREE uint32_t *frame = fk_reallocarray(NULL, room + 1, sizeof(*frame));
    if (!frame)
        return -FK_E_NOMEM;
    rc = read_frames(k, &o, frame, room, &n, &cut);
    if (!rc)
        rc = fk_dict_stack(jfr_rows_dict(k->rows), frame, n, ret);
    x->cut = cut;
    x->recorder_cut = jfr_number(&o, JFR_TRUNCATED) != 0;
    return rc;
}

// The type of the same name in the chunk before; NULL: none.
static const struct jfr_type *type_before(struct jfr_chunk *k, const struct jfr_type *t)
{
    const struct jfr_chunk *before = k->before;
    uint32_t *twin = &k->type[t - k->type].twin;
    if (!before)
        return NULL;
    for (uint32_t i = 0; *twin == 0 && i < before->n_types; i++)
        if (fk_str_eq(before->type[i].name, t->name))
            *twin = i + 1;
    if (*twin == 0)
        *twin = FK_NONE;
    return *twin == FK_NONE ? NULL : &before->type[*twin - 1];
}

// The chunk whose constant it is. An event that began before a chunk names a stack that may have
// been written to the one before only; the JDK's own reader looks there as well.
static struct jfr_constant *find_stack(struct jfr_chunk **k, const struct jfr_type **t,
                                       uint64_t key)
{
    struct jfr_constant *x = *t ? find(*t, key) : NULL;
    const struct jfr_type *old = !x && key && *t ? type_before(*k, *t) : NULL;
    if (!old || !(x = find(old, key)))
        return x;
    *t = old;
    *k = (*k)->before;
    return x;
}

int jfr_stack_of(struct jfr_chunk *k, const struct jfr_object *o, uint32_t *ret)
{
    const struct jfr_field *f = jfr_has(o, JFR_STACK_TRACE) ? o->v[JFR_STACK_TRACE].field : NULL;
    const struct jfr_type *t = f && f->reference ? f->of : NULL;
    struct jfr_constant *x = find_stack(&k, &t, t ? o->v[JFR_STACK_TRACE].n : 0);
    if (!x)
        return fk_dict_stack(jfr_rows_dict(k->rows), NULL, 0, ret);
    int rc = resolve(k, t, x, JFR_AS_STACK, make_stack, 0, ret);
    if (rc)
        return rc;
    if (x->cut)
        jfr_rows_truncated(k->rows, false);
    if (x->recorder_cut)
        jfr_rows_truncated(k->rows, true);
    return 0;
}

// ---- threads and classes ----

static int make_thread(struct jfr_chunk *k, const struct jfr_type *t, struct jfr_constant *x,
                       uint32_t depth, uint32_t *ret)
{
    (void)depth;
    static const enum jfr_slot names[] = {JFR_JAVA_NAME, JFR_OS_NAME, JFR_NAME};
    struct fk_cur c = {x->at, k->end};
    struct jfr_object o;
    uint32_t name = 0;
    int rc = jfr_object(k, t, &c, &o);
    for (size_t i = 0; i < FK_COUNTOF(names) && !rc && !name; i++)
        rc = jfr_text_of(k, &o, names[i], &name);
    if (rc)
        return rc;
    uint64_t id = jfr_number(&o, JFR_OS_ID);
    if (k->old)
        id = x->key;
    if (id == 0) // a virtual thread
        id = jfr_number(&o, JFR_JAVA_ID);
    char text[24];
    int n = snprintf(text, sizeof(text), "%lld", (long long)id);
    if (id && intern(k, fk_str_make(text, (size_t)n), &x->thread_id))
        return -FK_E_NOMEM;
    *ret = name;
    return 0;
}

int jfr_thread_of(struct jfr_chunk *k, const struct jfr_object *o, uint32_t *ret_name,
                  uint32_t *ret_id)
{
    const struct jfr_field *f = jfr_has(o, JFR_THREAD) ? o->v[JFR_THREAD].field : NULL;
    struct jfr_constant *x = f && f->reference && f->of ? find(f->of, o->v[JFR_THREAD].n) : NULL;
    *ret_name = *ret_id = 0;
    if (!x)
        return 0;
    int rc = resolve(k, f->of, x, JFR_AS_THREAD, make_thread, 0, ret_name);
    if (rc == 0)
        *ret_id = x->thread_id;
    return rc;
}

static const char *primitive(char c)
{
    switch (c) {
    case 'Z':
        return "boolean";
    case 'B':
        return "byte";
    case 'C':
        return "char";
    case 'S':
        return "short";
    case 'I':
        return "int";
    case 'J':
        return "long";
    case 'F':
        return "float";
    case 'D':
        return "double";
    default:
        return NULL;
    }
}

// "[[Ljava/lang/String;" or "java/lang/String" as source text.
static void put_class(struct fk_buf *b, struct fk_str s)
{
    size_t dimensions = 0;
    while (dimensions < s.n && s.p[dimensions] == '[')
        dimensions++;
    s = fk_str_from(s, dimensions);
    const char *word = s.n == 1 && dimensions ? primitive(s.p[0]) : NULL;
    if (word)
        fk_buf_cstr(b, word);
    else if (s.n > 2 && s.p[0] == 'L' && s.p[s.n - 1] == ';')
        s = fk_str_from(fk_str_head(s, s.n - 1), 1);
    for (size_t i = 0; i < s.n && !word; i++)
        fk_buf_byte(b, (uint8_t)(s.p[i] == '/' ? '.' : s.p[i]));
    for (size_t i = 0; i < dimensions; i++)
        fk_buf_cstr(b, "[]");
}

int jfr_class_of(struct jfr_chunk *k, const struct jfr_object *o, uint32_t *ret)
{
    uint32_t raw;
    int rc = jfr_text_of(k, o, JFR_CLASS, &raw);
    *ret = 0;
    if (rc == 0 && raw)
        rc = jfr_spend(k, string_of(k, raw).n / BYTES_A_STEP); // for each event anew
    if (rc || raw == 0)
        return rc;
    FK_AUTO_BUF b, stable;
    fk_buf_init(&b, 0);
    fk_buf_init(&stable, 0);
    put_class(&b, string_of(k, raw));
    jfr_put_stable_name(&stable, fk_buf_view(&b));
    return b.failed || stable.failed ? -FK_E_NOMEM : intern(k, fk_buf_view(&stable), ret);
}
