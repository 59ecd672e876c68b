// SPDX-License-Identifier: Apache-2.0
// Choosing a command.
#include "cli/cli_int.h"

const struct fk_command *const fk_commands[] = {
    &fk_cmd_serve,  &fk_cmd_push,    &fk_cmd_ls,     &fk_cmd_show,  &fk_cmd_top,   &fk_cmd_diff,
    &fk_cmd_export, &fk_cmd_convert, &fk_cmd_labels, &fk_cmd_check, &fk_cmd_admin, &fk_cmd_version};
const size_t fk_commands_n = FK_COUNTOF(fk_commands);

static void help(FILE *to)
{
    fprintf(to, "flamekeep COMMAND [OPTIONS]\n\nCollects profiles, keeps each one, and shows "
                "them.\n\nCommands:\n");
    for (size_t i = 0; i < fk_commands_n; i++)
        fprintf(to, "  %-10s %s\n", fk_commands[i]->name, fk_commands[i]->summary);
    fprintf(to, "\nflamekeep COMMAND --help tells more. Commands that ask take --server URL (or "
                "FLAMEKEEP_SERVER) or --data DIR.\n");
}

int fk_cli_main(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return FK_EXIT_USAGE;
    }
    struct fk_str name = fk_str_of(argv[1]);
    if (fk_str_eq(name, FK_S("--help")) || fk_str_eq(name, FK_S("help"))) {
        help(stdout);
        return FK_EXIT_OK;
    }
    if (fk_str_eq(name, FK_S("--version")))
        name = FK_S("version");
    for (size_t i = 0; i < fk_commands_n; i++)
        if (fk_str_eq(name, fk_str_of(fk_commands[i]->name)))
            return fk_command_main(fk_commands[i], argc - 1, argv + 1);
    fprintf(stderr, "flamekeep: there is no command '%.*s'; flamekeep --help lists them\n",
            FK_STR_ARG(name));
    return FK_EXIT_USAGE;
}
