// SPDX-License-Identifier: Apache-2.0
// Rows of blocks and datasets, and their transitions.
#include "catalog/sql_int.h"

// --- add ---
static int replaced_by_live(struct fk_catalog *c, struct fk_id id, bool *ret, struct fk_err *err)
{
    struct db_stmt *s;
    uint8_t key[ID_BYTES];
    id_put(id, key);
    int r = catalog_start(c, SQL_REPLACED_GET, &s, err, "s", ID_VIEW(key));
    if (r)
        return r;
    r = c->db->ops->step(s, ret, err);
    c->db->ops->reset(s);
    return r;
}

static int insert_block(struct fk_catalog *c, const struct fk_catalog_block *b, struct fk_err *err)
{
    uint8_t id[ID_BYTES], min_id[ID_BYTES], max_id[ID_BYTES];
    FK_AUTO_BUF replaces;
    fk_buf_init(&replaces, 0);
    id_put(b->id, id);
    id_put(b->min_id, min_id);
    id_put(b->max_id, max_id);
    for (size_t i = 0; i < b->replaces_n; i++) {
        char *to = fk_buf_reserve(&replaces, ID_BYTES);
        if (!to)
            return fk_buf_check(&replaces, "replaced ids", err);
        id_put(b->replaces[i], (uint8_t *)to);
        replaces.n += ID_BYTES;
    }
    return catalog_exec(c, SQL_BLOCK_ADD, err, "ssissiiiiiiis", ID_VIEW(id), b->tenant,
                        (int64_t)b->level, ID_VIEW(min_id), ID_VIEW(max_id), b->min_time_ns,
                        b->max_time_ns, b->min_received_ns, b->max_received_ns, (int64_t)b->bytes,
                        (int64_t)b->profiles, (int64_t)b->samples, fk_buf_view(&replaces));
}

static int drop_block(struct fk_catalog *c, struct fk_str id, struct fk_err *err)
{
    int r = catalog_exec(c, SQL_BLOCK_DELETE, err, "s", id);
    return r ? r : catalog_exec(c, SQL_DATASET_DELETE, err, "s", id);
}

// What the replaced block had replaced is from now on replaced by the new one.
static int replace_one(struct fk_catalog *c, struct fk_id old, struct fk_str by, struct fk_err *err)
{
    uint8_t key[ID_BYTES];
    id_put(old, key);
    int r = drop_block(c, ID_VIEW(key), err);
    if (r == 0)
        r = catalog_exec(c, SQL_REPLACED_MOVE, err, "ss", by, ID_VIEW(key));
    return r ? r : catalog_exec(c, SQL_REPLACED_ADD, err, "ss", ID_VIEW(key), by);
}

static int insert_datasets(struct fk_catalog *c, const struct fk_catalog_add *add,
                           struct fk_str block, struct fk_err *err)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < add->datasets_n; i++) {
        const struct fk_catalog_dataset *d = &add->datasets[i];
        r = catalog_exec(c, SQL_DATASET_ADD, err, "siisiis", block, (int64_t)d->offset,
                         (int64_t)d->length, d->service, d->min_time_ns, d->max_time_ns, d->types);
    }
    return r;
}

static int add_all(struct fk_catalog *c, const struct fk_catalog_add *add, bool *ret_added,
                   struct fk_err *err)
{
    bool replaced;
    uint8_t id[ID_BYTES];
    id_put(add->block.id, id);
    int r = replaced_by_live(c, add->block.id, &replaced, err);
    if (r || replaced)
        return r;
    r = insert_block(c, &add->block, err);
    if (r || c->db->ops->changed(c->db) == 0)
        return r;
    r = insert_datasets(c, add, ID_VIEW(id), err);
    for (size_t i = 0; r == 0 && i < add->block.replaces_n; i++)
        r = replace_one(c, add->block.replaces[i], ID_VIEW(id), err);
    if (r == 0)
        r = catalog_add_series(c, add, err);
    if (r == 0)
        r = catalog_add_attrs(c, add, err);
    if (r == 0)
        *ret_added = true;
    return r;
}

