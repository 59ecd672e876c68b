// SPDX-License-Identifier: Apache-2.0
// Which package a function belongs to, guessed from its name and file as the languages write them.
#include "model/tree.h"

static struct fk_str base_name(struct fk_str path)
{
    ptrdiff_t slash = fk_str_rchr(path, '/');
    return slash < 0 ? path : fk_str_from(path, (size_t)slash + 1);
}

// Go: import path up to the first dot after the last slash. Java with slashes or dots: without
// class and method, which is recognised by the class's capital letter.
// The name without what compilers append for a copy of a C function: f.isra.0, f.constprop.1.cold.
static struct fk_str without_suffix(struct fk_str name)
{
    static const char *const marks[] = {".isra", ".part",     ".constprop",
                                        ".cold", ".lto_priv", ".localalias"};
    for (size_t i = 0; i < FK_COUNTOF(marks); i++) {
        ptrdiff_t at = fk_str_find(name, fk_str_of(marks[i]));
        size_t end = (size_t)at + strlen(marks[i]);
        if (at > 0 && (end == name.n || name.p[end] == '.'))
            name = fk_str_head(name, (size_t)at);
    }
    return name;
}

static struct fk_str dotted_package(struct fk_str name)
{
    ptrdiff_t paren = fk_str_chr(name, '(');
    struct fk_str head = paren > 0 ? fk_str_head(name, (size_t)paren) : name;
    ptrdiff_t slash = fk_str_rchr(head, '/');
    struct fk_str last = fk_str_from(name, (size_t)(slash + 1));
    if (slash > 0 && last.n && last.p[0] >= 'A' && last.p[0] <= 'Z')
        return fk_str_head(name, (size_t)slash);
    ptrdiff_t dot = fk_str_chr(last, '.');
    if (dot <= 0)
        return (struct fk_str){NULL, 0};
    struct fk_str package = fk_str_head(name, (size_t)(slash + 1 + dot));
    struct fk_str rest = fk_str_from(last, (size_t)dot + 1);
    while (slash < 0 && rest.n && rest.p[0] >= 'a' && rest.p[0] <= 'z' &&
           (dot = fk_str_chr(rest, '.')) > 0) {
        package.n += (size_t)dot + 1; // com.acme.Class.method: lower-case parts are packages
        rest = fk_str_from(rest, (size_t)dot + 1);
    }
    return package;
}

// C++ and Rust: the namespace before the last "::" that is not inside brackets.
static struct fk_str colon_package(struct fk_str name)
{
    size_t depth = 0, cut = 0;
    for (size_t i = 0; i + 1 < name.n; i++) {
        char c = name.p[i];
        if (c == '(' && depth == 0)
            break;
        depth += c == '<' || c == '{';
        depth -= depth && (c == '>' || c == '}');
        if (depth == 0 && c == ':' && name.p[i + 1] == ':')
            cut = i++;
    }
    return fk_str_head(name, cut);
}

struct fk_str fk_name_package(const struct fk_tree_name *n)
{
    struct fk_str package = {NULL, 0};
    if (fk_str_starts(n->mapping,
                      FK_S("["))) // [kernel], [vdso]: their names have dots of other meaning
        return n->mapping;
    if (fk_str_ends(n->file, FK_S(".py"))) {
        struct fk_str file = base_name(n->file);
        return fk_str_head(file, file.n - 3);
    }
    if (n->symbolized && fk_str_find(n->name, FK_S("::")) > 0)
        package = colon_package(n->name);
    else if (n->symbolized)
        package = dotted_package(without_suffix(n->name));
    return package.n ? package : base_name(n->mapping);
}
