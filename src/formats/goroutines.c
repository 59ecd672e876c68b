// SPDX-License-Identifier: Apache-2.0
// Go's dump of all goroutines (goroutine?debug=2, SIGQUIT): one row each, with what it waits for.
// Frames are two lines: "package.function(arguments)" and "\tfile:line +0xoffset".
#include "formats/legacy_int.h"

struct dump {
    struct fk_legacy *l;
    bool open;
    struct fk_named frame; // its first line was read: name set
};

static int put_frame(struct dump *d, struct fk_err *err)
{
    uint32_t location;
    if (!d->frame.name.n)
        return 0;
    int rc = fk_stacks_location(&d->l->s, &d->frame, &location, err);
    d->frame = (struct fk_named){0};
    return rc ? rc : fk_stacks_push(&d->l->s, location, err);
}

static int put_goroutine(struct dump *d, struct fk_err *err)
{
    struct fk_stacks *s = &d->l->s;
    uint32_t stack = 0, set = 0;
    int64_t one = 1;
    if (!d->open)
        return 0;
    d->open = false;
    int rc = put_frame(d, err);
    if (!rc)
        rc = fk_stacks_close(s, &stack, err);
    if (!rc)
        rc = fk_stacks_set(s, &set, err);
    return rc ? rc : fk_stacks_row(s, stack, set, &one, FK_NO_TIME, err);
}

// "goroutine 5 gp=0x1 m=nil [chan receive, 12 minutes, locked to thread]:"
static int open_goroutine(struct dump *d, struct fk_str line, bool *ret, struct fk_err *err)
{
    struct fk_stacks *s = &d->l->s;
    uint64_t id, minutes;
    *ret = false;
    if (!fk_take(&line, FK_S("goroutine ")) || !fk_take_u64(&line, &id))
        return 0;
    ptrdiff_t begin = fk_str_chr(line, '['), end = fk_str_rchr(line, ']');
    if (begin < 0 || end < begin)
        return 0;
    int rc = put_goroutine(d, err);
    struct fk_str inside = fk_str_from(fk_str_head(line, (size_t)end), (size_t)begin + 1), part;
    d->open = *ret = true;
    for (bool first = true; !rc && fk_str_split(&inside, ',', &part); first = false) {
        part = fk_str_trim(part);
        if (first)
            rc = fk_stacks_attr(s, FK_S("state"), part, err);
        else if (fk_take_u64(&part, &minutes) && fk_str_eq(part, FK_S(" minutes")) &&
                 minutes < INT64_MAX && s->n_attrs < FK_STACKS_ATTRS)
            rc = fk_stacks_number(s, FK_S("waiting"), (int64_t)minutes, FK_S("minutes"), err);
    }
    return rc;
}

// "main.(*T).f(0x1, {0x2, 0x3})" without its arguments.
static struct fk_str without_arguments(struct fk_str s)
{
    size_t depth = 0;
    if (!s.n || s.p[s.n - 1] != ')')
        return s;
    for (size_t i = s.n; i-- > 0;) {
        depth += s.p[i] == ')';
        if (s.p[i] == '(' && --depth == 0)
            return i ? fk_str_head(s, i) : s;
    }
    return s;
}

// "\t/srv/g.go:25 +0x1f"
static void read_place(struct dump *d, struct fk_str line)
{
    struct fk_str place = fk_word(&line);
    ptrdiff_t colon = fk_str_rchr(place, ':');
    uint64_t number;
    d->frame.file = place;
    if (colon <= 0 || fk_str_to_u64(fk_str_from(place, (size_t)colon + 1), &number) ||
        number > INT32_MAX)
        return;
    d->frame.file = fk_str_head(place, (size_t)colon);
    d->frame.line = (int64_t)number;
}

static int read_frame(struct dump *d, struct fk_str line, bool *in_creator, struct fk_err *err)
{
    if (line.p[0] == '\t') {
        if (!*in_creator)
            read_place(d, line);
        return 0;
    }
    int rc = put_frame(d, err);
    if (rc)
        return rc;
    *in_creator = fk_take(&line, FK_S("created by "));
    if (!*in_creator) {
        d->frame.name = without_arguments(fk_str_trim(line));
        return 0;
    }
    ptrdiff_t at = fk_str_find(line, FK_S(" in goroutine "));
    struct fk_str creator = fk_str_head(line, at < 0 ? line.n : (size_t)at);
    return d->l->s.n_attrs < FK_STACKS_ATTRS
               ? fk_stacks_attr(&d->l->s, FK_S("created_by"), creator, err)
               : 0;
}

int fk_legacy_goroutines(struct fk_legacy *l, struct fk_str text, struct fk_err *err)
{
    struct dump d = {.l = l};
    struct fk_lines lines = {text, 0};
    struct fk_str line;
    bool opened, in_creator = false;
    int rc = fk_stacks_type(&l->s, FK_S("goroutine"), FK_S("count"), err);
    while (!rc && fk_line_next(&lines, &line)) {
        if (!fk_str_trim(line).n) {
            rc = put_goroutine(&d, err);
            continue;
        }
        rc = open_goroutine(&d, line, &opened, err);
        if (opened)
            in_creator = false;
        else if (!rc && d.open)
            rc = read_frame(&d, line, &in_creator, err);
    }
    if (!rc)
        rc = put_goroutine(&d, err);
    return rc ? rc : fk_legacy_deliver(l, FK_S("goroutine"), FK_S("count"), 1, NULL, err);
}
