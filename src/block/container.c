// SPDX-License-Identifier: Apache-2.0
// Writing and opening containers, and segments, which are containers of records.
// Tail: 8 bytes offset of the directory, 8 its length, 8 length of extra (which follows the
// directory), 8 XXH3 of directory and extra, 4 version, 4 zero, 8 bytes "\nFKTAIL\n".
#include "block/container_int.h"

#define HEAD_BYTES 16
#define TAIL_BYTES 48

static const char head_magic[8] = {'F', 'K', 'B', 'L', 'O', 'C', 'K', '\n'};
static const char tail_magic[8] = {'\n', 'F', 'K', 'T', 'A', 'I', 'L', '\n'};
#define MAX_SECTIONS ((uint64_t)1 << 24)
#define MAX_RAW      ((uint64_t)4 << 30) // of one section

static int put(struct fk_container_writer *w, const void *p, size_t n, struct fk_err *err)
{
    int r = fk_out_put(w->out, p, n, err);
    if (r == 0)
        w->at += n;
    return r;
}

int fk_container_begin(struct fk_container_writer *w, struct fk_out out, struct fk_err *err)
{
    char head[HEAD_BYTES] = {0};
    uint32_t version = FK_BLOCK_VERSION;
    *w = (struct fk_container_writer){.out = out};
    memcpy(head, head_magic, 8);
    memcpy(head + 8, &version, 4);
    return put(w, head, sizeof(head), err);
}

void fk_container_writer_free(struct fk_container_writer *w)
{
    fk_vec_free(&w->sections);
}

int fk_container_section(struct fk_container_writer *w, uint32_t kind, uint32_t dataset,
                         struct fk_str bytes, bool zstd, struct fk_err *err)
{
    FK_AUTO_BUF packed;
    fk_buf_init(&packed, 0);
    struct fk_str stored = bytes;
    uint32_t encoding = FK_PLAIN;
    if (zstd && bytes.n > 64) {
        int r = fk_zstd(bytes.p, bytes.n, 3, &packed, err);
        if (r)
            return r;
        if (packed.n < bytes.n) {
            stored = fk_buf_view(&packed);
            encoding = FK_ZSTD;
        }
    }
    struct fk_section s = {
        kind, dataset, encoding, w->at, stored.n, bytes.n, fk_hash_bytes(stored.p, stored.n)};
    if (fk_vec_push(&w->sections, s))
        return fk_fail_nomem(err);
    return put(w, stored.p, stored.n, err);
}

int fk_container_end(struct fk_container_writer *w, struct fk_str extra, struct fk_err *err)
{
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (size_t i = 0; i < w->sections.n; i++) {
        const struct fk_section *s = &w->sections.v[i];
        fk_buf_varint(&b, s->kind);
        fk_buf_varint(&b, s->dataset);
        fk_buf_varint(&b, s->encoding);
        fk_buf_varint(&b, s->offset);
        fk_buf_varint(&b, s->stored);
        fk_buf_varint(&b, s->raw);
        fk_buf_le64(&b, s->sum);
    }
    uint64_t directory = b.n;
    fk_buf_str(&b, extra);
    uint64_t sum = fk_hash_bytes(b.p, b.n);
    fk_buf_le64(&b, w->at);
    fk_buf_le64(&b, directory);
    fk_buf_le64(&b, extra.n);
    fk_buf_le64(&b, sum);
    fk_buf_le32(&b, FK_BLOCK_VERSION);
    fk_buf_le32(&b, 0);
    fk_buf_put(&b, tail_magic, sizeof(tail_magic));
    int r = fk_buf_check(&b, "block footer", err);
    return r ? r : put(w, b.p, b.n, err);
}

static int take_section(struct fk_cur *c, struct fk_section *s, uint64_t end)
{
    uint64_t kind, dataset, encoding;
    if (fk_cur_varint_max(c, UINT32_MAX, &kind) || fk_cur_varint_max(c, UINT32_MAX, &dataset) ||
        fk_cur_varint_max(c, FK_ZSTD, &encoding) || fk_cur_varint(c, &s->offset) ||
        fk_cur_varint(c, &s->stored) || fk_cur_varint(c, &s->raw) || fk_cur_le64(c, &s->sum))
        return -1;
    s->kind = (uint32_t)kind;
    s->dataset = (uint32_t)dataset;
    s->encoding = (uint32_t)encoding;
    if (!fk_in_range(s->offset, s->stored, end) || s->raw > MAX_RAW)
        return -1;
    return s->encoding == FK_PLAIN && s->raw != s->stored ? -1 : 0;
}

static int take_directory(struct fk_str bytes, uint64_t end, struct fk_arena *a,
                          struct fk_container *ret, struct fk_err *err)
{
    struct fk_cur c = fk_cur_of(bytes);
    size_t cap = bytes.n / 14 + 1; // a section takes at least 14 bytes
    ret->n = 0;
    ret->section = fk_arena_array(a, cap, sizeof(*ret->section));
    if (!ret->section)
        return fk_fail_nomem(err);
    while (fk_cur_left(&c)) {
        if (ret->n == cap || ret->n == MAX_SECTIONS || take_section(&c, &ret->section[ret->n], end))
            return fk_fail(err, FK_E_CORRUPT, "directory: bad section %zu", ret->n);
        ret->n++;
    }
    return 0;
}

