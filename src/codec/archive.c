// SPDX-License-Identifier: Apache-2.0
// Writing zip files.
#include "codec/archive.h"

#include <libdeflate.h>

enum {
    LOCAL = 0x04034b50,
    CENTRAL = 0x02014b50,
    END = 0x06054b50,
    END64 = 0x06064b50,
    LOCATOR64 = 0x07064b50,
    PLAIN = 20, // versions that are needed to read it
    ZIP64 = 45,
    UTF8 = 1 << 11,
    UNIX = 3 << 8,
    STORED = 0,
    DEFLATED = 8,
};

void fk_archive_init(struct fk_archive *a, struct fk_out out)
{
    memset(a, 0, sizeof(*a));
    a->out = out;
    fk_buf_init(&a->buf, 0);
}

void fk_archive_free(struct fk_archive *a)
{
    for (size_t i = 0; i < a->members.n; i++)
        fk_free(a->members.v[i].name);
    fk_vec_free(&a->members);
    fk_buf_free(&a->buf);
}

static int send(struct fk_archive *a, const void *p, size_t n, struct fk_err *err)
{
    int rc = fk_out_put(a->out, p, n, err);
    a->at += rc ? 0 : n;
    return rc;
}

static int flush(struct fk_archive *a, struct fk_err *err)
{
    int rc = fk_buf_check(&a->buf, "zip file", err);
    if (!rc)
        rc = send(a, a->buf.p, a->buf.n, err);
    fk_buf_clear(&a->buf);
    return rc;
}

static uint32_t number(const char *digits, int n)
{
    uint32_t v = 0;
    for (int i = 0; i < n; i++)
        v = v * 10 + (uint32_t)(digits[i] - '0');
    return v;
}

// Date and time as MS-DOS has them: from 1980 on, to two seconds, here in UTC.
static uint32_t dos_time(int64_t time_ns)
{
    char t[FK_TIME_CHARS + 1]; // 2026-11-30T12:00:00
    fk_time_format(time_ns, t);
    uint32_t year = number(t, 4);
    if (t[4] != '-' || year < 1980 || year > 2107)
        return 1 << 21 | 1 << 16; // 1980-01-01
    return (year - 1980) << 25 | number(t + 5, 2) << 21 | number(t + 8, 2) << 16 |
           number(t + 11, 2) << 11 | number(t + 14, 2) << 5 | number(t + 17, 2) / 2;
}

// The fields that a member's own head and the directory share.
static void put_facts(struct fk_buf *b, const struct fk_archive_member *m)
{
    fk_buf_le16(b, UTF8);
    fk_buf_le16(b, m->method);
    fk_buf_le32(b, m->time);
    fk_buf_le32(b, m->crc);
    fk_buf_le32(b, m->packed);
    fk_buf_le32(b, m->size);
    fk_buf_le16(b, (uint16_t)m->n_name);
}

// The member's bytes as they will stand there, appended to the buffer; the method.
static int pack(struct fk_buf *b, struct fk_str bytes, uint16_t *ret, struct fk_err *err)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
    char *room = c && bytes.n ? fk_buf_reserve(b, bytes.n) : NULL;
    size_t got = room ? libdeflate_deflate_compress(c, bytes.p, bytes.n, room, bytes.n - 1) : 0;
    libdeflate_free_compressor(c);
    if (!c)
        return fk_fail_nomem(err);
    b->n += got;
    *ret = got ? DEFLATED : STORED;
    return fk_buf_check(b, "zip file", err);
}

static int put_member(struct fk_archive *a, struct fk_archive_member *m, struct fk_str bytes,
                      struct fk_err *err)
{
    FK_AUTO_BUF packed;
    fk_buf_init(&packed, 0);
    int rc = pack(&packed, bytes, &m->method, err);
    if (rc)
        return rc;
    struct fk_str body = m->method == DEFLATED ? fk_buf_view(&packed) : bytes;
    m->packed = (uint32_t)body.n;
    fk_buf_le32(&a->buf, LOCAL);
    fk_buf_le16(&a->buf, PLAIN);
    put_facts(&a->buf, m);
    fk_buf_le16(&a->buf, 0); // no extra field
    fk_buf_put(&a->buf, m->name, m->n_name);
    rc = flush(a, err);
    return rc ? rc : send(a, body.p, body.n, err);
}

