// SPDX-License-Identifier: Apache-2.0
// The command line: one file a command, wiring only. What commands know of profiles they ask
// through the API, of a server or of one in their own process over a data folder: both give the
// same answers.
#ifndef FK_CLI_CLI_H
#define FK_CLI_CLI_H

#include "api/api.h"

// Exit codes, documented in every --help.
enum fk_exit {
    FK_EXIT_OK = 0,
    FK_EXIT_FAILED = 1,   // the work failed; the message says why
    FK_EXIT_USAGE = 2,    // the command line makes no sense
    FK_EXIT_NOTFOUND = 3, // nothing was found
    FK_EXIT_PROBLEMS = 4, // check found problems
};

// argv[0] is the command's name. Returns an exit code.
int fk_cli_main(int argc, char **argv);

#endif