static int check_version(uint32_t version, struct fk_err *err)
{
    if (version == FK_BLOCK_VERSION)
        return 0;
    return fk_fail(
        err, FK_E_UNSUPPORTED,
        "the file has format version %u, this program reads version %u only: use the version of "
        "flamekeep that wrote it",
        version, (unsigned)FK_BLOCK_VERSION);
}

int fk_container_open(const struct fk_source *s, struct fk_arena *a, struct fk_container *ret,
                      struct fk_err *err)
{
    char tail[TAIL_BYTES], head[HEAD_BYTES];
    int r;
    if (s->size < HEAD_BYTES + TAIL_BYTES)
        return fk_fail(err, FK_E_CORRUPT, "%llu bytes are too few for a block",
                       (unsigned long long)s->size);
    if ((r = s->read_at(s->arg, 0, head, sizeof(head), err)) ||
        (r = s->read_at(s->arg, s->size - TAIL_BYTES, tail, sizeof(tail), err)))
        return r;
    if (memcmp(head, head_magic, 8) || memcmp(tail + 40, tail_magic, 8))
        return fk_fail(err, FK_E_CORRUPT, "not a block, or cut off: the magic bytes are missing");
    if ((r = check_version(fk_load32(head + 8), err)) ||
        (r = check_version(fk_load32(tail + 32), err)))
        return r;
    uint64_t at = fk_load64(tail), directory = fk_load64(tail + 8), extra = fk_load64(tail + 16),
             end = s->size - TAIL_BYTES;
    if (!fk_in_range(at, directory, end) || !fk_in_range(at + directory, extra, end) ||
        at + directory + extra != end)
        return fk_fail(err, FK_E_CORRUPT, "the footer points outside of the file");
    char *bytes = fk_arena_alloc(a, (size_t)(directory + extra));
    if (!bytes)
        return fk_fail_nomem(err);
    if ((r = s->read_at(s->arg, at, bytes, (size_t)(directory + extra), err)))
        return r;
    if (fk_hash_bytes(bytes, (size_t)(directory + extra)) != fk_load64(tail + 24))
        return fk_fail(err, FK_E_CORRUPT, "the footer's checksum is wrong");
    ret->extra = fk_str_make(bytes + directory, (size_t)extra);
    return take_directory(fk_str_make(bytes, (size_t)directory), at, a, ret, err);
}

static int stored_bytes(const struct fk_source *s, const struct fk_section *section,
                        struct fk_arena *a, struct fk_str *ret, struct fk_err *err)
{
    const uint8_t *mapped =
        s->map ? s->map(s->arg, section->offset, (size_t)section->stored) : NULL;
    if (mapped) {
        *ret = fk_str_make(mapped, (size_t)section->stored);
        return 0;
    }
    char *p = fk_arena_alloc(a, (size_t)section->stored);
    if (!p)
        return fk_fail_nomem(err);
    *ret = fk_str_make(p, (size_t)section->stored);
    return s->read_at(s->arg, section->offset, p, (size_t)section->stored, err);
}

int fk_container_read(const struct fk_source *s, const struct fk_section *section,
                      struct fk_arena *a, struct fk_str *ret, struct fk_err *err)
{
    struct fk_str stored;
    int r = stored_bytes(s, section, a, &stored, err);
    if (r)
        return r;
    if (fk_hash_bytes(stored.p, stored.n) != section->sum)
        return fk_fail(err, FK_E_CORRUPT, "section %u of dataset %u: the checksum is wrong",
                       section->kind, section->dataset);
    if (section->encoding == FK_PLAIN) {
        *ret = stored;
        return 0;
    }
    char *raw = fk_arena_alloc(a, (size_t)section->raw);
    if (!raw)
        return fk_fail_nomem(err);
    r = fk_unzstd(stored.p, stored.n, raw, (size_t)section->raw, err);
    if (r == 0)
        *ret = fk_str_make(raw, (size_t)section->raw);
    return r;
}

int fk_segment_put(struct fk_buf *b, const struct fk_str *record, size_t n, struct fk_str tenant,
                   struct fk_err *err)
{
    struct fk_container_writer w;
    int r = fk_container_begin(&w, fk_out_buf(b), err);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = fk_container_section(&w, FK_SECTION_RECORD, 0, record[i], false, err);
    if (r == 0)
        r = fk_container_end(&w, tenant, err);
    fk_container_writer_free(&w);
    return r;
}

int fk_segment_read(struct fk_str bytes, struct fk_arena *a, struct fk_segment *ret,
                    struct fk_err *err)
{
    struct fk_source source = fk_source_bytes(&bytes);
    struct fk_container c;
    int r = fk_container_open(&source, a, &c, err);
    if (r)
        return r;
    struct fk_str *record = fk_arena_array(a, FK_MAX(c.n, (size_t)1), sizeof(*record));
    if (!record)
        return fk_fail_nomem(err);
    for (size_t i = 0; i < c.n; i++) {
        if (c.section[i].kind != FK_SECTION_RECORD)
            return fk_fail(err, FK_E_CORRUPT, "segment: section %zu is not a record", i);
        if ((r = fk_container_read(&source, &c.section[i], a, &record[i], err)))
            return r;
    }
    *ret = (struct fk_segment){c.extra, record, c.n};
    return 0;
}
