// SPDX-License-Identifier: Apache-2.0
// Exports: what one is made of, shared by the single file (export.c) and the archive of several
// (export_each.c).
#ifndef FK_API_EXPORT_INT_H
#define FK_API_EXPORT_INT_H

#include "api/api_int.h"

enum fk_export_kind {
    FK_EXPORT_WHOLE,    // an encoder of the formats room, over a profile
    FK_EXPORT_TREE,     // from the function tree
    FK_EXPORT_ORIGINAL, // the bytes as they came
};

struct fk_export_form {
    const char *word, *ending, *media;
    enum fk_export_kind kind;
    enum fk_format format; // of WHOLE
    bool one_type;         // of WHOLE: holds one value column
};

struct fk_export {
    struct fk_api_call *c;
    const struct fk_export_form *form;
    uint32_t max_nodes;
    bool each; // one of several files
    // of the source at hand, set by fk_export_look
    struct fk_query *q;
    struct fk_entry first; // the latest entry
    bool single;           // there is no other
    bool has_type;
    struct fk_type_facts type;
    struct fk_str file_name, title;
};

// Finds out what the source is; its file's name. FK_E_NOTFOUND when it is empty.
int fk_export_look(struct fk_export *x, struct fk_query *q, struct fk_err *err);
// Writes its file.
int fk_export_write(struct fk_export *x, struct fk_out out, struct fk_err *err);
// Every profile of the source as a file of one zip.
int fk_export_each(struct fk_export *x, struct fk_err *err);

#endif
