// SPDX-License-Identifier: Apache-2.0
// JFR recordings in: chunk after chunk, each with a memory of its own, into one set of rows.
#include "formats/jfr_int.h"

#define HEADER     68 // bytes, of 1.0 and later
#define OLD_HEADER 16 // of 0.9

static const struct fk_str magic = {"FLR\0", 4};

bool fk_jfr_looks(struct fk_str head, bool whole)
{
    (void)whole;
    return fk_str_starts(head, magic);
}

static uint64_t big_endian(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

// ---- headers ----

static int read_header(struct jfr_chunk *k, struct fk_str rest, uint64_t *ret_size,
                       struct fk_err *err)
{
    const uint8_t *p = (const uint8_t *)rest.p;
    if (rest.n < HEADER)
        return fk_fail(err, FK_E_FORMAT,
                       "the JFR chunk has %zu bytes, its header alone has %d: it is cut off",
                       rest.n, HEADER);
    uint64_t size = big_endian(p + 8, 8);
    k->checkpoint_at = big_endian(p + 16, 8);
    k->metadata_at = big_endian(p + 24, 8);
    k->start_ns = (int64_t)big_endian(p + 32, 8);
    k->duration_ns = (int64_t)big_endian(p + 40, 8);
    k->start_ticks = big_endian(p + 48, 8);
    k->ticks_per_second = big_endian(p + 56, 8);
    k->packed = big_endian(p + 64, 4) & 1;
    if (size == 0) // still being written
        size = rest.n;
    if (size > rest.n || size < HEADER)
        return fk_fail(err, FK_E_FORMAT,
                       "the JFR chunk says it has %llu bytes, %zu are there: it is cut off",
                       (unsigned long long)size, rest.n);
    k->first_event = p + HEADER;
    *ret_size = size;
    return 0;
}

// 0.9: the metadata are the last event, and the chunk's end.
static int read_old_header(struct jfr_chunk *k, struct fk_str rest, uint64_t *ret_size,
                           struct fk_err *err)
{
    const uint8_t *p = (const uint8_t *)rest.p;
    uint64_t at = rest.n >= OLD_HEADER ? big_endian(p + 8, 8) : 0;
    if (at < OLD_HEADER || !fk_in_range(at, 4, rest.n))
        return fk_fail(err, FK_E_FORMAT,
                       "the JFR 0.9 chunk's metadata lie at offset %llu of %zu bytes: it is cut "
                       "off or was not finished",
                       (unsigned long long)at, rest.n);
    uint64_t size = big_endian(p + at, 4);
    if (!fk_in_range(at, size, rest.n) || size < 8)
        return fk_fail(err, FK_E_FORMAT, "the JFR 0.9 chunk ends within its metadata");
    k->old = true;
    k->metadata_at = at;
    k->first_event = p + OLD_HEADER;
    *ret_size = at + size;
    return 0;
}

static int read_version(struct jfr_chunk *k, struct fk_str rest, uint64_t *ret_size,
                        struct fk_err *err)
{
    const uint8_t *p = (const uint8_t *)rest.p;
    if (rest.n < 8)
        return fk_fail(err, FK_E_FORMAT, "the JFR recording ends after %zu bytes", rest.n);
    unsigned major = (unsigned)big_endian(p + 4, 2), minor = (unsigned)big_endian(p + 6, 2);
    if (major == 0 && minor == 9)
        return read_old_header(k, rest, ret_size, err);
    if (major == 1 || major == 2)
        return read_header(k, rest, ret_size, err);
    return fk_fail(err, FK_E_FORMAT,
                   "the JFR recording is of version %u.%u; read are 0.9, 1.x and 2.x", major,
                   minor);
}

// ---- chunks ----

static int read_body(struct jfr_chunk *k, struct fk_err *err)
{
    int rc = k->old ? jfr_read_old_metadata(k, err) : jfr_read_metadata(k, err);
    if (k->ticks_per_second == 0 || k->ticks_per_second > INT64_MAX)
        k->ticks_per_second = (uint64_t)FK_NS_PER_S;
    if (rc || (rc = jfr_read_constants(k, err)) || (rc = jfr_read_settings(k, err)) ||
        (rc = jfr_read_samples(k, err)))
        return rc;
    jfr_rows_span(k->rows, k->start_ns, k->duration_ns);
    return 0;
}

// A chunk with what it allocates: kept while the next one is read, whose events may name its
// stacks.
struct held {
    struct jfr_chunk k;
    struct fk_arena arena;
};

struct jfr {
    const struct fk_decoding *d;
    struct jfr_rows *rows;
    struct held *before; // whose constants are those of `rows`; NULL: none
    struct jfr_labels labels;
    struct jfr_settings set; // of the chunk before
    uint64_t n_read;
};

static void let_go(struct held *h)
{
    if (!h)
        return;
    jfr_free_pools(&h->k);
    fk_map_free(&h->k.type_index);
    fk_map_free(&h->k.event_index);
    fk_arena_free(&h->arena);
    fk_free(h);
}

static struct held *hold(struct jfr *j)
{
    const struct fk_arena *a = j->d->arena;
    struct held *h = fk_calloc(1, sizeof(*h));
    if (!h)
        return NULL;
    fk_arena_init(&h->arena, a->limit == SIZE_MAX ? 0 : FK_MAX(a->limit - a->used, (size_t)1));
    h->k = (struct jfr_chunk){.d = j->d,
                              .rows = j->rows,
                              .labels = &j->labels,
                              .arena = &h->arena,
                              .before = j->before ? &j->before->k : NULL,
                              .set = j->set};
    return h;
}

// The chunk at the begin of `rest`; *ret_size: its bytes, 0 when that is not known.
static int read_chunk(struct jfr *j, struct fk_str rest, uint64_t *ret_size, struct fk_err *err)
{
    struct held *h = hold(j);
    *ret_size = 0;
    if (!h)
        return fk_fail_nomem(err);
    struct jfr_chunk *k = &h->k;
    int rc = read_version(k, rest, ret_size, err);
    if (!rc) {
        k->begin = (const uint8_t *)rest.p;
        k->end = k->begin + *ret_size;
        k->fuel = *ret_size * 16 + 1000000;
        rc = read_body(k, err);
        j->set = k->set;
    }
    k->before = NULL;
    let_go(j->before);
    j->before = rc ? NULL : h;
    if (rc)
        let_go(h);
    return rc;
}

// What was read so far becomes profiles of its own, with the time of its chunks.
static int finish_part(struct jfr *j, struct fk_err *err)
{
    FK_AUTO_ARENA arena;
    fk_arena_init(&arena, j->d->arena->limit == SIZE_MAX ? 0 : j->d->arena->limit);
    int rc = jfr_rows_deliver(j->rows, &arena, err);
    let_go(j->before);
    j->before = NULL;
    jfr_rows_free(j->rows);
    j->rows = rc ? NULL : jfr_rows_new(j->d);
    return rc || j->rows ? rc : fk_decoding_nomem(j->d, err);
}

// A chunk that cannot be read is dropped as long as others can.
static int read_chunks(struct jfr *j, struct fk_str rest, struct fk_err *first)
{
    uint64_t size, dropped = 0;
    struct fk_err why;
    while (rest.n && fk_str_starts(rest, magic)) {
        int rc = read_chunk(j, rest, &size, &why);
        if (rc && rc != -FK_E_FORMAT) {
            *first = why;
            return rc;
        }
        if (rc && !dropped++)
            *first = why;
        j->n_read += rc == 0;
        if (size == 0)
            size = rest.n;
        rest = fk_str_from(rest, (size_t)size);
        if (rest.n && jfr_rows_are_many(j->rows) && (rc = finish_part(j, first)))
            return rc;
    }
    if (j->n_read == 0)
        return -FK_E_FORMAT;
    fk_report_drop(j->d->report, "JFR chunk that could not be read", dropped, "%.100s",
                   dropped ? first->msg : "");
    fk_report_warn(j->d->report, "bytes after the last JFR chunk were ignored", rest.n, "%s", "");
    return 0;
}

int fk_jfr_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct jfr j = {.d = d};
    struct fk_err first = {0};
    if (!fk_str_starts(bytes, magic))
        return fk_fail(err, FK_E_FORMAT, "this is no JFR recording: it does not begin with 'FLR'");
    int rc = jfr_read_labels(d, d->opts->jfr_labels, &j.labels, err);
    if (rc)
        return rc;
    j.rows = jfr_rows_new(d);
    if (!j.rows)
        return fk_decoding_nomem(d, err);
    rc = read_chunks(&j, bytes, &first);
    let_go(j.before);
    if (rc && err)
        *err = first;
    if (!rc)
        rc = jfr_rows_deliver(j.rows, d->arena, err);
    jfr_rows_free(j.rows);
    return rc;
}
