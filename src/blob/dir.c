// SPDX-License-Identifier: Apache-2.0
// Blobs as files of a folder.
//
// A blob is written to <root>/.tmp/<number>, synced, renamed to its key, and the key's folder
// synced: so a key is there whole or not at all. Parts of keys do not begin with '.', so no key
// meets .tmp.
#include "blob/blob.h"

#include <inttypes.h>
#include <stdio.h>

#define BUFFER ((size_t)256 << 10)

struct dir_blob {
    struct fk_blob blob;
    const struct fk_fs *fs;
    _Atomic uint64_t next;  // number of the next temporary file
    struct fk_mutex lock;   // guards `durable`
    FK_VEC(char *) durable; // folders whose names this process has synced; owned
    char root[FK_PATH_MAX];
};

struct dir_writer {
    struct fk_blob_writer writer;
    struct dir_blob *dir;
    struct fk_file *file;
    uint64_t at; // bytes written to the file
    size_t n;    // bytes in buf
    int failed;  // first failure of a write
    char tmp[FK_PATH_MAX], path[FK_PATH_MAX];
    uint8_t buf[BUFFER];
};

struct dir_reader {
    struct fk_blob_reader reader;
    struct fk_file *file;
};

static struct dir_blob *of(struct fk_blob *b)
{
    return (struct dir_blob *)b;
}

static int path_of(const struct dir_blob *d, const char *key, char ret[FK_PATH_MAX],
                   struct fk_err *err)
{
    int r = fk_blob_check_key(key, err);
    return r ? r : fk_path_printf(ret, err, "%s/%s", d->root, key);
}

// --- folders ---
static bool known(struct dir_blob *d, const char *folder)
{
    bool ret = false;
    fk_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->durable.n && !ret; i++)
        ret = strcmp(d->durable.v[i], folder) == 0;
    fk_mutex_unlock(&d->lock);
    return ret;
}

// Only a cache: without memory, or beyond 1,024 folders, the next write syncs again.
static void remember(struct dir_blob *d, const char *folder)
{
    char *copy = fk_strndup(folder, strlen(folder));
    fk_mutex_lock(&d->lock);
    if (copy && d->durable.n < 1024 && fk_vec_push(&d->durable, copy) == 0)
        copy = NULL;
    fk_mutex_unlock(&d->lock);
    fk_free(copy);
}

static int need_folder(struct dir_blob *d, const char *folder, struct fk_err *err)
{
    if (known(d, folder))
        return 0;
    int r = fk_fs_mkdirs(d->fs, folder, err);
    if (r == 0)
        remember(d, folder);
    return r;
}

// --- writing ---
static int dir_begin(struct fk_blob *b, const char *key, struct fk_blob_writer **ret,
                     struct fk_err *err)
{
    struct dir_blob *d = of(b);
    struct dir_writer *w = fk_malloc(sizeof(*w));
    if (!w)
        return fk_fail_nomem(err);
    w->writer.ops = b->ops;
    w->dir = d;
    w->at = w->n = 0;
    w->failed = 0;
    int r = path_of(d, key, w->path, err);
    if (r == 0)
        r = fk_path_printf(w->tmp, err, "%s/.tmp/%" PRIu64, d->root, atomic_fetch_add(&d->next, 1));
    if (r == 0)
        r = fk_fs_open(d->fs, w->tmp, FK_OPEN_CREATE, &w->file, err);
    if (r) {
        fk_free(w);
        return r;
    }
    *ret = &w->writer;
    return 0;
}

static int put(struct dir_writer *w, const void *p, size_t n, struct fk_err *err)
{
    int r = n ? fk_file_write_at(w->file, w->at, p, n, err) : 0;
    if (r == 0)
        w->at += n;
    else
        w->failed = -r;
    return r;
}

static int dir_write(struct fk_blob_writer *writer, const void *p, size_t n, struct fk_err *err)
{
    struct dir_writer *w = (struct dir_writer *)writer;
    if (w->failed)
        return fk_fail(err, (enum fk_error)w->failed, "writing %s has failed already", w->path);
    if (n > BUFFER - w->n) {
        int r = put(w, w->buf, w->n, err);
        if (r)
            return r;
        w->n = 0;
    }
    if (n > BUFFER)
        return put(w, p, n, err);
    if (n)
        memcpy(w->buf + w->n, p, n);
    w->n += n;
    return 0;
}

