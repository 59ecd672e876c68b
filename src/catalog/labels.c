// SPDX-License-Identifier: Apache-2.0
// Series and sample attributes by day.
//
// A label set is kept as u16 count, then of each label u32 length and bytes of name and value,
// little-endian.
#include "catalog/sql_int.h"

#include <stdlib.h>

// --- write ---
static int encode_labels(struct fk_buf *b, const struct fk_catalog_series *s, struct fk_err *err)
{
    if (s->labels_n > UINT16_MAX)
        return fk_fail_limit(err, "labels", UINT16_MAX, NULL, "a series has %zu labels",
                             s->labels_n);
    fk_buf_clear(b);
    fk_buf_le16(b, (uint16_t)s->labels_n);
    for (size_t i = 0; i < s->labels_n; i++) {
        fk_buf_le32(b, (uint32_t)s->labels[i].name.n);
        fk_buf_str(b, s->labels[i].name);
        fk_buf_le32(b, (uint32_t)s->labels[i].value.n);
        fk_buf_str(b, s->labels[i].value);
    }
    return fk_buf_check(b, "labels of a series", err);
}

int catalog_add_series(struct fk_catalog *c, const struct fk_catalog_add *add, struct fk_err *err)
{
    FK_AUTO_BUF labels;
    fk_buf_init(&labels, 64u << 20);
    int r = 0;
    for (size_t i = 0; r == 0 && i < add->series_n; i++) {
        const struct fk_catalog_series *s = &add->series[i];
        r = encode_labels(&labels, s, err);
        if (r == 0)
            r = catalog_exec(c, SQL_SERIES_ADD, err, "sisis", add->block.tenant, (int64_t)s->day,
                             s->service, (int64_t)s->hash, fk_buf_view(&labels));
    }
    return r;
}

// How many values an attribute has already, and whether it was given up.
struct attr_group {
    const struct fk_catalog_attr *of; // one of them, NULL: none yet
    int64_t values;
    bool capped;
};

static bool same_group(const struct fk_catalog_attr *a, const struct fk_catalog_attr *b)
{
    return a->day == b->day && fk_str_eq(a->service, b->service) && fk_str_eq(a->name, b->name);
}

static int load_group(struct fk_catalog *c, struct fk_str tenant, const struct fk_catalog_attr *a,
                      struct attr_group *ret, struct fk_err *err)
{
    struct db_stmt *s;
    bool row = false;
    int r = catalog_start(c, SQL_ATTR_COUNT, &s, err, "siss", tenant, (int64_t)a->day, a->service,
                          a->name);
    if (r)
        return r;
    r = c->db->ops->step(s, &row, err);
    if (r == 0)
        *ret = (struct attr_group){a, c->db->ops->i64(s, 0), c->db->ops->i64(s, 1) != 0};
    c->db->ops->reset(s);
    return r;
}

static int insert_attr(struct fk_catalog *c, struct fk_str tenant, const struct fk_catalog_attr *a,
                       bool capped, struct fk_err *err)
{
    return catalog_exec(c, SQL_ATTR_ADD, err, "sisssi", tenant, (int64_t)a->day, a->service,
                        a->name, capped ? FK_S("") : a->value, (int64_t)capped);
}

// Of an attribute with too many values only the name stays.
static int cap_group(struct fk_catalog *c, struct fk_str tenant, struct attr_group *g,
                     struct fk_err *err)
{
    int r = catalog_exec(c, SQL_ATTR_CLEAR, err, "siss", tenant, (int64_t)g->of->day,
                         g->of->service, g->of->name);
    if (r == 0)
        r = insert_attr(c, tenant, g->of, true, err);
    if (r == 0)
        g->capped = true;
    return r;
}

static int add_attr(struct fk_catalog *c, struct fk_str tenant, const struct fk_catalog_attr *a,
                    struct attr_group *g, struct fk_err *err)
{
    int r = 0;
    if (!g->of || !same_group(g->of, a))
        r = load_group(c, tenant, a, g, err);
    if (r || g->capped)
        return r;
    if (a->capped)
        return cap_group(c, tenant, g, err);
    r = insert_attr(c, tenant, a, false, err);
    if (r == 0)
        g->values += c->db->ops->changed(c->db);
    if (r == 0 && g->values > FK_CATALOG_ATTR_VALUES)
        r = cap_group(c, tenant, g, err);
    return r;
}

