// SPDX-License-Identifier: Apache-2.0
// Folders for work that leaves nothing behind.
#include "os/fs.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

int fk_temp_folder(char ret[FK_PATH_MAX], struct fk_err *err)
{
    const char *where = getenv("TMPDIR");
    char path[FK_PATH_MAX];
    int r = fk_path_printf(path, err, "%s/flamekeep-XXXXXX", where && *where ? where : "/tmp");
    if (r)
        return r;
    if (!mkdtemp(path))
        return fk_fail_errno(err, errno, "cannot make the temporary folder %s", path);
    memcpy(ret, path, FK_PATH_MAX);
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path) && errno != ENOENT ? -1 : 0;
}

int fk_temp_folder_remove(const char *path, struct fk_err *err)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS))
        return fk_fail_errno(err, errno, "cannot remove the temporary folder %s", path);
    return 0;
}