// The temporary file is removed unless it has its name; what cannot be removed goes at next start.
static void end(struct dir_writer *w, bool renamed)
{
    fk_file_close(w->file);
    if (!renamed)
        fk_fs_unlink(w->dir->fs, w->tmp, NULL);
    fk_free(w);
}

static void dir_abort(struct fk_blob_writer *writer)
{
    end((struct dir_writer *)writer, false);
}

static int flush(struct dir_writer *w, struct fk_err *err)
{
    if (w->failed)
        return fk_fail(err, (enum fk_error)w->failed, "writing %s has failed already", w->path);
    int r = put(w, w->buf, w->n, err);
    return r ? r : fk_file_fdatasync(w->file, err);
}

static int dir_commit(struct fk_blob_writer *writer, struct fk_err *err)
{
    struct dir_writer *w = (struct dir_writer *)writer;
    struct dir_blob *d = w->dir;
    char folder[FK_PATH_MAX];
    fk_path_parent(w->path, folder);
    int r = flush(w, err);
    if (r == 0)
        r = need_folder(d, folder, err);
    if (r == 0)
        r = fk_fs_rename(d->fs, w->tmp, w->path, err);
    bool renamed = r == 0;
    if (r == 0)
        r = fk_fs_sync_dir(d->fs, folder, err);
    end(w, renamed);
    return r;
}

// --- reading ---
static int dir_open(struct fk_blob *b, const char *key, struct fk_blob_reader **ret,
                    struct fk_err *err)
{
    struct dir_blob *d = of(b);
    char path[FK_PATH_MAX];
    struct dir_reader *r = fk_calloc(1, sizeof(*r));
    if (!r)
        return fk_fail_nomem(err);
    r->reader.ops = b->ops;
    int res = path_of(d, key, path, err);
    if (res == 0)
        res = fk_fs_open(d->fs, path, FK_OPEN_READ, &r->file, err);
    if (res == 0)
        res = fk_file_source(r->file, true, &r->reader.source, err);
    if (res) {
        fk_file_close(r->file);
        fk_free(r);
        return res;
    }
    *ret = &r->reader;
    return 0;
}

static void dir_close_reader(struct fk_blob_reader *reader)
{
    struct dir_reader *r = (struct dir_reader *)reader;
    fk_file_close(r->file);
    fk_free(r);
}

static int dir_size(struct fk_blob *b, const char *key, uint64_t *ret, struct fk_err *err)
{
    struct fk_file_stat st;
    char path[FK_PATH_MAX];
    int r = path_of(of(b), key, path, err);
    if (r == 0)
        r = fk_fs_stat(of(b)->fs, path, &st, err);
    if (r)
        return r;
    if (st.is_dir)
        return fk_fail(err, FK_E_NOTFOUND, "%s is a folder", path);
    *ret = st.size;
    return 0;
}

// The bytes were durable before the key was there; the name may not be.
static int dir_sync(struct fk_blob *b, const char *key, struct fk_err *err)
{
    char path[FK_PATH_MAX], folder[FK_PATH_MAX];
    int r = path_of(of(b), key, path, err);
    if (r)
        return r;
    fk_path_parent(path, folder);
    r = need_folder(of(b), folder, err);
    return r ? r : fk_fs_sync_dir(of(b)->fs, folder, err);
}

static int dir_remove(struct fk_blob *b, const char *key, struct fk_err *err)
{
    struct dir_blob *d = of(b);
    char path[FK_PATH_MAX], folder[FK_PATH_MAX];
    int r = path_of(d, key, path, err);
    if (r)
        return r;
    r = fk_fs_unlink(d->fs, path, err);
    if (r && r != -FK_E_NOTFOUND)
        return r;
    // Also when it was gone: an earlier call may have failed at this point.
    fk_path_parent(path, folder);
    r = fk_fs_sync_dir(d->fs, folder, err);
    return r == -FK_E_NOTFOUND ? 0 : r;
}

