// SPDX-License-Identifier: Apache-2.0
// Packs. Layout: head of 64 bytes (8 magic "FKPACK\n\0", 4 version, 4 zero, 16 pack id, 24 zero, 8
// XXH3 of the 56 before), then frames at multiples of 8: 8 bytes magic "FKFRAME\n", 8 length, 8
// XXH3 of the segment, 8 XXH3 of the 24 before; the segment; zeros up to a multiple of 8. Frames of
// one batch but its first end their magic with '+': they become durable together. The file is
// preallocated in steps, so what follows the last frame is zeros: no frame magic.
#include "store/store_int.h"

#define HEAD_BYTES  64
#define FRAME_BYTES FK_PACK_FRAME
#define STEP_BYTES  ((uint64_t)8 << 20)

static const char pack_magic[8] = {'F', 'K', 'P', 'A', 'C', 'K', '\n', 0};
static const char frame_magic[2][8] = {{'F', 'K', 'F', 'R', 'A', 'M', 'E', '\n'},
                                       {'F', 'K', 'F', 'R', 'A', 'M', 'E', '+'}};

static uint64_t padded(uint64_t n)
{
    return (n + 7) & ~(uint64_t)7;
}

static int write_head(struct fk_pack *p, struct fk_err *err)
{
    char head[HEAD_BYTES] = {0};
    uint32_t version = FK_BLOCK_VERSION;
    memcpy(head, pack_magic, 8);
    memcpy(head + 8, &version, 4);
    memcpy(head + 16, &p->id.hi, 8);
    memcpy(head + 24, &p->id.lo, 8);
    uint64_t sum = fk_hash_bytes(head, HEAD_BYTES - 8);
    memcpy(head + HEAD_BYTES - 8, &sum, 8);
    return fk_file_write_at(p->file, 0, head, sizeof(head), err);
}

int fk_pack_create(const struct fk_fs *fs, const char *dir, struct fk_id id, struct fk_pack **ret,
                   struct fk_err *err)
{
    struct fk_pack *p = fk_calloc(1, sizeof(*p));
    if (!p)
        return fk_fail_nomem(err);
    char folder[FK_PATH_MAX], text[FK_ID_CHARS + 1];
    p->id = id;
    p->used = HEAD_BYTES;
    fk_id_format(id, text);
    int r = fk_path_printf(folder, err, "%s/packs", dir);
    if (r == 0)
        r = fk_path_printf(p->path, err, "%s/%s.pack", folder, text);
    if (r == 0)
        r = fk_fs_open(fs, p->path, FK_OPEN_CREATE, &p->file, err);
    if (r) {
        fk_free(p);
        return r;
    }
    if ((r = fk_file_preallocate(p->file, STEP_BYTES, err)) || (r = write_head(p, err)) ||
        (r = fk_file_fdatasync(p->file, err)) || (r = fk_fs_sync_dir(fs, folder, err))) {
        fk_file_close(p->file);
        fk_fs_unlink(fs, p->path, NULL);
        fk_free(p);
        return r;
    }
    p->allocated = STEP_BYTES;
    *ret = p;
    return 0;
}