int catalog_add_attrs(struct fk_catalog *c, const struct fk_catalog_add *add, struct fk_err *err)
{
    struct attr_group group = {0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < add->attrs_n; i++)
        r = add_attr(c, add->block.tenant, &add->attrs[i], &group, err);
    return r;
}

// --- read series ---
static bool take_text(struct fk_str *rest, struct fk_str *ret)
{
    if (rest->n < 4 || fk_load32(rest->p) > rest->n - 4)
        return false;
    *ret = fk_str_make(rest->p + 4, fk_load32(rest->p));
    *rest = fk_str_from(*rest, 4 + ret->n);
    return true;
}

typedef FK_VEC(struct fk_catalog_label) label_vec;

static int decode_labels(struct fk_catalog *c, struct fk_str bytes, label_vec *ret,
                         struct fk_err *err)
{
    bool good = bytes.n >= 2;
    size_t n = good ? fk_load16(bytes.p) : 0;
    struct fk_str rest = fk_str_from(bytes, 2);
    ret->n = 0;
    if (fk_vec_reserve(ret, n))
        return fk_fail_nomem(err);
    for (size_t i = 0; good && i < n; i++) {
        struct fk_catalog_label l;
        good = take_text(&rest, &l.name) && take_text(&rest, &l.value);
        if (good)
            ret->v[ret->n++] = l;
    }
    return good && rest.n == 0 ? 0 : catalog_bad_row(c, "series_day", err);
}

// Which (service, hash) were shown already.
struct seen {
    struct fk_map map;
    FK_VEC(uint64_t) key;
};

static void seen_free(struct seen *s)
{
    fk_map_free(&s->map);
    fk_vec_free(&s->key);
}

// 1 new, 0 seen, negative no memory.
static int seen_add(struct seen *s, uint64_t key, struct fk_err *err)
{
    uint64_t h = fk_hash_u64(key);
    for (uint32_t at = fk_map_first(&s->map, h); at != FK_NONE; at = fk_map_next(&s->map, h, at))
        if (s->key.v[fk_map_id(&s->map, at)] == key)
            return 0;
    if (fk_vec_push(&s->key, key) || fk_map_add(&s->map, h, (uint32_t)(s->key.n - 1)))
        return fk_fail_nomem(err);
    return 1;
}

static int show_series(struct fk_catalog *c, struct db_stmt *s, label_vec *labels,
                       struct fk_catalog_each_series each, struct fk_err *err)
{
    const struct db_ops *ops = c->db->ops;
    int r = decode_labels(c, ops->bytes(s, 3), labels, err);
    if (r)
        return r;
    struct fk_catalog_series series = {
        .day = (int32_t)ops->i64(s, 0),
        .service = ops->bytes(s, 1),
        .hash = (uint64_t)ops->i64(s, 2),
        .labels = labels->v,
        .labels_n = labels->n,
    };
    return each.on(each.arg, &series, err);
}

static int walk_series(struct fk_catalog *c, struct db_stmt *s, size_t limit,
                       struct fk_catalog_each_series each, struct fk_err *err)
{
    const struct db_ops *ops = c->db->ops;
    struct seen seen = {0};
    label_vec labels = {0};
    size_t shown = 0;
    bool row = false;
    int r = 0;
    while ((limit == 0 || shown < limit) && (r = ops->step(s, &row, err)) == 0 && row) {
        uint64_t key = (uint64_t)ops->i64(s, 2) ^ fk_hash_str(ops->bytes(s, 1));
        int fresh = seen_add(&seen, key, err);
        r = fresh > 0 ? show_series(c, s, &labels, each, err) : fresh;
        if (r)
            break;
        shown += fresh > 0;
    }
    ops->reset(s);
    seen_free(&seen);
    fk_vec_free(&labels);
    return r;
}

// Binds tenant and days, and the service if there is one.
static int start_days(struct fk_catalog *c, const struct fk_catalog_days *d, enum catalog_sql all,
                      enum catalog_sql one, struct db_stmt **ret, struct fk_err *err)
{
    int64_t from = d->from, until = d->until;
    if (d->service.n)
        return catalog_start(c, one, ret, err, "siis", d->tenant, from, until, d->service);
    return catalog_start(c, all, ret, err, "sii", d->tenant, from, until);
}