// --- listing ---
struct walk {
    struct dir_blob *dir;
    struct fk_str prefix;
    struct fk_each_blob each;
    char key[FK_BLOB_KEY_MAX + 2]; // of the folder being listed, with a final '/', or ""
    size_t n;
};

static int walk_folder(struct walk *w, struct fk_err *err);

static int show(struct walk *w, struct fk_err *err)
{
    uint64_t size;
    int r = dir_size(&w->dir->blob, w->key, &size, err);
    if (r == -FK_E_NOTFOUND) // removed meanwhile
        return 0;
    return r ? r : w->each.on(w->each.arg, w->key, size, err);
}

// Names that are no parts of keys are not ours. Folders beside the prefix are not entered.
static int walk_name(void *arg, const char *name, bool is_dir, struct fk_err *err)
{
    struct walk *w = arg;
    size_t n = w->n, len = strlen(name);
    if (fk_blob_check_key(name, NULL) || n + len + 1 > FK_BLOB_KEY_MAX)
        return 0;
    memcpy(w->key + n, name, len);
    if (is_dir)
        w->key[n + len++] = '/';
    w->key[n + len] = '\0';
    struct fk_str key = {w->key, n + len};
    int r = 0;
    if (is_dir) {
        w->n = n + len;
        if (fk_str_starts(key, w->prefix) || fk_str_starts(w->prefix, key))
            r = walk_folder(w, err);
        w->n = n;
    } else if (fk_str_starts(key, w->prefix)) {
        r = show(w, err);
    }
    w->key[n] = '\0';
    return r;
}

// Nests at most as deep as a key can be long.
static int walk_folder(struct walk *w, struct fk_err *err)
{
    char path[FK_PATH_MAX];
    int r = fk_path_printf(path, err, "%s/%s", w->dir->root, w->key);
    if (r == 0)
        r = fk_fs_list(w->dir->fs, path, (struct fk_each_name){walk_name, w}, err);
    return r;
}

static int dir_list(struct fk_blob *b, const char *prefix, struct fk_each_blob each,
                    struct fk_err *err)
{
    struct walk w = {.dir = of(b), .prefix = fk_str_of(prefix), .each = each};
    return walk_folder(&w, err);
}

// --- life ---
static void dir_close(struct fk_blob *b)
{
    struct dir_blob *d = of(b);
    for (size_t i = 0; i < d->durable.n; i++)
        fk_free(d->durable.v[i]);
    fk_vec_free(&d->durable);
    fk_mutex_destroy(&d->lock);
    fk_free(d);
}

static const struct fk_blob_ops ops = {
    .begin = dir_begin,
    .write = dir_write,
    .commit = dir_commit,
    .abort = dir_abort,
    .open = dir_open,
    .close_reader = dir_close_reader,
    .size = dir_size,
    .sync = dir_sync,
    .remove = dir_remove,
    .list = dir_list,
    .close = dir_close,
};

static int sweep_one(void *arg, const char *name, bool is_dir, struct fk_err *err)
{
    const struct dir_blob *d = arg;
    char path[FK_PATH_MAX];
    if (is_dir)
        return 0;
    int r = fk_path_printf(path, err, "%s/.tmp/%s", d->root, name);
    return r ? r : fk_fs_unlink(d->fs, path, err);
}

static int prepare(struct dir_blob *d, const char *root, struct fk_err *err)
{
    char tmp[FK_PATH_MAX];
    int r = fk_path_printf(d->root, err, "%s", root);
    if (r == 0)
        r = fk_path_printf(tmp, err, "%s/.tmp", root);
    if (r == 0)
        r = fk_fs_mkdirs(d->fs, tmp, err);
    return r ? r : fk_fs_list(d->fs, tmp, (struct fk_each_name){sweep_one, d}, err);
}

int fk_blob_open_dir(const struct fk_fs *fs, const char *root, struct fk_blob **ret,
                     struct fk_err *err)
{
    struct dir_blob *d = fk_calloc(1, sizeof(*d));
    if (!d)
        return fk_fail_nomem(err);
    d->blob.ops = &ops;
    d->fs = fs;
    fk_mutex_init(&d->lock, FK_RANK_BLOB);
    int r = prepare(d, root, err);
    if (r) {
        dir_close(&d->blob);
        return r;
    }
    *ret = &d->blob;
    return 0;
}
