// SPDX-License-Identifier: Apache-2.0
// Contention (gperftools, Java, Go's block and mutex with debug=1), Java's heap, counts by stack
// (Go: goroutine, threadcreate, any other profile), thread lists; and which of the text forms it
// is.
#include "formats/legacy_int.h"

// ---- contention: "key = value" lines, then "delay count @ addresses" ----

struct contention {
    struct fk_legacy *l;
    int64_t period, hz; // of the sampling; cycles a second, 0: delays are in `resolution`
    double resolution;  // nanoseconds
    bool heap;
};

static double resolution_of(struct fk_str s)
{
    static const struct {
        const char *name;
        double ns;
    } known[] = {
        {"nanoseconds", 1}, {"microseconds", 1e3}, {"milliseconds", 1e6}, {"seconds", 1e9}};
    for (size_t i = 0; i < FK_COUNTOF(known); i++)
        if (fk_str_eq(s, fk_str_of(known[i].name)))
            return known[i].ns;
    return 1;
}

// True when it is a "key = value" line.
static bool read_key(struct contention *c, struct fk_str line)
{
    ptrdiff_t equals = fk_str_chr(line, '=');
    if (equals < 0 || fk_str_chr(line, '@') >= 0)
        return false;
    struct fk_str key = fk_str_trim(fk_str_head(line, (size_t)equals));
    struct fk_str value = fk_str_trim(fk_str_from(line, (size_t)equals + 1));
    uint64_t number;
    bool is_number = fk_str_to_u64(value, &number) == 0 && number <= INT64_MAX;
    if (fk_str_eq(key, FK_S("cycles/second")) && is_number)
        c->hz = (int64_t)number;
    else if (fk_str_eq(key, FK_S("sampling period")) && is_number && number)
        c->period = (int64_t)number;
    else if (fk_str_eq(key, FK_S("resolution")))
        c->resolution = resolution_of(value);
    return true;
}

static int64_t rounded_down(double d)
{
    return d > -0x1p63 && d < 0x1p63 ? (int64_t)d : INT64_MAX;
}

static int put_contention(struct contention *c, int64_t first, int64_t second, struct fk_err *err)
{
    static const int64_t java_rate = 524288; // what it samples its heap by
    int64_t values[2] = {first, second};
    uint32_t stack = 0;
    if (c->heap) {
        fk_legacy_unsample(&values[0], &values[1], java_rate);
    } else {
        double each = c->hz ? 1e9 / (double)c->hz : c->resolution;
        values[0] = (int64_t)((uint64_t)second * (uint64_t)c->period);
        values[1] = c->hz ? rounded_down((double)first * (double)c->period / ((double)c->hz / 1e9))
                          : rounded_down((double)first * (double)c->period * each);
    }
    int rc = fk_legacy_stack(c->l, 1, &stack, err);
    return rc ? rc : fk_stacks_row(&c->l->s, stack, 0, values, FK_NO_TIME, err);
}

static int read_contention(struct contention *c, struct fk_lines *lines, struct fk_err *err)
{
    struct fk_str line;
    int rc = 0;
    while (!rc && fk_line_next(lines, &line)) {
        int64_t first, second;
        struct fk_str rest = line;
        if (fk_str_starts(line, FK_S("---")))
            break; // the memory map
        if (!fk_str_trim(line).n || line.p[0] == '#' || read_key(c, line))
            continue;
        if (fk_str_to_i64(fk_word(&rest), &first) || fk_str_to_i64(fk_word(&rest), &second) ||
            !fk_str_eq(fk_word(&rest), FK_S("@"))) {
            if (!c->l->ids) // its symbols follow
                fk_report_drop(c->l->d->report, "line that is no entry of the contention profile",
                               1, "line %llu: '%.*s'", (unsigned long long)lines->n,
                               FK_STR_ARG(fk_str_head(line, 60)));
            continue;
        }
        rc = fk_legacy_addresses(c->l, rest, err);
        if (!rc)
            rc = put_contention(c, first, second, err);
    }
    return rc;
}

int fk_legacy_contention(struct fk_legacy *l, struct fk_str text, struct fk_err *err)
{
    struct contention c = {.l = l, .period = 1, .resolution = 1};
    struct fk_lines lines = {text, 0};
    struct fk_str title = {"", 0};
    struct fk_label name = {FK_S("__name__"), {"", 0}};
    (void)fk_line_next(&lines, &title);
    c.heap = fk_str_starts(title, FK_S("--- heapz"));
    if (fk_str_eq(fk_str_trim(title), FK_S("--- contention:"))) // Go: of the block profile
        name.value = FK_S("block");
    else if (fk_str_starts(title, FK_S("--- mutex")))
        name.value = FK_S("mutex");
    l->ids = fk_str_find(fk_str_head(text, 512), FK_S("format = java")) >= 0;
    int rc = fk_legacy_scan(l, lines.rest, err);
    if (!rc)
        rc = fk_stacks_type(&l->s, c.heap ? FK_S("inuse_objects") : FK_S("contentions"),
                            FK_S("count"), err);
    if (!rc)
        rc = fk_stacks_type(&l->s, c.heap ? FK_S("inuse_space") : FK_S("delay"),
                            c.heap ? FK_S("bytes") : FK_S("nanoseconds"), err);
    if (!rc)
        rc = read_contention(&c, &lines, err);
    return rc ? rc
              : fk_legacy_deliver(l, FK_S("contentions"), FK_S("count"), c.heap ? 0 : c.period,
                                  name.value.n ? &name : NULL, err);
}

