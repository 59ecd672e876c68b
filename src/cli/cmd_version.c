// SPDX-License-Identifier: Apache-2.0
// flamekeep version
#include "cli/cli_int.h"

static int run(void *options, struct fk_opt_list *args)
{
    (void)options;
    (void)args;
    printf("flamekeep %s (block format %d)\n", FK_VERSION, FK_BLOCK_VERSION);
    return FK_EXIT_OK;
}

const struct fk_command fk_cmd_version = {"version", "", "prints the version", NULL, NULL, 0,
                                          0,         run};
