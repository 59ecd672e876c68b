// SPDX-License-Identifier: Apache-2.0
// SQLite on struct fk_fs.
#ifndef FK_CATALOG_VFS_INT_H
#define FK_CATALOG_VFS_INT_H

#include "os/os.h"

#include <sqlite3.h>

struct vfs {
    sqlite3_vfs vfs; // registered under its name while open
    const struct fk_fs *fs;
    char name[32];
    struct fk_err last; // of the last failed call, for the sentence; guarded as the connection is
};

// Registers; the structure must stay in place until vfs_close.
int vfs_open(struct vfs *v, const struct fk_fs *fs, struct fk_err *err);
void vfs_close(struct vfs *v);

#endif