// ---- counts: "NAME profile: total N", then "count @ addresses", labels, symbols ----

// # labels: {"key":"value", ...}
static int read_labels(struct fk_legacy *l, struct fk_str line, struct fk_err *err)
{
    struct fk_json_reader r;
    struct fk_json_tok key, value;
    if (!fk_take(&line, FK_S("# labels:")))
        return 0;
    fk_json_read(&r, fk_str_trim(line), 2);
    if (fk_json_next(&r, &key, NULL) || key.kind != FK_JSON_OBJECT)
        return 0;
    while (fk_json_next(&r, &key, NULL) == 0 && key.kind == FK_JSON_KEY &&
           fk_json_next(&r, &value, NULL) == 0 && value.kind == FK_JSON_STRING &&
           l->s.n_attrs < FK_STACKS_ATTRS) {
        struct fk_str k = {"", 0}, v = {"", 0};
        int rc = fk_json_text(&key, l->d->arena, &k, err);
        if (!rc)
            rc = fk_json_text(&value, l->d->arena, &v, err);
        if (!rc)
            rc = fk_stacks_attr(&l->s, k, v, err);
        if (rc)
            return rc == -FK_E_NOMEM ? fk_decoding_nomem(l->d, err) : rc;
    }
    return 0;
}

// Entries may also be set apart by an empty line: then their labels stand below their first line.
static int put_count(struct fk_legacy *l, int64_t count, struct fk_lines *lines, struct fk_err *err)
{
    struct fk_lines ahead = *lines;
    struct fk_str below;
    uint32_t stack = 0, set = 0;
    int rc = fk_line_next(&ahead, &below) ? read_labels(l, below, err) : 0;
    if (!rc)
        rc = fk_legacy_stack(l, 1, &stack, err);
    if (!rc)
        rc = fk_stacks_set(&l->s, &set, err);
    return rc ? rc : fk_stacks_row(&l->s, stack, set, &count, FK_NO_TIME, err);
}

int fk_legacy_counts(struct fk_legacy *l, struct fk_str text, struct fk_err *err)
{
    struct fk_lines lines = {text, 0};
    struct fk_str line = {"", 0}, name;
    (void)fk_line_next(&lines, &line);
    name = fk_word(&line);
    int rc = fk_legacy_scan(l, lines.rest, err);
    if (!rc)
        rc = fk_stacks_type(&l->s, name, FK_S("count"), err);
    while (!rc && fk_line_next(&lines, &line)) {
        int64_t count;
        struct fk_str rest = line;
        if (!fk_str_trim(line).n || line.p[0] == '#')
            continue;
        if (fk_str_starts(line, FK_S("---")))
            break;
        if (fk_str_to_i64(fk_word(&rest), &count) || !fk_str_eq(fk_word(&rest), FK_S("@"))) {
            fk_report_drop(l->d->report, "line that is no entry of the profile", 1,
                           "line %llu: '%.*s'", (unsigned long long)lines.n,
                           FK_STR_ARG(fk_str_head(line, 60)));
            continue;
        }
        rc = fk_legacy_addresses(l, rest, err);
        if (!rc)
            rc = put_count(l, count, &lines, err);
    }
    return rc ? rc : fk_legacy_deliver(l, name, FK_S("count"), 1, NULL, err);
}

// ---- threads: "--- Thread 7f79 (name: main/14748) stack: ---", then addresses ----

struct threads {
    struct fk_legacy *l;
    struct fk_str name;  // of the one being read; .p NULL: none
    uint32_t last_stack; // of the thread before, for "same as previous thread"
    bool has_last, same;
};

static int put_thread(struct threads *t, struct fk_err *err)
{
    struct fk_stacks *s = &t->l->s;
    uint32_t set = 0;
    int64_t one = 1;
    int rc = 0;
    if (!t->name.p)
        return 0;
    if (!(t->same && t->has_last))
        rc = fk_legacy_stack(t->l, 0, &t->last_stack, err);
    t->l->addr.n = 0;
    t->has_last = true;
    t->same = false;
    if (!rc)
        rc = fk_stacks_attr(s, FK_S("thread"), t->name, err);
    if (!rc)
        rc = fk_stacks_set(s, &set, err);
    t->name.p = NULL;
    return rc ? rc : fk_stacks_row(s, t->last_stack, set, &one, FK_NO_TIME, err);
}