static int series_locked(struct fk_catalog *c, const struct fk_catalog_days *days, size_t limit,
                         struct fk_catalog_each_series each, struct fk_err *err)
{
    struct db_stmt *s;
    int r = start_days(c, days, SQL_SERIES_ALL, SQL_SERIES_SERVICE, &s, err);
    return r ? r : walk_series(c, s, limit, each, err);
}

int fk_catalog_series(struct fk_catalog *c, const struct fk_catalog_days *days, size_t limit,
                      struct fk_catalog_each_series each, struct fk_err *err)
{
    fk_mutex_lock(&c->lock);
    int r = series_locked(c, days, limit, each, err);
    fk_mutex_unlock(&c->lock);
    return r;
}

int fk_catalog_each_day(struct fk_catalog *c, const struct fk_catalog_days *days,
                        struct fk_catalog_each_day each, struct fk_err *err)
{
    const struct db_ops *ops = c->db->ops;
    struct db_stmt *s;
    bool row = false;
    fk_mutex_lock(&c->lock);
    int r = start_days(c, days, SQL_DAYS, SQL_DAYS_SERVICE, &s, err);
    if (r == 0) {
        while (r == 0 && (r = ops->step(s, &row, err)) == 0 && row)
            r = each.on(each.arg, (int32_t)ops->i64(s, 0), (uint64_t)ops->i64(s, 1), err);
        ops->reset(s);
    }
    fk_mutex_unlock(&c->lock);
    return r;
}

// --- distinct texts ---
struct texts {
    struct fk_arena arena;
    struct fk_map map;
    FK_VEC(struct fk_str) text;
    struct fk_str prefix;
    struct fk_str name; // of the label whose values are wanted
};

static void texts_init(struct texts *t, struct fk_str prefix)
{
    *t = (struct texts){.prefix = prefix};
    fk_arena_init(&t->arena, 0);
}

static void texts_free(struct texts *t)
{
    fk_map_free(&t->map);
    fk_vec_free(&t->text);
    fk_arena_free(&t->arena);
}

static int texts_add(struct texts *t, struct fk_str s, struct fk_err *err)
{
    if (!fk_str_starts(s, t->prefix))
        return 0;
    uint64_t h = fk_hash_str(s);
    for (uint32_t at = fk_map_first(&t->map, h); at != FK_NONE; at = fk_map_next(&t->map, h, at))
        if (fk_str_eq(t->text.v[fk_map_id(&t->map, at)], s))
            return 0;
    struct fk_str copy = fk_arena_str(&t->arena, s);
    if (!copy.p || fk_vec_push(&t->text, copy) || fk_map_add(&t->map, h, (uint32_t)(t->text.n - 1)))
        return fk_fail_nomem(err);
    return 0;
}

static int compare(const void *a, const void *b)
{
    return fk_str_cmp(*(const struct fk_str *)a, *(const struct fk_str *)b);
}

static int texts_show(struct texts *t, size_t limit, struct fk_catalog_each_text each,
                      struct fk_err *err)
{
    int r = 0;
    if (t->text.n)
        qsort(t->text.v, t->text.n, sizeof(*t->text.v), compare);
    for (size_t i = 0; r == 0 && i < t->text.n && (limit == 0 || i < limit); i++)
        r = each.on(each.arg, t->text.v[i], err);
    return r;
}

static int add_names(void *arg, const struct fk_catalog_series *s, struct fk_err *err)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < s->labels_n; i++)
        r = texts_add(arg, s->labels[i].name, err);
    return r;
}

static int add_values(void *arg, const struct fk_catalog_series *s, struct fk_err *err)
{
    struct texts *t = arg;
    int r = 0;
    for (size_t i = 0; r == 0 && i < s->labels_n; i++)
        if (fk_str_eq(s->labels[i].name, t->name))
            r = texts_add(t, s->labels[i].value, err);
    return r;
}