int fk_catalog_add(struct fk_catalog *c, const struct fk_catalog_add *add, bool *ret_added,
                   struct fk_err *err)
{
    bool added = false;
    const struct fk_catalog_block *b = &add->block;
    if ((b->bytes | b->profiles | b->samples) >> 63)
        return fk_fail_param(err, "bytes", "counts of a block must be below 2^63");
    for (size_t i = 0; i < b->replaces_n; i++)
        if (fk_id_cmp(b->replaces[i], b->id) == 0)
            return fk_fail_param(err, "replaces", "a block cannot replace itself");
    fk_mutex_lock(&c->lock);
    int r = c->db->ops->begin(c->db, err);
    if (r == 0)
        r = catalog_end(c, add_all(c, add, &added, err), err);
    fk_mutex_unlock(&c->lock);
    if (r == 0 && ret_added)
        *ret_added = added;
    return r;
}

// --- delete ---
static int delete_all(struct fk_catalog *c, const struct fk_id *ids, size_t n, struct fk_err *err)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        uint8_t key[ID_BYTES];
        id_put(ids[i], key);
        r = drop_block(c, ID_VIEW(key), err);
        if (r == 0)
            r = catalog_exec(c, SQL_REPLACED_DELETE, err, "s", ID_VIEW(key));
    }
    return r;
}

int fk_catalog_delete(struct fk_catalog *c, const struct fk_id *ids, size_t n, struct fk_err *err)
{
    fk_mutex_lock(&c->lock);
    int r = c->db->ops->begin(c->db, err);
    if (r == 0)
        r = catalog_end(c, delete_all(c, ids, n, err), err);
    fk_mutex_unlock(&c->lock);
    return r;
}

// The first day after `day` that a table has, or `day` itself when there is none.
static int next_day(struct fk_catalog *c, enum catalog_sql sql, struct fk_str tenant, int64_t day,
                    int64_t *ret, struct fk_err *err)
{
    struct db_stmt *s;
    bool row = false;
    int r = catalog_start(c, sql, &s, err, "si", tenant, day);
    if (r)
        return r;
    r = c->db->ops->step(s, &row, err);
    if (r == 0)
        *ret = c->db->ops->is_null(s, 0) ? day : c->db->ops->i64(s, 0);
    c->db->ops->reset(s);
    return r;
}

// Day by day, so that the days that stay cost one look each however many rows they have.
static int trim(struct fk_catalog *c, enum catalog_sql next, enum catalog_sql forget,
                struct fk_str tenant, struct fk_err *err)
{
    const int64_t day_ns = 86400 * FK_NS_PER_S;
    int64_t at = INT32_MIN, day = at, blocks = 0;
    for (;;) {
        int r = next_day(c, next, tenant, at, &day, err);
        if (r || day == at)
            return r;
        at = day;
        // Times cover the days -106751 to 106751; rows of others belong to no block.
        blocks = 0;
        if (day > -106751 && day < 106751)
            r = catalog_number(c, SQL_DAY_BLOCKS, &blocks, err, "sii", tenant, day * day_ns,
                               (day + 1) * day_ns);
        if (r == 0 && blocks == 0)
            r = catalog_exec(c, forget, err, "si", tenant, day);
        if (r)
            return r;
    }
}

int fk_catalog_trim_days(struct fk_catalog *c, struct fk_str tenant, struct fk_err *err)
{
    fk_mutex_lock(&c->lock);
    int r = c->db->ops->begin(c->db, err);
    if (r == 0) {
        r = trim(c, SQL_SERIES_NEXT_DAY, SQL_SERIES_FORGET, tenant, err);
        if (r == 0)
            r = trim(c, SQL_ATTR_NEXT_DAY, SQL_ATTR_FORGET, tenant, err);
        r = catalog_end(c, r, err);
    }
    fk_mutex_unlock(&c->lock);
    return r;
}

