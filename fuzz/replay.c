// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on every file below the given paths: regression without a fuzzer.
//   fuzz_x PATH...      exit 0 when no input broke it
#include "fuzz.h"

#include <ftw.h>
#include <sys/stat.h>

static size_t files; // nftw has no argument for its callback; one thread, one use

static int run(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)ftw;
    if (kind != FTW_F)
        return 0;
    FILE *f = fopen(path, "rb");
    size_t n = (size_t)st->st_size;
    uint8_t *p = malloc(n ? n : 1); // exact, so that a sanitizer sees the end
    if (!f || !p || fread(p, 1, n, f) != n) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    fclose(f);
    LLVMFuzzerTestOneInput(p, n);
    free(p);
    files++;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (nftw(argv[i], run, 16, FTW_PHYS)) {
            fprintf(stderr, "%s cannot be read\n", argv[i]);
            return 2;
        }
    printf("%zu inputs\n", files);
    return files ? 0 : 2;
}