int fk_catalog_label_names(struct fk_catalog *c, const struct fk_catalog_days *days,
                           struct fk_str prefix, size_t limit, struct fk_catalog_each_text each,
                           struct fk_err *err)
{
    struct texts t;
    texts_init(&t, prefix);
    int r = fk_catalog_series(c, days, 0, (struct fk_catalog_each_series){add_names, &t}, err);
    if (r == 0)
        r = texts_show(&t, limit, each, err);
    texts_free(&t);
    return r;
}

int fk_catalog_label_values(struct fk_catalog *c, const struct fk_catalog_days *days,
                            struct fk_str name, struct fk_str prefix, size_t limit,
                            struct fk_catalog_each_text each, struct fk_err *err)
{
    struct texts t;
    texts_init(&t, prefix);
    t.name = name;
    int r = fk_catalog_series(c, days, 0, (struct fk_catalog_each_series){add_values, &t}, err);
    if (r == 0)
        r = texts_show(&t, limit, each, err);
    texts_free(&t);
    return r;
}

// Column 0 of all rows; where column 1 is not 0 the text does not count and *ret_capped is set.
static int collect(struct fk_catalog *c, struct db_stmt *s, struct texts *t, bool *ret_capped,
                   struct fk_err *err)
{
    const struct db_ops *ops = c->db->ops;
    bool row = false;
    int r;
    while ((r = ops->step(s, &row, err)) == 0 && row) {
        if (ret_capped && ops->i64(s, 1)) {
            *ret_capped = true;
            continue;
        }
        r = texts_add(t, ops->bytes(s, 0), err);
        if (r)
            break;
    }
    ops->reset(s);
    return r;
}

int fk_catalog_services(struct fk_catalog *c, const struct fk_catalog_days *days,
                        struct fk_str prefix, size_t limit, struct fk_catalog_each_text each,
                        struct fk_err *err)
{
    struct texts t;
    struct db_stmt *s;
    texts_init(&t, prefix);
    fk_mutex_lock(&c->lock);
    int r = catalog_start(c, SQL_SERVICES, &s, err, "sii", days->tenant, (int64_t)days->from,
                          (int64_t)days->until);
    if (r == 0)
        r = collect(c, s, &t, NULL, err);
    fk_mutex_unlock(&c->lock);
    if (r == 0)
        r = texts_show(&t, limit, each, err);
    texts_free(&t);
    return r;
}

int fk_catalog_attr_names(struct fk_catalog *c, const struct fk_catalog_days *days,
                          struct fk_str prefix, size_t limit, struct fk_catalog_each_text each,
                          struct fk_err *err)
{
    struct texts t;
    struct db_stmt *s;
    texts_init(&t, prefix);
    fk_mutex_lock(&c->lock);
    int r = start_days(c, days, SQL_ATTR_NAMES, SQL_ATTR_NAMES_SERVICE, &s, err);
    if (r == 0)
        r = collect(c, s, &t, NULL, err);
    fk_mutex_unlock(&c->lock);
    if (r == 0)
        r = texts_show(&t, limit, each, err);
    texts_free(&t);
    return r;
}

static int start_values(struct fk_catalog *c, const struct fk_catalog_days *d, struct fk_str name,
                        struct db_stmt **ret, struct fk_err *err)
{
    int64_t from = d->from, until = d->until;
    if (d->service.n)
        return catalog_start(c, SQL_ATTR_VALUES_SERVICE, ret, err, "siiss", d->tenant, from, until,
                             name, d->service);
    return catalog_start(c, SQL_ATTR_VALUES, ret, err, "siis", d->tenant, from, until, name);
}

int fk_catalog_attr_values(struct fk_catalog *c, const struct fk_catalog_days *days,
                           struct fk_str name, struct fk_str prefix, size_t limit,
                           struct fk_catalog_each_text each, struct fk_err *err)
{
    struct texts t;
    struct db_stmt *s;
    bool capped = false;
    texts_init(&t, prefix);
    fk_mutex_lock(&c->lock);
    int r = start_values(c, days, name, &s, err);
    if (r == 0)
        r = collect(c, s, &t, &capped, err);
    fk_mutex_unlock(&c->lock);
    if (r == 0)
        r = texts_show(&t, limit, each, err);
    if (r == 0 && each.ret_capped)
        *each.ret_capped = capped;
    texts_free(&t);
    return r;
}
