// SPDX-License-Identifier: Apache-2.0
// The program: hands everything to the command line room, so that tests can call it too.
#include "cli/cli.h"

int main(int argc, char **argv)
{
    return fk_cli_main(argc, argv);
}