static uint64_t steps(uint64_t need)
{
    return (need + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
}

uint64_t fk_pack_growth(const struct fk_pack *p, uint64_t bytes, size_t frames)
{
    uint64_t need = bytes + frames * (FRAME_BYTES + 8);
    if (!p || p->dead)
        return steps(HEAD_BYTES + need);
    return p->used + need > p->allocated ? steps(p->used + need) - p->allocated : 0;
}

static int reserve(struct fk_pack *p, uint64_t need, struct fk_err *err)
{
    if (need <= p->allocated)
        return 0;
    uint64_t size = steps(need);
    int r = fk_file_preallocate(p->file, size, err);
    if (r == 0)
        p->allocated = size;
    return r;
}

int fk_pack_append(struct fk_pack *p, struct fk_buf *framed, unsigned how, struct fk_err *err)
{
    char *frame = framed->p;
    uint64_t length = framed->n - FRAME_BYTES, sum = fk_hash_bytes(frame + FRAME_BYTES, length),
             end = p->used + FRAME_BYTES + padded(length);
    int r = reserve(p, end, err);
    if (r) // nothing was written: the pack is as good as before
        return r;
    memcpy(frame, frame_magic[how & FK_PACK_MORE ? 1 : 0], 8);
    memcpy(frame + 8, &length, 8);
    memcpy(frame + 16, &sum, 8);
    sum = fk_hash_bytes(frame, 24);
    memcpy(frame + 24, &sum, 8);
    if ((r = fk_file_write_at(p->file, p->used, frame, framed->n, err)) ||
        (!(how & FK_PACK_NO_SYNC) && (r = fk_file_fdatasync(p->file, err)))) {
        p->dead = true;
        return r;
    }
    p->used = end;
    return 0;
}

void fk_pack_close(struct fk_pack *p)
{
    if (!p)
        return;
    if (!p->dead)
        fk_file_truncate(p->file, p->used, NULL); // only to give room back; not synced, not needed
    fk_file_close(p->file);
    fk_free(p);
}

// ---- reading ----

static bool is_magic(const uint8_t *p)
{
    return !memcmp(p, frame_magic[0], 8) || !memcmp(p, frame_magic[1], 8);
}

// 0: no frame here; 1: a good one; -1: something that begins like a frame or ends too early.
static int frame_at(const uint8_t *p, uint64_t size, uint64_t at, uint64_t *ret_length)
{
    if (!fk_in_range(at, FRAME_BYTES, size))
        return 0;
    const uint8_t *f = p + at;
    uint64_t length = fk_load64(f + 8);
    if (fk_hash_bytes(f, 24) != fk_load64(f + 24) || !is_magic(f))
        return fk_load64(f) || length || fk_load64(f + 16) || fk_load64(f + 24) ? -1 : 0;
    *ret_length = length;
    if (!fk_in_range(at + FRAME_BYTES, length, size))
        return -1;
    return fk_hash_bytes(f + FRAME_BYTES, (size_t)length) == fk_load64(f + 16) ? 1 : -1;
}

// Bytes from `at` to the last one that is not zero.
static uint64_t bytes_left(const uint8_t *p, uint64_t size, uint64_t at)
{
    while (size >= at + 8 && fk_load64(p + size - 8) == 0) // megabytes of it in a fresh pack
        size -= 8;
    while (size > at && p[size - 1] == 0)
        size--;
    return size - FK_MIN(at, size);
}

// The next good frame behind a damaged place; size when there is none.
static uint64_t resync(const uint8_t *p, uint64_t size, uint64_t at)
{
    uint64_t length;
    for (at = padded(at + 1); at + FRAME_BYTES <= size; at += 8)
        if (is_magic(p + at) && frame_at(p, size, at, &length) == 1)
            return at;
    return size;
}

static int scan_frames(const uint8_t *p, uint64_t size, struct fk_pack_scan *scan,
                       struct fk_err *err)
{
    uint64_t at = HEAD_BYTES, length = 0, damaged = 0;
    for (;;) {
        int found = frame_at(p, size, at, &length);
        if (found == 1) {
            if (memcmp(p + at, frame_magic[1], 8)) { // acknowledged bytes have gone bad
                scan->bad_frames += damaged;
                damaged = 0;
            }
            int r = scan->on(scan->arg, fk_str_make(p + at + FRAME_BYTES, (size_t)length), err);
            if (r)
                return r;
            scan->frames++;
            at += FRAME_BYTES + padded(length);
            continue;
        }
        uint64_t next = found < 0 || bytes_left(p, size, at) ? resync(p, size, at) : size;
        if (next < size) {
            damaged++; // whether it was acknowledged is known when a later batch is found
            at = next;
            continue;
        }
        scan->torn_bytes += bytes_left(p, size, at); // an unfinished write at the end
        return 0;
    }
}

int fk_pack_read(const struct fk_fs *fs, const char *path, struct fk_pack_scan *scan,
                 struct fk_err *err)
{
    FK_AUTO_FILE file = NULL;
    const uint8_t *p;
    size_t n;
    int r = fk_fs_open(fs, path, FK_OPEN_READ, &file, err);
    if (r || (r = fk_file_map(file, &p, &n, err)))
        return r;
    if (n < HEAD_BYTES || memcmp(p, pack_magic, 8) ||
        fk_hash_bytes(p, HEAD_BYTES - 8) != fk_load64(p + HEAD_BYTES - 8)) {
        scan->bad_header = true;
        scan->torn_bytes += bytes_left(p, n, HEAD_BYTES);
        return 0;
    }
    if (fk_load32(p + 8) != FK_BLOCK_VERSION)
        return fk_fail(err, FK_E_UNSUPPORTED,
                       "%s has format version %u, this program reads version %u only", path,
                       fk_load32(p + 8), (unsigned)FK_BLOCK_VERSION);
    return scan_frames(p, n, scan, err);
}