static struct fk_str thread_name(struct fk_str line)
{
    ptrdiff_t at = fk_str_find(line, FK_S("(name: "));
    struct fk_str name = fk_str_from(line, at < 0 ? line.n : (size_t)at + 7);
    ptrdiff_t end = fk_str_find(name, FK_S(") stack"));
    name = fk_str_head(name, end < 0 ? name.n : (size_t)end);
    return name.p ? name : (struct fk_str){"", 0};
}

static int read_thread_line(struct threads *t, struct fk_str line, struct fk_err *err)
{
    line = fk_str_trim(line);
    if (fk_str_find(line, FK_S("same as previous thread")) >= 0) {
        t->same = true;
        return 0;
    }
    if (!fk_take(&line, FK_S("PC:")))
        (void)fk_take(&line, FK_S("creator:"));
    struct fk_str rest = line, word = fk_word(&rest);
    if (word.n && word.p[word.n - 1] == ':') // "address: name"
        return fk_legacy_addresses(t->l, fk_str_head(word, word.n - 1), err);
    return fk_legacy_addresses(t->l, line, err);
}

int fk_legacy_threadz(struct fk_legacy *l, struct fk_str text, struct fk_err *err)
{
    struct threads t = {.l = l};
    struct fk_lines lines = {text, 0};
    struct fk_str line;
    int rc = fk_legacy_scan(l, text, err);
    if (!rc)
        rc = fk_stacks_type(&l->s, FK_S("thread"), FK_S("count"), err);
    while (!rc && fk_line_next(&lines, &line)) {
        if (!fk_str_starts(line, FK_S("---"))) {
            rc = t.name.p ? read_thread_line(&t, line, err) : 0;
            continue;
        }
        rc = put_thread(&t, err);
        if (fk_str_starts(line, FK_S("--- Thread ")))
            t.name = thread_name(line);
        else if (fk_str_starts(line, FK_S("--- Memory")))
            break;
    }
    if (!rc)
        rc = put_thread(&t, err);
    return rc ? rc : fk_legacy_deliver(l, FK_S("thread"), FK_S("count"), 1, NULL, err);
}

// ---- which it is ----

typedef int form(struct fk_legacy *l, struct fk_str text, struct fk_err *err);

// "NAME profile: total N".
static bool is_counts(struct fk_str line)
{
    struct fk_str name = fk_word(&line), rest = fk_str_trim(line);
    uint64_t total;
    return name.n && fk_take(&rest, FK_S("profile: total ")) && fk_take_u64(&rest, &total);
}

static form *form_of(struct fk_str text)
{
    struct fk_lines lines = {text, 0};
    struct fk_str line = {"", 0};
    (void)fk_line_next(&lines, &line);
    if (fk_str_starts(line, FK_S("heap profile:")))
        return fk_legacy_heap;
    if (fk_str_starts(line, FK_S("--- contention")) || fk_str_starts(line, FK_S("--- mutex")) ||
        fk_str_starts(line, FK_S("--- heapz")))
        return fk_legacy_contention;
    if (fk_str_starts(line, FK_S("--- threadz")) || fk_str_starts(line, FK_S("--- Thread ")))
        return fk_legacy_threadz;
    if (fk_str_starts(line, FK_S("goroutine ")) && fk_str_find(line, FK_S("]:")) > 0)
        return fk_legacy_goroutines;
    return is_counts(line) ? fk_legacy_counts : NULL;
}

// What stands behind symbols may also be one of the formats that have a name of their own.
static int read_behind(struct fk_legacy *l, struct fk_str text, struct fk_err *err)
{
    int rc = fk_legacy_take_symbols(l, &text, err);
    if (rc)
        return rc;
    form *read = fk_gperftools_looks(text, true) ? fk_legacy_cpu
                 : fk_jemalloc_looks(text, true) ? fk_legacy_jemalloc
                                                 : form_of(text);
    if (!read)
        return fk_fail(err, FK_E_FORMAT,
                       "what follows the symbols is none of gperftools' or jemalloc's profiles");
    return read(l, text, err);
}

int fk_legacy_text_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct fk_legacy l;
    form *read = fk_legacy_has_symbols(bytes) ? read_behind : form_of(bytes);
    if (!read)
        return fk_fail(err, FK_E_FORMAT,
                       "the first line is that of none of the text profiles: heap, "
                       "growth, contention, mutex, threads, goroutines");
    int rc = fk_legacy_begin(&l, d, err);
    if (!rc)
        rc = read(&l, bytes, err);
    fk_legacy_end(&l);
    return rc;
}

bool fk_legacy_text_looks(struct fk_str head, bool whole)
{
    (void)whole;
    return fk_legacy_has_symbols(head) || form_of(head) != NULL;
}
