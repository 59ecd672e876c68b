// SPDX-License-Identifier: Apache-2.0
// Temporary folders, and what the environment tells tests.
#include "support/support.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *fk_test_tmpdir(void)
{
    const char *base = getenv("TMPDIR");
    char path[FK_PATH_MAX];
    snprintf(path, sizeof(path), "%s/fk-test-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(path)) {
        perror(path);
        abort();
    }
    return strdup(path);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

void fk_test_rmtree(char *path)
{
    if (path)
        nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(path);
}

uint64_t fk_test_seeds(uint64_t normal)
{
    const char *text = getenv("FK_SEEDS");
    uint64_t times = text ? strtoull(text, NULL, 10) : 1;
    uint64_t parts = text && strchr(text, '/') ? strtoull(strchr(text, '/') + 1, NULL, 10) : 1;
    uint64_t seeds = normal * FK_MAX(times, (uint64_t)1) / FK_MAX(parts, (uint64_t)1);
    return FK_MAX(seeds, (uint64_t)1);
}
