// SPDX-License-Identifier: Apache-2.0
// Labels that come beside a JFR in Pyroscope's /ingest: a protobuf message LabelsSnapshot
// {map<int64, Context> contexts = 1; map<int64, string> strings = 2}, Context {map<int64, int64>
// labels = 1}. Events carry the number of a context.
#include "formats/jfr_int.h"

#include <stdlib.h>

struct entry {
    uint64_t key, number;
    struct fk_cur value;
};

// A map's entry: key 1, value 2.
static int read_entry(struct fk_cur c, struct entry *ret)
{
    struct fk_pb_field f;
    int more;
    *ret = (struct entry){.value = {c.end, c.end}};
    while ((more = fk_pb_next(&c, &f)) == 1) {
        if (f.number == 1 && f.wire == FK_WIRE_VARINT)
            ret->key = f.v;
        else if (f.number == 2 && f.wire == FK_WIRE_VARINT)
            ret->number = f.v;
        else if (f.number == 2 && f.wire == FK_WIRE_LEN)
            ret->value = f.b;
    }
    return more;
}

static int add_context(const struct fk_decoding *d, struct jfr_labels *l, const struct entry *e)
{
    struct fk_cur c = e->value;
    struct fk_pb_field f;
    int more;
    void *v = fk_arena_grow(d->arena, l->context, l->n_contexts, &l->contexts_cap,
                            l->n_contexts + 1, sizeof(*l->context));
    if (!v)
        return -FK_E_NOMEM;
    l->context = v;
    uint32_t begin = (uint32_t)l->n_pairs;
    while ((more = fk_pb_next(&c, &f)) == 1) {
        struct entry pair;
        if (f.number != 1 || f.wire != FK_WIRE_LEN)
            continue;
        if (read_entry(f.b, &pair))
            return -FK_E_FORMAT;
        v = fk_arena_grow(d->arena, l->pair, l->n_pairs, &l->pairs_cap, l->n_pairs + 1,
                          sizeof(*l->pair));
        if (!v)
            return -FK_E_NOMEM;
        l->pair = v;
        l->pair[l->n_pairs++] = (struct jfr_pair){(int64_t)pair.key, (int64_t)pair.number};
    }
    l->context[l->n_contexts++] =
        (struct jfr_context){(int64_t)e->key, begin, (uint32_t)l->n_pairs};
    return more;
}

static int add_string(const struct fk_decoding *d, struct jfr_labels *l, const struct entry *e)
{
    void *v = fk_arena_grow(d->arena, l->string, l->n_strings, &l->strings_cap, l->n_strings + 1,
                            sizeof(*l->string));
    if (!v)
        return -FK_E_NOMEM;
    l->string = v;
    l->string[l->n_strings++] = (struct jfr_string){
        (int64_t)e->key, fk_str_make(e->value.p, (size_t)(e->value.end - e->value.p))};
    return 0;
}

// Both arrays begin with their id.
static int by_id(const void *a, const void *b)
{
    int64_t x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return x < y ? -1 : x > y;
}

static int read_snapshot(const struct fk_decoding *d, struct fk_cur c, struct jfr_labels *l)
{
    struct fk_pb_field f;
    struct entry e;
    int more;
    while ((more = fk_pb_next(&c, &f)) == 1) {
        if (f.number > 2 || f.wire != FK_WIRE_LEN)
            continue;
        int rc = read_entry(f.b, &e);
        if (!rc)
            rc = f.number == 1 ? add_context(d, l, &e) : add_string(d, l, &e);
        if (rc)
            return rc;
    }
    if (l->n_contexts)
        qsort(l->context, l->n_contexts, sizeof(*l->context), by_id);
    if (l->n_strings)
        qsort(l->string, l->n_strings, sizeof(*l->string), by_id);
    return more;
}

int jfr_read_labels(const struct fk_decoding *d, struct fk_str bytes, struct jfr_labels *ret,
                    struct fk_err *err)
{
    static_assert(offsetof(struct jfr_context, id) == 0 && offsetof(struct jfr_string, id) == 0,
                  "by_id");
    struct fk_inflated z;
    *ret = (struct jfr_labels){0};
    if (bytes.n == 0)
        return 0;
    // A snapshot begins with 0a or 12, never as compressed data do.
    int rc = fk_inflate((const uint8_t *)bytes.p, bytes.n, &d->opts->size, d->arena, &z, err);
    if (rc == -FK_E_NOMEM)
        return fk_decoding_nomem(d, err);
    if (rc)
        return err ? fk_fail_in(err, "the labels beside the JFR") : rc;
    rc = read_snapshot(d, fk_cur_of(z.bytes), ret);
    if (rc == -FK_E_NOMEM)
        return fk_decoding_nomem(d, err);
    return rc ? fk_fail(err, FK_E_FORMAT, "the labels beside the JFR are no LabelsSnapshot message")
              : 0;
}

const struct jfr_context *jfr_find_context(const struct jfr_labels *l, int64_t id)
{
    return l->n_contexts ? bsearch(&id, l->context, l->n_contexts, sizeof(*l->context), by_id)
                         : NULL;
}

struct fk_str jfr_find_string(const struct jfr_labels *l, int64_t id)
{
    const struct jfr_string *s =
        l->n_strings ? bsearch(&id, l->string, l->n_strings, sizeof(*l->string), by_id) : NULL;
    return s ? s->text : FK_S("");
}