int fk_archive_add(struct fk_archive *a, struct fk_str name, struct fk_str bytes, int64_t time_ns,
                   struct fk_err *err)
{
    if (bytes.n >= UINT32_MAX || name.n > UINT16_MAX)
        return fk_fail_limit(err, "zip", UINT32_MAX, NULL, "a file of %zu bytes is too large",
                             bytes.n);
    struct fk_archive_member m = {.name = fk_strndup(name.p, name.n),
                                  .n_name = (uint32_t)name.n,
                                  .size = (uint32_t)bytes.n,
                                  .crc = libdeflate_crc32(0, bytes.n ? bytes.p : "", bytes.n),
                                  .time = dos_time(time_ns),
                                  .at = a->at};
    if (!m.name || fk_vec_push(&a->members, m)) {
        fk_free(m.name);
        return fk_fail_nomem(err);
    }
    return put_member(a, &a->members.v[a->members.n - 1], bytes, err);
}

static void put_entry(struct fk_buf *b, const struct fk_archive_member *m)
{
    bool far = m->at >= UINT32_MAX;
    fk_buf_le32(b, CENTRAL);
    fk_buf_le16(b, UNIX | ZIP64);
    fk_buf_le16(b, far ? ZIP64 : PLAIN);
    put_facts(b, m);
    fk_buf_le16(b, far ? 12 : 0);
    fk_buf_le16(b, 0); // no comment
    fk_buf_le16(b, 0); // of the first disk
    fk_buf_le16(b, 0);
    fk_buf_le32(b, 0100644u << 16); // a plain file that its owner may write
    fk_buf_le32(b, far ? UINT32_MAX : (uint32_t)m->at);
    fk_buf_put(b, m->name, m->n_name);
    if (far) {
        fk_buf_le16(b, 1);
        fk_buf_le16(b, 8);
        fk_buf_le64(b, m->at);
    }
}

static void put_end64(struct fk_buf *b, uint64_t n, uint64_t size, uint64_t at)
{
    fk_buf_le32(b, END64);
    fk_buf_le64(b, 44); // of what follows
    fk_buf_le16(b, UNIX | ZIP64);
    fk_buf_le16(b, ZIP64);
    fk_buf_le32(b, 0);
    fk_buf_le32(b, 0);
    fk_buf_le64(b, n);
    fk_buf_le64(b, n);
    fk_buf_le64(b, size);
    fk_buf_le64(b, at);
    fk_buf_le32(b, LOCATOR64);
    fk_buf_le32(b, 0);
    fk_buf_le64(b, at + size);
    fk_buf_le32(b, 1);
}

int fk_archive_finish(struct fk_archive *a, struct fk_err *err)
{
    uint64_t begin = a->at, n = a->members.n;
    int rc = 0;
    for (size_t i = 0; !rc && i < n; i++) {
        put_entry(&a->buf, &a->members.v[i]);
        rc = a->buf.n > 1 << 15 ? flush(a, err) : 0;
    }
    if (!rc)
        rc = flush(a, err);
    if (rc)
        return rc;
    uint64_t size = a->at - begin;
    if (n >= UINT16_MAX || begin >= UINT32_MAX || size >= UINT32_MAX)
        put_end64(&a->buf, n, size, begin);
    fk_buf_le32(&a->buf, END);
    fk_buf_le32(&a->buf, 0);
    fk_buf_le16(&a->buf, (uint16_t)FK_MIN(n, (uint64_t)UINT16_MAX));
    fk_buf_le16(&a->buf, (uint16_t)FK_MIN(n, (uint64_t)UINT16_MAX));
    fk_buf_le32(&a->buf, (uint32_t)FK_MIN(size, (uint64_t)UINT32_MAX));
    fk_buf_le32(&a->buf, (uint32_t)FK_MIN(begin, (uint64_t)UINT32_MAX));
    fk_buf_le16(&a->buf, 0);
    return flush(a, err);
}