int fk_catalog_wipe(struct fk_catalog *c, struct fk_err *err)
{
    fk_mutex_lock(&c->lock);
    int r = c->db->ops->begin(c->db, err);
    if (r == 0)
        r = catalog_end(c,
                        c->db->ops->script(c->db,
                                           "DELETE FROM blocks; DELETE FROM replaced;"
                                           "DELETE FROM datasets; DELETE FROM series_day;"
                                           "DELETE FROM attr_day;",
                                           err),
                        err);
    fk_mutex_unlock(&c->lock);
    return r;
}

// --- read ---
// One row to the callback.
static int show_block(struct fk_catalog *c, struct db_stmt *s, struct fk_catalog_each_block each,
                      struct fk_err *err)
{
    const struct db_ops *ops = c->db->ops;
    struct fk_str id = ops->bytes(s, 0), min_id = ops->bytes(s, 3), max_id = ops->bytes(s, 4);
    struct fk_str replaces = ops->bytes(s, 12);
    if (id.n != ID_BYTES || min_id.n != ID_BYTES || max_id.n != ID_BYTES || replaces.n % ID_BYTES)
        return catalog_bad_row(c, "blocks", err);
    size_t n = replaces.n / ID_BYTES;
    FK_AUTO_FREE struct fk_id *ids = fk_reallocarray(NULL, n, sizeof(*ids));
    if (!ids)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        ids[i] = id_get(replaces.p + i * ID_BYTES);
    struct fk_catalog_block b = {
        .id = id_get(id.p),
        .tenant = ops->bytes(s, 1),
        .level = (int32_t)ops->i64(s, 2),
        .min_id = id_get(min_id.p),
        .max_id = id_get(max_id.p),
        .min_time_ns = ops->i64(s, 5),
        .max_time_ns = ops->i64(s, 6),
        .min_received_ns = ops->i64(s, 7),
        .max_received_ns = ops->i64(s, 8),
        .bytes = (uint64_t)ops->i64(s, 9),
        .profiles = (uint64_t)ops->i64(s, 10),
        .samples = (uint64_t)ops->i64(s, 11),
        .replaces = ids,
        .replaces_n = n,
    };
    return each.on(each.arg, &b, err);
}

static int show_blocks(struct fk_catalog *c, struct db_stmt *s, size_t limit,
                       struct fk_catalog_each_block each, struct fk_err *err)
{
    bool row = true;
    int r = 0;
    for (size_t n = 0; r == 0 && (limit == 0 || n < limit); n++) {
        r = c->db->ops->step(s, &row, err);
        if (r || !row)
            break;
        r = show_block(c, s, each, err);
    }
    c->db->ops->reset(s);
    return r;
}

static int start_blocks(struct fk_catalog *c, const struct fk_catalog_filter *f,
                        const uint8_t *after, struct db_stmt **ret, struct fk_err *err)
{
    int64_t before = f->received_before_ns ? f->received_before_ns : INT64_MAX;
    if (f->by_received && f->tenant.n)
        return catalog_start(c, SQL_BLOCKS_TENANT_AGE, ret, err, "iiis", f->from_ns, f->until_ns,
                             before, f->tenant);
    if (f->by_received)
        return catalog_start(c, SQL_BLOCKS_ALL_AGE, ret, err, "iii", f->from_ns, f->until_ns,
                             before);
    if (f->tenant.n)
        return catalog_start(c, SQL_BLOCKS_TENANT, ret, err, "iiiss", f->from_ns, f->until_ns,
                             before, ID_VIEW(after), f->tenant);
    return catalog_start(c, SQL_BLOCKS_ALL, ret, err, "iiis", f->from_ns, f->until_ns, before,
                         ID_VIEW(after));
}

