// SPDX-License-Identifier: Apache-2.0
// Label sets: sorted, unique, with canonical bytes.
#include "model/model.h"

static int by_name(const struct fk_label *a, const struct fk_label *b)
{
    return fk_str_cmp(a->name, b->name);
}

// Insertion sort: stable, so that among equal names the last one given stays last; the sets are
// small.
static void sort_stable(struct fk_label *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct fk_label x = v[i];
        size_t at = i;
        for (; at > 0 && by_name(&v[at - 1], &x) > 0; at--)
            v[at] = v[at - 1];
        v[at] = x;
    }
}

int fk_labels_make(struct fk_arena *a, const struct fk_label *in, size_t n, struct fk_labels *ret,
                   struct fk_err *err)
{
    struct fk_label *v = fk_arena_array(a, FK_MAX(n, (size_t)1), sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    if (n)
        memcpy(v, in, n * sizeof(*v));
    sort_stable(v, n);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool last = i + 1 == n || by_name(&v[i], &v[i + 1]) != 0;
        if (last && v[i].value.n)
            v[kept++] = v[i];
    }
    *ret = (struct fk_labels){v, kept};
    return 0;
}

struct fk_str fk_labels_get(const struct fk_labels *l, struct fk_str name)
{
    size_t low = 0, high = l->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = fk_str_cmp(l->v[mid].name, name);
        if (order == 0)
            return l->v[mid].value;
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return (struct fk_str){NULL, 0};
}

int fk_labels_copy(struct fk_arena *a, const struct fk_labels *l, struct fk_labels *ret,
                   struct fk_err *err)
{
    struct fk_label *v = fk_arena_array(a, FK_MAX(l->n, (size_t)1), sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < l->n; i++) {
        v[i].name = fk_arena_str(a, l->v[i].name);
        v[i].value = fk_arena_str(a, l->v[i].value);
        if (!v[i].name.p || !v[i].value.p)
            return fk_fail_nomem(err);
    }
    *ret = (struct fk_labels){v, l->n};
    return 0;
}

bool fk_labels_eq(const struct fk_labels *a, const struct fk_labels *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!fk_str_eq(a->v[i].name, b->v[i].name) || !fk_str_eq(a->v[i].value, b->v[i].value))
            return false;
    return true;
}

uint64_t fk_labels_hash(const struct fk_labels *l)
{
    uint64_t h = l->n;
    for (size_t i = 0; i < l->n; i++) {
        h = fk_hash_u64(h * 31 + fk_hash_str(l->v[i].name));
        h = fk_hash_u64(h * 31 + fk_hash_str(l->v[i].value));
    }
    return h;
}

static void put_length(struct fk_buf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        fk_buf_byte(b, (uint8_t)(v | 0x80));
    fk_buf_byte(b, (uint8_t)v);
}

void fk_labels_put(struct fk_buf *b, const struct fk_labels *l)
{
    put_length(b, l->n);
    for (size_t i = 0; i < l->n; i++) {
        put_length(b, l->v[i].name.n);
        fk_buf_str(b, l->v[i].name);
        put_length(b, l->v[i].value.n);
        fk_buf_str(b, l->v[i].value);
    }
}

static bool take_length(struct fk_str *s, uint64_t *ret)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 63 && s->n; shift += 7) {
        uint8_t c = (uint8_t)s->p[0];
        *s = fk_str_from(*s, 1);
        v |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) {
            *ret = v;
            return true;
        }
    }
    return false;
}

static bool take_string(struct fk_str *s, struct fk_str *ret)
{
    uint64_t n;
    if (!take_length(s, &n) || n > s->n)
        return false;
    *ret = fk_str_head(*s, n);
    *s = fk_str_from(*s, n);
    return true;
}

int fk_labels_read(struct fk_arena *a, struct fk_str bytes, struct fk_labels *ret,
                   struct fk_err *err)
{
    uint64_t n;
    if (!take_length(&bytes, &n) || n > bytes.n)
        return fk_fail(err, FK_E_CORRUPT, "label set: bad count");
    struct fk_label *v = fk_arena_array(a, FK_MAX(n, (uint64_t)1), sizeof(*v));
    if (!v)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        if (!take_string(&bytes, &v[i].name) || !take_string(&bytes, &v[i].value))
            return fk_fail(err, FK_E_CORRUPT, "label set: cut off at label %zu", i);
    if (bytes.n)
        return fk_fail(err, FK_E_CORRUPT, "label set: %zu bytes too many", bytes.n);
    *ret = (struct fk_labels){v, n};
    return 0;
}
