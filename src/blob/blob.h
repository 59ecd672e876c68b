// SPDX-License-Identifier: Apache-2.0
// Where blocks lie: named byte strings that are written once, read by ranges and deleted. A folder
// (here), later an S3-compatible bucket.
//
// Keys are like "blocks/anonymous/<block id>": 1 to 16 parts of 1 to 200 printable ASCII characters
// without '/', '\\' and a leading '.', joined by '/', at most FK_BLOB_KEY_MAX bytes; else
// FK_E_INVALID. Never change what stands under a key: make a new key. Writing the same again is
// fine.
//
// Threads: the store is safe from any thread; a writer belongs to one thread at a time; a reader's
// source may be read by several.
#ifndef FK_BLOB_BLOB_H
#define FK_BLOB_BLOB_H

#include "base/base.h"
#include "os/os.h"

#define FK_BLOB_KEY_MAX 1024

// A store; implementations embed it as their first member.
struct fk_blob {
    const struct fk_blob_ops *ops;
};

// A blob being written, and one being read; embedded likewise.
struct fk_blob_writer {
    const struct fk_blob_ops *ops;
};
struct fk_blob_reader {
    const struct fk_blob_ops *ops;
    struct fk_source source; // lives as long as the reader
};

struct fk_each_blob {
    int (*on)(void *arg, const char *key, uint64_t size, struct fk_err *err);
    void *arg;
};

struct fk_blob_ops {
    int (*begin)(struct fk_blob *b, const char *key, struct fk_blob_writer **ret,
                 struct fk_err *err);
    int (*write)(struct fk_blob_writer *w, const void *p, size_t n, struct fk_err *err);
    int (*commit)(struct fk_blob_writer *w, struct fk_err *err);
    void (*abort)(struct fk_blob_writer *w);
    int (*open)(struct fk_blob *b, const char *key, struct fk_blob_reader **ret,
                struct fk_err *err);
    void (*close_reader)(struct fk_blob_reader *r);
    int (*size)(struct fk_blob *b, const char *key, uint64_t *ret, struct fk_err *err);
    int (*sync)(struct fk_blob *b, const char *key, struct fk_err *err);
    int (*remove)(struct fk_blob *b, const char *key, struct fk_err *err);
    int (*list)(struct fk_blob *b, const char *prefix, struct fk_each_blob each,
                struct fk_err *err);
    void (*close)(struct fk_blob *b);
};

// The folder `root` (made if need be) of this file system, which is borrowed. One process at a
// time: the caller holds a lock. Leftovers of writes that a crash cut short are removed.
int fk_blob_open_dir(const struct fk_fs *fs, const char *root, struct fk_blob **ret,
                     struct fk_err *err);

static inline void fk_blob_close(struct fk_blob *b)
{
    if (b)
        b->ops->close(b);
}

// --- writing: begin, write any number of times, then exactly one of commit and abort ---
static inline int fk_blob_begin(struct fk_blob *b, const char *key, struct fk_blob_writer **ret,
                                struct fk_err *err)
{
    return b->ops->begin(b, key, ret, err);
}

// After a failed write only abort is of use (commit fails again).
static inline int fk_blob_write(struct fk_blob_writer *w, const void *p, size_t n,
                                struct fk_err *err)
{
    return w->ops->write(w, p, n, err);
}

// 0: the blob is there, whole, and stays after a power loss. Else: it may or may not be there,
// whole; writing it again is fine. Frees the writer in any case.
static inline int fk_blob_commit(struct fk_blob_writer *w, struct fk_err *err)
{
    return w->ops->commit(w, err);
}

// Frees the writer; nothing appears. NULL is fine.
static inline void fk_blob_abort(struct fk_blob_writer *w)
{
    if (w)
        w->ops->abort(w);
}

// The writer as an out for encoders.
struct fk_out fk_blob_out(struct fk_blob_writer *w);
// begin, write, commit at once; of bytes, and of a source (copied in pieces of 1 MiB or less).
int fk_blob_put(struct fk_blob *b, const char *key, struct fk_str bytes, struct fk_err *err);
int fk_blob_put_source(struct fk_blob *b, const char *key, const struct fk_source *from,
                       struct fk_err *err);

// --- reading ---
// FK_E_NOTFOUND. The reader stays good when the blob is removed meanwhile (from a folder: its bytes
// stay until close). The source offers `map` where the file system does.
static inline int fk_blob_open(struct fk_blob *b, const char *key, struct fk_blob_reader **ret,
                               struct fk_err *err)
{
    return b->ops->open(b, key, ret, err);
}

static inline void fk_blob_close_reader(struct fk_blob_reader *r)
{
    if (r)
        r->ops->close_reader(r);
}

// Exactly n bytes.
int fk_blob_get(struct fk_blob *b, const char *key, uint64_t offset, void *to, size_t n,
                struct fk_err *err);

// Bytes of the blob; FK_E_NOTFOUND.
static inline int fk_blob_size(struct fk_blob *b, const char *key, uint64_t *ret,
                               struct fk_err *err)
{
    return b->ops->size(b, key, ret, err);
}

// 1 exists, 0 does not, negative: cannot be told.
int fk_blob_exists(struct fk_blob *b, const char *key, struct fk_err *err);

// 0: what is there stays after a power loss. For blobs found at a start: the process that wrote one
// may have been stopped, or have failed, in commit.
static inline int fk_blob_sync(struct fk_blob *b, const char *key, struct fk_err *err)
{
    return b->ops->sync(b, key, err);
}

// Durable when it returns 0; no error when there is none. Works on a full disk.
static inline int fk_blob_remove(struct fk_blob *b, const char *key, struct fk_err *err)
{
    return b->ops->remove(b, key, err);
}

// All keys that begin with `prefix` (any text; "" all), in no order. The callback may remove the
// blob it is shown; its non-zero result ends the listing and is returned.
static inline int fk_blob_list(struct fk_blob *b, const char *prefix, struct fk_each_blob each,
                               struct fk_err *err)
{
    return b->ops->list(b, prefix, each, err);
}

// 0 when the key is well formed.
int fk_blob_check_key(const char *key, struct fk_err *err);

#endif
