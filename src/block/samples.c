// SPDX-License-Identifier: Apache-2.0
// Packed sample rows. Layout (docs/format-block.md "Sample row"):
//   flags            1 byte  1 ids as bitmap, 2 sets, 4 several observations a row, 8 times
//   n_rows           varint
//   ids              bitmap: varint words, then 8 bytes each; else delta bit-packed
//   sets             bit-packed u32                                 if flag 2
//   observations - 1 bit-packed u32                                 if flag 4
//   per type         mode byte, then: 0 zeros: nothing; 1 multiple: zigzag factor of the column
//   before;
//                    2, 3 packed: varint divisor, patched u64 of value / divisor (3: zigzag)
//   times            patched u64 of zigzag differences, the first to the base             if flag 8
#include "block/samples_int.h"

#include <stdlib.h>

enum { FLAG_BITMAP = 1, FLAG_SETS = 2, FLAG_OBS = 4, FLAG_TIMES = 8, FLAGS_ALL = 15 };
enum { MODE_ZERO = 0, MODE_MULTIPLE = 1, MODE_PACKED = 2, MODE_SIGNED = 3 };

void fk_samples_free(struct fk_samples *s)
{
    fk_free(s->stack);
    fk_free(s->set);
    fk_free(s->obs_begin);
    for (uint32_t i = 0; i < FK_MAX_TYPES; i++)
        fk_free(s->value[i]);
    fk_free(s->time_ns);
    fk_free(s->scratch);
    *s = (struct fk_samples){0};
}

static int grow_rows(struct fk_samples *s, uint64_t n, struct fk_err *err)
{
    if (n < s->cap_rows)
        return 0;
    size_t cap = (size_t)n + n / 4 + 64;
    void **columns[] = {(void **)&s->stack, (void **)&s->set};
    for (size_t i = 0; i < FK_COUNTOF(columns); i++) {
        void *p = fk_reallocarray(*columns[i], cap, sizeof(uint32_t));
        if (!p)
            return fk_fail_nomem(err);
        *columns[i] = p;
    }
    uint64_t *begin = fk_reallocarray(s->obs_begin, cap + 1, sizeof(*begin));
    if (!begin)
        return fk_fail_nomem(err);
    s->obs_begin = begin;
    s->cap_rows = cap;
    return 0;
}

static int grow_obs(struct fk_samples *s, uint64_t n, uint32_t n_types, struct fk_err *err)
{
    if (n < s->cap_obs && n_types <= s->cap_types)
        return 0;
    size_t cap = n < s->cap_obs ? s->cap_obs : (size_t)n + n / 4 + 64;
    uint32_t types = FK_MAX(n_types, s->cap_types);
    for (uint32_t t = 0; t < types; t++) {
        int64_t *v = fk_reallocarray(s->value[t], cap, sizeof(*v));
        if (!v)
            return fk_fail_nomem(err);
        s->value[t] = v;
    }
    int64_t *times = fk_reallocarray(s->time_ns, cap, sizeof(*times));
    if (!times)
        return fk_fail_nomem(err);
    s->time_ns = times;
    s->cap_obs = cap;
    s->cap_types = types;
    return 0;
}

int fk_samples_reserve(struct fk_samples *s, uint64_t n_rows, uint64_t n_obs, uint32_t n_types,
                       struct fk_err *err)
{
    if (n_rows >= FK_NONE || n_obs >= FK_NONE || n_types > FK_MAX_TYPES)
        return fk_fail(err, FK_E_LIMIT, "%llu rows of %u sample types do not fit in one profile",
                       (unsigned long long)n_rows, n_types);
    int r = grow_rows(s, n_rows, err);
    if (r == 0)
        r = grow_obs(s, n_obs, n_types, err);
    return r;
}

static int reserve_scratch(struct fk_samples *s, size_t bytes, struct fk_err *err)
{
    if (bytes <= s->cap_scratch)
        return 0;
    void *p = fk_realloc(s->scratch, bytes + bytes / 4);
    if (!p)
        return fk_fail_nomem(err);
    s->scratch = p;
    s->cap_scratch = bytes + bytes / 4;
    return 0;
}

// ---- packing ----