int fk_catalog_blocks(struct fk_catalog *c, const struct fk_catalog_filter *filter,
                      struct fk_catalog_each_block each, struct fk_err *err)
{
    struct db_stmt *s;
    uint8_t after[ID_BYTES];
    id_put(filter->after, after);
    fk_mutex_lock(&c->lock);
    int r = start_blocks(c, filter, after, &s, err);
    if (r == 0)
        r = show_blocks(c, s, filter->limit, each, err);
    fk_mutex_unlock(&c->lock);
    return r;
}

int fk_catalog_get(struct fk_catalog *c, struct fk_id id, struct fk_catalog_each_block each,
                   struct fk_err *err)
{
    struct db_stmt *s;
    bool row = false;
    uint8_t key[ID_BYTES];
    id_put(id, key);
    fk_mutex_lock(&c->lock);
    int r = catalog_start(c, SQL_BLOCK_GET, &s, err, "s", ID_VIEW(key));
    if (r == 0) {
        r = c->db->ops->step(s, &row, err);
        if (r == 0 && row)
            r = show_block(c, s, each, err);
        c->db->ops->reset(s);
    }
    fk_mutex_unlock(&c->lock);
    if (r == 0 && !row) {
        char text[FK_ID_CHARS + 1];
        fk_id_format(id, text);
        r = fk_fail(err, FK_E_NOTFOUND, "the catalog has no block %s", text);
    }
    return r;
}

int fk_catalog_replaced(struct fk_catalog *c, struct fk_id id, bool *ret, struct fk_err *err)
{
    bool replaced;
    fk_mutex_lock(&c->lock);
    int r = replaced_by_live(c, id, &replaced, err);
    fk_mutex_unlock(&c->lock);
    if (r == 0)
        *ret = replaced;
    return r;
}

static int show_datasets(struct fk_catalog *c, struct db_stmt *s,
                         struct fk_catalog_each_dataset each, struct fk_err *err)
{
    const struct db_ops *ops = c->db->ops;
    bool row = false;
    int r;
    while ((r = ops->step(s, &row, err)) == 0 && row) {
        struct fk_catalog_dataset d = {
            .offset = (uint64_t)ops->i64(s, 0),
            .length = (uint64_t)ops->i64(s, 1),
            .service = ops->bytes(s, 2),
            .min_time_ns = ops->i64(s, 3),
            .max_time_ns = ops->i64(s, 4),
            .types = ops->bytes(s, 5),
        };
        r = each.on(each.arg, &d, err);
        if (r)
            break;
    }
    ops->reset(s);
    return r;
}

int fk_catalog_datasets(struct fk_catalog *c, struct fk_id block,
                        struct fk_catalog_each_dataset each, struct fk_err *err)
{
    struct db_stmt *s;
    uint8_t key[ID_BYTES];
    id_put(block, key);
    fk_mutex_lock(&c->lock);
    int r = catalog_start(c, SQL_DATASETS, &s, err, "s", ID_VIEW(key));
    if (r == 0)
        r = show_datasets(c, s, each, err);
    fk_mutex_unlock(&c->lock);
    return r;
}

int fk_catalog_totals(struct fk_catalog *c, struct fk_str tenant, struct fk_catalog_totals *ret,
                      struct fk_err *err)
{
    const struct db_ops *ops = c->db->ops;
    struct db_stmt *s;
    bool row = false;
    fk_mutex_lock(&c->lock);
    int r = tenant.n ? catalog_start(c, SQL_TOTALS_TENANT, &s, err, "s", tenant)
                     : catalog_start(c, SQL_TOTALS_ALL, &s, err, "");
    if (r == 0) {
        r = ops->step(s, &row, err);
        if (r == 0 && row)
            *ret = (struct fk_catalog_totals){
                .blocks = (uint64_t)ops->i64(s, 0),
                .bytes = (uint64_t)ops->i64(s, 1),
                .profiles = (uint64_t)ops->i64(s, 2),
                .samples = (uint64_t)ops->i64(s, 3),
                .min_time_ns = ops->i64(s, 4),
                .max_time_ns = ops->i64(s, 5),
            };
        ops->reset(s);
    }
    fk_mutex_unlock(&c->lock);
    return r;
}