static int by_key(const void *pa, const void *pb)
{
    const struct fk_sort_key *a = pa, *b = pb;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

#define RADIX_FROM 48 // rows; fewer are sorted by comparing

// One pass: by the byte at `shift`, stable.
static void radix_pass(const struct fk_sort_key *from, struct fk_sort_key *to, uint64_t n,
                       unsigned shift)
{
    uint32_t place[256] = {0}, at = 0;
    for (uint64_t i = 0; i < n; i++)
        place[from[i].key >> shift & 255]++;
    for (unsigned d = 0; d < 256; d++) {
        uint32_t count = place[d];
        place[d] = at;
        at += count;
    }
    for (uint64_t i = 0; i < n; i++)
        to[place[from[i].key >> shift & 255]++] = from[i];
}

// Least byte first, skipping those in which all keys agree: two or three passes for the stacks of
// one service. Rows come in their order, so stability settles ties. The sorted one of the two.
static struct fk_sort_key *radix_sort(struct fk_sort_key *v, struct fk_sort_key *other, uint64_t n,
                                      uint64_t differ)
{
    for (unsigned shift = 0; shift < 64; shift += 8)
        if (differ >> shift & 255) {
            radix_pass(v, other, n, shift);
            struct fk_sort_key *swap = v;
            v = other;
            other = swap;
        }
    return v;
}

// Rows by (stack, set): element i of the result says which row comes i-th. Sorted input and input
// without equal stacks are the rule.
static struct fk_sort_key *sort_rows(const struct fk_samples *in, struct fk_sort_key *order,
                                     struct fk_sort_key *other)
{
    bool sorted = true;
    uint64_t all = 0, any = 0;
    for (uint64_t i = 0; i < in->n_rows; i++) {
        uint64_t key = (uint64_t)in->stack[i] << 32 | (in->has_sets ? in->set[i] : 0);
        order[i] = (struct fk_sort_key){key, (uint32_t)i};
        sorted = sorted && (i == 0 || order[i - 1].key <= key);
        all = i ? all & key : key;
        any |= key;
    }
    if (sorted)
        return order;
    if (in->n_rows >= RADIX_FROM)
        return radix_sort(order, other, in->n_rows, all ^ any);
    qsort(order, in->n_rows, sizeof(*order), by_key);
    return order;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

struct column_facts {
    bool zero, negative;
    uint64_t divisor;
};

static struct column_facts look_at(const int64_t *v, uint64_t n)
{
    struct column_facts f = {.zero = true};
    for (uint64_t i = 0; i < n; i++) {
        f.zero &= v[i] == 0;
        f.negative |= v[i] < 0;
        if (f.divisor != 1 && v[i]) {
            uint64_t m = magnitude(v[i]);
            if (f.divisor == 0 || m % f.divisor)
                f.divisor = gcd(m, f.divisor);
        }
    }
    return f;
}

// Whether v = factor x before in every place, exactly.
static bool is_multiple(const int64_t *v, const int64_t *before, uint64_t n, int64_t *ret_factor)
{
    uint64_t i = 0;
    while (i < n && before[i] == 0)
        i++;
    if (i == n || before[i] == -1 || v[i] % before[i]) // INT64_MIN % -1 would trap
        return false;
    int64_t factor = v[i] / before[i];
    if (factor == 0)
        return false;
    for (i = 0; i < n; i++)
        if ((uint64_t)v[i] != (uint64_t)before[i] * (uint64_t)factor)
            return false;
    *ret_factor = factor;
    return true;
}

static void put_column(struct fk_buf *to, const int64_t *v, const int64_t *before, uint64_t n,
                       uint64_t *scratch)
{
    struct column_facts f = look_at(v, n);
    int64_t factor;
    if (f.zero) {
        fk_buf_byte(to, MODE_ZERO);
    } else if (before && is_multiple(v, before, n, &factor)) {
        fk_buf_byte(to, MODE_MULTIPLE);
        fk_buf_varint(to, fk_zigzag(factor));
    } else {
        fk_buf_byte(to, f.negative ? MODE_SIGNED : MODE_PACKED);
        fk_buf_varint(to, f.divisor);
        if (f.negative) // the divisor of a column with INT64_MIN alone is 2^63: divide magnitudes,
                        // then put the sign back
            for (uint64_t i = 0; i < n; i++) {
                uint64_t m = magnitude(v[i]) / f.divisor;
                scratch[i] = fk_zigzag(v[i] < 0 ? (int64_t)(0 - m) : (int64_t)m);
            }
        else if (f.divisor == 1)
            memcpy(scratch, v, n * sizeof(*scratch));
        else
            for (uint64_t i = 0; i < n; i++)
                scratch[i] = (uint64_t)v[i] / f.divisor;
        fk_pack_u64(to, scratch, n);
    }
}

static void put_bitmap(struct fk_buf *to, const uint32_t *id, uint64_t n)
{
    size_t words = (size_t)id[n - 1] / 64 + 1;
    fk_buf_varint(to, words);
    char *at = fk_buf_reserve(to, words * 8);
    if (!at)
        return;
    memset(at, 0, words * 8);
    for (uint64_t i = 0; i < n; i++)
        at[id[i] / 8] = (char)(at[id[i] / 8] | 1 << (id[i] % 8));
    to->n += words * 8;
}

static bool strictly_ascends(const uint32_t *id, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++)
        if (id[i - 1] >= id[i])
            return false;
    return true;
}

// ids must already be in order
static bool bitmap_is_smaller(const uint32_t *id, uint64_t n)
{
    if (n == 0 || !strictly_ascends(id, n))
        return false;
    uint64_t bytes = ((uint64_t)id[n - 1] / 64 + 1) * 8;
    if (bytes * 8 > n * 32) // less than one id in 32: no need to measure
        return false;
    return bytes <= fk_pack_ascending_size(id, n);
}

// Scratch of packing, carved out of one allocation. Where each row has one observation, `column`
// and `before` take the half of the sort's memory that is free after it.
struct pack_scratch {
    struct fk_sort_key *order, *spare;
    uint32_t *id, *other;
    int64_t *column, *before;
    uint64_t *word;
};

static int carve(struct fk_samples *s, struct pack_scratch *p, struct fk_err *err)
{
    size_t rows = (size_t)s->n_rows + 1, obs = (size_t)s->n_obs + 1;
    size_t columns = obs > rows ? obs : 0;
    int r = reserve_scratch(s, rows * (2 * sizeof(*p->order) + 8) + columns * 16 + obs * 8, err);
    if (r)
        return r;
    char *at = s->scratch;
    p->order = (void *)at;
    at += rows * sizeof(*p->order);
    p->spare = (void *)at;
    at += rows * sizeof(*p->spare);
    p->column = (void *)at;
    at += columns * 8;
    p->before = (void *)at;
    at += columns * 8;
    p->word = (void *)at;
    at += obs * 8;
    p->id = (void *)at;
    at += rows * 4;
    p->other = (void *)at;
    return 0;
}

static void sort_and_place(const struct fk_samples *s, struct pack_scratch *p)
{
    struct fk_sort_key *sorted = sort_rows(s, p->order, p->spare);
    if (s->n_obs <= s->n_rows) {
        p->column = (void *)(sorted == p->order ? p->spare : p->order);
        p->before = p->column + s->n_rows + 1;
    }
    p->order = sorted;
}

// A per-observation column in the order of rows.
static const int64_t *in_order(const struct fk_samples *s, const struct pack_scratch *p,
                               const int64_t *v, int64_t *to)
{
    uint64_t out = 0;
    for (uint64_t i = 0; i < s->n_rows; i++) {
        uint64_t row = p->order[i].row;
        if (!s->has_obs)
            to[out++] = v[row];
        else
            for (uint64_t o = s->obs_begin[row]; o < s->obs_begin[row + 1]; o++)
                to[out++] = v[o];
    }
    return to;
}

static void put_rows(const struct fk_samples *s, const struct pack_scratch *p, bool bitmap,
                     struct fk_buf *to)
{
    if (bitmap)
        put_bitmap(to, p->id, s->n_rows);
    else
        fk_pack_ascending(to, p->id, s->n_rows);
    if (s->has_sets) {
        for (uint64_t i = 0; i < s->n_rows; i++)
            p->other[i] = (uint32_t)p->order[i].key;
        fk_pack_u32(to, p->other, s->n_rows);
    }
    if (s->has_obs) {
        for (uint64_t i = 0; i < s->n_rows; i++) {
            uint32_t row = p->order[i].row;
            p->other[i] = (uint32_t)(s->obs_begin[row + 1] - s->obs_begin[row] - 1);
        }
        fk_pack_u32(to, p->other, s->n_rows);
    }
}

static void put_times(const struct fk_samples *s, const struct pack_scratch *p, int64_t base_ns,
                      struct fk_buf *to)
{
    const int64_t *v = in_order(s, p, s->time_ns, p->column);
    int64_t before = base_ns;
    for (uint64_t i = 0; i < s->n_obs; i++) {
        p->word[i] = fk_zigzag(fk_wrap_sub(v[i], before));
        before = v[i];
    }
    fk_pack_u64(to, p->word, s->n_obs);
}

int fk_samples_pack(struct fk_samples *s, int64_t base_ns, struct fk_buf *to, struct fk_err *err)
{
    struct pack_scratch p;
    int r = carve(s, &p, err);
    if (r)
        return r;
    sort_and_place(s, &p);
    for (uint64_t i = 0; i < s->n_rows; i++)
        p.id[i] = (uint32_t)(p.order[i].key >> 32);
    bool bitmap = bitmap_is_smaller(p.id, s->n_rows);
    fk_buf_byte(to, (uint8_t)((bitmap ? FLAG_BITMAP : 0) | (s->has_sets ? FLAG_SETS : 0) |
                              (s->has_obs ? FLAG_OBS : 0) | (s->has_times ? FLAG_TIMES : 0)));
    fk_buf_varint(to, s->n_rows);
    put_rows(s, &p, bitmap, to);
    for (uint32_t t = 0; t < s->n_types; t++) {
        const int64_t *v = in_order(s, &p, s->value[t], p.column);
        put_column(to, v, t ? p.before : NULL, s->n_obs, p.word);
        int64_t *swap = p.before; // this column is the next one's "previous"
        p.before = p.column;
        p.column = swap;
    }
    if (s->has_times)
        put_times(s, &p, base_ns, to);
    return fk_buf_check(to, "packed samples", err);
}

// ---- unpacking ----

static int corrupt(struct fk_err *err, const char *what)
{
    return fk_fail(err, FK_E_CORRUPT, "sample row: bad %s", what);
}

static int take_bitmap(struct fk_cur *c, uint32_t *id, uint64_t n, struct fk_err *err)
{
    uint64_t words, out = 0;
    struct fk_str bytes;
    if (fk_cur_varint(c, &words) || words > fk_cur_left(c) / 8 ||
        fk_cur_bytes(c, words * 8, &bytes))
        return corrupt(err, "bitmap");
    for (uint64_t w = 0; w < words; w++) {
        uint64_t bits = fk_load64(bytes.p + w * 8);
        for (; bits; bits &= bits - 1) {
            if (out == n)
                return corrupt(err, "bitmap: too many ids");
            id[out++] = (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(bits));
        }
    }
    return out == n ? 0 : corrupt(err, "bitmap: too few ids");
}

// Ids, sets and observation counts; n_rows, n_obs and has_* of *s are set.
static int take_rows(struct fk_samples *s, struct fk_cur *c, const struct fk_packed *in,
                     uint8_t *ret_flags, struct fk_err *err)
{
    uint64_t n;
    int r;
    if (c->p == c->end || (*ret_flags = *c->p++) > FLAGS_ALL ||
        fk_cur_varint_max(c, FK_NONE - 1, &n))
        return corrupt(err, "head");
    if (n > (uint64_t)fk_cur_left(c) *
                1024) // a block of 128 equal ids takes 1 byte: a bound on what a lie can allocate
        return corrupt(err, "row count");
    if ((r = fk_samples_reserve(s, n, n, in->n_types, err)))
        return r;
    s->n_rows = s->n_obs = n;
    s->n_types = in->n_types;
    s->has_sets = (*ret_flags & FLAG_SETS) != 0;
    s->has_obs = (*ret_flags & FLAG_OBS) != 0;
    s->has_times = (*ret_flags & FLAG_TIMES) != 0;
    if (*ret_flags & FLAG_BITMAP)
        r = take_bitmap(c, s->stack, n, err);
    else if (fk_unpack_ascending(c, s->stack, n))
        r = corrupt(err, "ids");
    if (r)
        return r;
    if (n && s->stack[n - 1] >= in->n_stacks)
        return corrupt(err, "stack id");
    if (!s->has_sets)
        return 0;
    if (fk_unpack_u32(c, s->set, n))
        return corrupt(err, "sets");
    for (uint64_t i = 0; i < n; i++)
        if (s->set[i] >= in->n_sets)
            return corrupt(err, "set id");
    return 0;
}

static int take_obs(struct fk_samples *s, struct fk_cur *c, struct fk_err *err)
{
    int r = reserve_scratch(s, (s->n_rows + 1) * sizeof(uint32_t), err);
    uint32_t *more = s->scratch;
    if (r)
        return r;
    if (fk_unpack_u32(c, more, s->n_rows))
        return corrupt(err, "observation counts");
    s->obs_begin[0] = 0;
    for (uint64_t i = 0; i < s->n_rows; i++)
        s->obs_begin[i + 1] = s->obs_begin[i] + more[i] + 1;
    s->n_obs = s->obs_begin[s->n_rows];
    if (s->n_obs >= FK_NONE || s->n_obs > (fk_cur_left(c) + s->n_rows) * 1024)
        return corrupt(err, "observation count");
    return grow_obs(s, s->n_obs, s->n_types, err);
}

static int take_column(struct fk_samples *s, struct fk_cur *c, uint32_t type, struct fk_err *err)
{
    int64_t *v = s->value[type];
    uint64_t n = s->n_obs, factor;
    if (c->p == c->end)
        return corrupt(err, "column");
    uint8_t mode = *c->p++;
    if (mode == MODE_ZERO) {
        memset(v, 0, n * sizeof(*v));
        return 0;
    }
    if (fk_cur_varint(c, &factor) || mode > MODE_SIGNED || (mode == MODE_MULTIPLE && type == 0))
        return corrupt(err, "column mode");
    if (mode == MODE_MULTIPLE) {
        uint64_t times = (uint64_t)fk_unzigzag(factor);
        for (uint64_t i = 0; i < n; i++)
            v[i] = (int64_t)((uint64_t)s->value[type - 1][i] * times);
        return 0;
    }
    if (fk_unpack_u64(c, (uint64_t *)v, n))
        return corrupt(err, "column values");
    if (mode == MODE_SIGNED)
        for (uint64_t i = 0; i < n; i++)
            v[i] = (int64_t)((uint64_t)fk_unzigzag((uint64_t)v[i]) * factor);
    else if (factor != 1)
        for (uint64_t i = 0; i < n; i++)
            v[i] = (int64_t)((uint64_t)v[i] * factor);
    return 0;
}

int fk_samples_unpack(struct fk_samples *s, const struct fk_packed *in, struct fk_err *err)
{
    struct fk_cur c = fk_cur_of(in->bytes);
    uint8_t flags;
    int r = take_rows(s, &c, in, &flags, err);
    if (r == 0 && (flags & FLAG_OBS))
        r = take_obs(s, &c, err);
    for (uint32_t t = 0; r == 0 && t < in->n_types; t++)
        r = take_column(s, &c, t, err);
    if (r == 0 && (flags & FLAG_TIMES)) {
        if (fk_unpack_u64(&c, (uint64_t *)s->time_ns, s->n_obs))
            return corrupt(err, "times");
        int64_t at = in->base_ns;
        for (uint64_t i = 0; i < s->n_obs; i++)
            s->time_ns[i] = at = fk_wrap_add(at, fk_unzigzag((uint64_t)s->time_ns[i]));
    }
    if (r == 0 && fk_cur_left(&c))
        r = corrupt(err, "end");
    return r;
}

// Columns before the wanted one must be passed through (their lengths are not stored); a multiple
// needs the one before.
int fk_samples_sum(struct fk_samples *s, const struct fk_packed *in, uint32_t type,
                   const uint8_t *keep_set, int64_t *self, uint64_t *ret_rows, struct fk_err *err)
{
    struct fk_cur c = fk_cur_of(in->bytes);
    uint8_t flags;
    uint64_t kept = 0;
    int r = take_rows(s, &c, in, &flags, err);
    if (r == 0 && (flags & FLAG_OBS))
        r = take_obs(s, &c, err);
    for (uint32_t t = 0; r == 0 && t <= type; t++)
        r = take_column(s, &c, t, err);
    if (r)
        return r;
    const int64_t *v = s->value[type];
    for (uint64_t i = 0; i < s->n_rows; i++) {
        if (keep_set && !keep_set[s->has_sets ? s->set[i] : 0])
            continue;
        uint64_t from = s->has_obs ? s->obs_begin[i] : i,
                 to = s->has_obs ? s->obs_begin[i + 1] : i + 1;
        for (kept++; from < to; from++)
            self[s->stack[i]] = fk_wrap_add(self[s->stack[i]], v[from]);
    }
    if (ret_rows)
        *ret_rows += kept;
    return 0;
}
