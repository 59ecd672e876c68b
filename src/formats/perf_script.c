// SPDX-License-Identifier: Apache-2.0
// The output of `perf script`: one row a sample, with its time; one profile an event. Frame lines
// are looked up as whole lines, so that each distinct one is taken apart once; neither rows nor
// that table point into the input.
//
// Of an event that measures CPU time the columns are samples/count and, where periods are printed,
// their sum: cpu/nanoseconds of clocks, else the event's name. Of any other event they are its
// name (periods, or 1 each) and events/count. Attributes: thread (the command), pid, tid, cpu.
#include "formats/perf_int.h"

#include <stdio.h>

#define MAX_EVENTS 64

struct known { // a frame line that was seen
    size_t at, n;
    uint32_t location;
};

// The frame lines of a sample, whole: most stacks come again and again. Two hashes and the length
// are taken for the text: what could be told wrong by them is one's own profile only.
struct body {
    uint64_t hash, half;
    size_t n;
    uint32_t stack, lines;
};
#define BODY_LOOK ((size_t)64 << 10)

struct event {
    struct fk_str name; // in the arena
    struct fk_stacks s;
    struct fk_map index;
    FK_VEC(struct known) known;
    struct fk_buf text; // of the known lines
    struct fk_map bodies;
    FK_VEC(struct body) body;
    bool clock, cpu, has_period;
};

struct perf {
    const struct fk_decoding *d;
    struct event *event[MAX_EVENTS]; // in the arena
    size_t n_events;
    struct event *open; // of the sample being read, NULL none
    struct perf_header h;
    struct fk_str comm; // of the header: copied, for the line may be gone
    struct fk_buf comm_text;
    struct fk_str frame; // the frame line read last, for the source line below it
    struct fk_str learn; // the body being read, .p NULL: none that can be kept
    const char *blank;   // the empty line that ends it
    uint64_t learn_stray;
    uint32_t learn_lines;
    bool opened;        // by the line read last
    uint32_t unbounded; // samples in a row that no empty line ends
    uint64_t stray, lines;
    int64_t captured_ns; // "# captured on", 0 none
    int64_t period_ns;   // of the sampling frequency in the header, 0 unknown
};

// ---- events ----

static bool any_of(struct fk_str s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fk_str_eq(s, fk_str_of(names[i])))
            return true;
    return false;
}

// "cycles:ppp" is cycles; "sched:sched_switch" is itself.
static struct fk_str without_modifiers(struct fk_str event)
{
    ptrdiff_t colon = fk_str_rchr(event, ':');
    struct fk_str tail = fk_str_from(event, (size_t)(colon + 1));
    if (colon <= 0)
        return event;
    for (size_t i = 0; i < tail.n; i++)
        if (!memchr("ukhGHIpPSDWeb", tail.p[i], 13))
            return event;
    return fk_str_head(event, (size_t)colon);
}

static int put_types(struct perf *x, struct event *e, struct fk_err *err)
{
    static const char *const clocks[] = {"cpu-clock", "task-clock"};
    static const char *const cpus[] = {"cycles",      "cpu-cycles",       "ref-cycles",
                                       "bus-cycles",  "cpu_core/cycles/", "cpu_atom/cycles/",
                                       "instructions"};
    struct fk_str name = without_modifiers(e->name);
    e->clock = any_of(name, clocks, FK_COUNTOF(clocks));
    e->cpu = e->clock || any_of(name, cpus, FK_COUNTOF(cpus));
    e->has_period = x->h.has_period;
    int rc = fk_stacks_type(&e->s, e->cpu ? FK_S("samples") : name, FK_S("count"), err);
    if (rc)
        return rc;
    if (e->clock && (e->has_period || x->period_ns))
        return fk_stacks_type(&e->s, FK_S("cpu"), FK_S("nanoseconds"), err);
    if (!e->has_period)
        return 0;
    return fk_stacks_type(&e->s, e->cpu ? name : FK_S("events"), FK_S("count"), err);
}

static int new_event(struct perf *x, struct event **ret, struct fk_err *err)
{
    struct event *e = fk_arena_zalloc(x->d->arena, sizeof(*e));
    struct fk_str name = fk_arena_str(x->d->arena, x->h.event);
    if (!e || !name.p)
        return fk_decoding_nomem(x->d, err);
    e->name = name;
    fk_buf_init(&e->text, 0);
    int rc = fk_stacks_begin(&e->s, x->d, err);
    if (rc)
        return rc;
    x->event[x->n_events++] = *ret = e;
    return put_types(x, e, err);
}

static int find_event(struct perf *x, struct event **ret, struct fk_err *err)
{
    *ret = NULL;
    for (size_t i = 0; i < x->n_events; i++)
        if (fk_str_eq(x->event[i]->name, x->h.event)) {
            *ret = x->event[i];
            return 0;
        }
    if (x->n_events < MAX_EVENTS)
        return new_event(x, ret, err);
    fk_report_drop(x->d->report, "sample of an event beyond the first 64", 1, "'%.*s'",
                   FK_STR_ARG(x->h.event));
    return 0;
}

// ---- frames ----

static int add_known(struct event *e, struct fk_str line, uint64_t hash, uint32_t location)
{
    struct known k = {e->text.n, line.n, location};
    fk_buf_str(&e->text, line);
    if (e->text.failed || fk_map_add(&e->index, hash, (uint32_t)e->known.n) ||
        fk_vec_push(&e->known, k))
        return -FK_E_NOMEM;
    return 0;
}

static const struct known *find_known(const struct event *e, struct fk_str line, uint64_t hash)
{
    for (uint32_t at = fk_map_first(&e->index, hash); at != FK_NONE;
         at = fk_map_next(&e->index, hash, at)) {
        const struct known *k = &e->known.v[fk_map_id(&e->index, at)];
        if (k->n == line.n && memcmp(e->text.p + k->at, line.p, line.n) == 0)
            return k;
    }
    return NULL;
}

// The address is kept where the symbol is not known: else it is of one run of the program only.
static int put_frame(struct event *e, const struct perf_frame *f, struct fk_str file, int64_t line,
                     uint32_t *ret, struct fk_err *err)
{
    struct fk_named named = {.name = f->symbol,
                             .file = file,
                             .line = line,
                             .module = f->object,
                             .address = f->symbol.n ? 0 : f->address};
    return fk_stacks_location(&e->s, &named, ret, err);
}

static int learn_frame(struct perf *x, struct fk_str line, uint64_t hash,
                       const struct perf_frame *f, struct fk_err *err)
{
    struct event *e = x->open;
    uint32_t location;
    int rc = put_frame(e, f, FK_S(""), 0, &location, err);
    if (rc)
        return rc;
    if (add_known(e, line, hash, location))
        return fk_decoding_nomem(x->d, err);
    x->frame = line;
    return fk_stacks_push(&e->s, location, err);
}

// A source line stands for the frame above it: that one gets file and line.
static int learn_source(struct perf *x, struct fk_str line, struct fk_str file, int64_t number,
                        struct fk_err *err)
{
    struct event *e = x->open;
    struct fk_str both = fk_str_make(x->frame.p, (size_t)(line.p + line.n - x->frame.p));
    uint64_t hash = fk_hash_str(both);
    const struct known *k = find_known(e, both, hash);
    uint32_t location = k ? k->location : 0;
    struct perf_frame f;
    if (!k) {
        int rc = fk_perf_frame(x->frame, &f) ? put_frame(e, &f, file, number, &location, err) : 0;
        if (rc)
            return rc;
        if (add_known(e, both, hash, location))
            return fk_decoding_nomem(x->d, err);
    }
    e->s.scratch.v[e->s.scratch.n - 1] = location;
    x->frame.n = 0;
    return 0;
}

// ---- samples ----

static int64_t first_value(const struct event *e, const struct perf_header *h)
{
    return !e->cpu && h->has_period ? (int64_t)h->period : 1;
}

static int put_attrs(struct perf *x, struct fk_stacks *s, uint32_t *ret, struct fk_err *err)
{
    const struct perf_header *h = &x->h;
    int rc = fk_stacks_attr(s, FK_S("thread"), x->comm, err);
    if (!rc && h->pid >= 0)
        rc = fk_stacks_number(s, FK_S("pid"), h->pid, FK_S(""), err);
    if (!rc && h->tid >= 0)
        rc = fk_stacks_number(s, FK_S("tid"), h->tid, FK_S(""), err);
    if (!rc && h->cpu >= 0)
        rc = fk_stacks_number(s, FK_S("cpu"), h->cpu, FK_S(""), err);
    return rc ? rc : fk_stacks_set(s, ret, err);
}

static int put_sample(struct perf *x, uint32_t stack, struct fk_err *err)
{
    struct event *e = x->open;
    uint32_t set = 0;
    int64_t second = e->has_period ? (int64_t)x->h.period : x->period_ns;
    int64_t values[2] = {first_value(e, &x->h), e->cpu ? second : 1};
    x->open = NULL;
    x->frame.n = 0;
    int rc = put_attrs(x, &e->s, &set, err);
    return rc ? rc : fk_stacks_row(&e->s, stack, set, values, x->h.time_ns, err);
}

static uint64_t half_hash(struct fk_str body)
{
    return fk_hash_str(fk_str_from(body, body.n / 2));
}

// The body that was read just now, if it was nothing but frames up to its end.
static int keep_body(struct perf *x, struct event *e, uint32_t stack)
{
    struct fk_str text = x->learn;
    struct body b = {0, 0, text.n, stack, x->learn_lines};
    x->learn.p = NULL;
    if (!text.p || x->blank != text.p + text.n || x->stray != x->learn_stray)
        return 0;
    b.hash = fk_hash_str(text);
    b.half = half_hash(text);
    return fk_map_add(&e->bodies, b.hash, (uint32_t)e->body.n) || fk_vec_push(&e->body, b)
               ? -FK_E_NOMEM
               : 0;
}

static int close_sample(struct perf *x, struct fk_err *err)
{
    struct event *e = x->open;
    uint32_t stack = 0;
    if (!e)
        return 0;
    int rc = fk_stacks_close(&e->s, &stack, err);
    if (rc)
        return rc;
    return keep_body(x, e, stack) ? fk_decoding_nomem(x->d, err) : put_sample(x, stack, err);
}

static const struct body *find_body(const struct event *e, struct fk_str text)
{
    uint64_t hash = fk_hash_str(text);
    for (uint32_t at = fk_map_first(&e->bodies, hash); at != FK_NONE;
         at = fk_map_next(&e->bodies, hash, at)) {
        const struct body *b = &e->body.v[fk_map_id(&e->bodies, at)];
        if (b->hash == hash && b->n == text.n && b->half == half_hash(text))
            return b;
    }
    return NULL;
}

// Bytes up to the first empty line, with the line end before it; 0: there is none.
static size_t body_size(const char *p, size_t n, uint32_t *ret_lines)
{
    const char *at = p, *end = p + n;
    *ret_lines = 0;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        ++*ret_lines;
        if (++at < end && *at == '\n')
            return (size_t)(at - p);
    }
    return 0;
}

// Below a header: a body that is known is passed over.
static int skip_body(struct perf *x, struct fk_lines *l, struct fk_err *err)
{
    size_t look = FK_MIN(l->rest.n, BODY_LOOK);
    x->learn.p = NULL;
    if (x->unbounded > 8 || !look || l->rest.p[0] == '\n' || x->open->s.scratch.n)
        return 0;
    struct fk_str text = fk_str_head(l->rest, body_size(l->rest.p, look, &x->learn_lines));
    x->unbounded = text.n ? 0 : x->unbounded + 1;
    if (!text.n)
        return 0;
    const struct body *b = find_body(x->open, text);
    if (!b) {
        x->learn = text;
        x->learn_stray = x->stray;
        return 0;
    }
    l->rest = fk_str_from(l->rest, text.n);
    l->n += b->lines;
    return put_sample(x, b->stack, err);
}

// A sample on one line has its frame behind the event.
static int open_sample(struct perf *x, struct fk_err *err)
{
    int rc = find_event(x, &x->open, err);
    if (rc || !x->open)
        return rc;
    fk_buf_clear(&x->comm_text);
    fk_buf_str(&x->comm_text, x->h.comm);
    if (x->comm_text.failed)
        return fk_decoding_nomem(x->d, err);
    x->comm = fk_buf_view(&x->comm_text);
    struct perf_frame f;
    uint32_t location;
    if (!fk_perf_frame(x->h.rest, &f) || !f.has_object)
        return 0;
    rc = put_frame(x->open, &f, FK_S(""), 0, &location, err);
    return rc ? rc : fk_stacks_push(&x->open->s, location, err);
}

// ---- comments: when it was captured, and how often samples were taken ----

// "Thu Jul  7 20:48:39 2016": local time of a place that is not said, read as UTC.
static void read_captured(struct perf *x, struct fk_str s)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char text[64];
    struct fk_str word[5];
    uint64_t day, year;
    for (size_t i = 0; i < FK_COUNTOF(word); i++)
        word[i] = fk_word(&s);
    ptrdiff_t month = fk_str_find(fk_str_of(months), word[1]);
    if (word[1].n != 3 || month < 0 || month % 3 || fk_str_to_u64(word[2], &day) ||
        fk_str_to_u64(word[4], &year) || day > 31 || year > 9999)
        return;
    snprintf(text, sizeof(text), "%04d-%02d-%02dT%.8sZ", (int)year, (int)(month / 3) + 1, (int)day,
             word[3].n == 8 ? word[3].p : "");
    if (fk_time_parse(fk_str_of(text), 0, &x->captured_ns, NULL))
        x->captured_ns = 0;
}

static void read_frequency(struct perf *x, struct fk_str s, struct fk_str before)
{
    ptrdiff_t at = fk_str_find(s, before);
    uint64_t rate;
    if (at < 0 || x->period_ns)
        return;
    s = fk_str_from(s, (size_t)at + before.n);
    while (s.n && (s.p[0] == ' ' || s.p[0] == '}' || s.p[0] == '='))
        s = fk_str_from(s, 1);
    if (fk_take_u64(&s, &rate) && rate > 0 && rate <= 1000000000)
        x->period_ns = (int64_t)(1000000000 / rate);
}

static void read_comment(struct perf *x, struct fk_str s)
{
    s = fk_str_trim(fk_str_from(s, 1));
    ptrdiff_t colon = fk_str_chr(s, ':');
    if (colon < 0)
        return;
    struct fk_str key = fk_str_trim(fk_str_head(s, (size_t)colon));
    struct fk_str value = fk_str_trim(fk_str_from(s, (size_t)colon + 1));
    if (fk_str_eq(key, FK_S("captured on")))
        read_captured(x, value);
    else if (fk_str_eq(key, FK_S("cmdline")))
        read_frequency(x, value, FK_S(" -F "));
    else if (fk_str_eq(key, FK_S("event")))
        read_frequency(x, value, FK_S("sample_freq"));
}

// ---- lines ----

static int read_stray(struct perf *x, struct fk_str line)
{
    x->stray++;
    fk_report_drop(x->d->report, "line that is neither header nor frame", 1, "line %llu: '%.*s'",
                   (unsigned long long)x->lines, FK_STR_ARG(fk_str_head(line, 60)));
    return 0;
}

static int read_header(struct perf *x, struct fk_str line, bool *ret, struct fk_err *err)
{
    struct perf_header h;
    *ret = fk_perf_header(line, &h);
    if (!*ret)
        return 0;
    x->blank = NULL;
    int rc = close_sample(x, err);
    x->opened = true;
    x->h = h;
    return rc ? rc : open_sample(x, err);
}

// Below a header, indented.
static int read_indented(struct perf *x, struct fk_str line, struct fk_err *err)
{
    uint64_t hash = fk_hash_str(line);
    const struct known *k = find_known(x->open, line, hash);
    struct fk_str file;
    struct perf_frame f;
    int64_t number;
    bool header = false;
    if (FK_LIKELY(k != NULL)) {
        x->frame = line;
        return fk_stacks_push(&x->open->s, k->location, err);
    }
    if (fk_perf_has_time(line)) {
        int rc = read_header(x, line, &header, err);
        if (rc || header)
            return rc;
    }
    if (fk_perf_frame(line, &f))
        return learn_frame(x, line, hash, &f, err);
    if (x->frame.n && fk_perf_srcline(line, &file, &number))
        return learn_source(x, line, file, number, err);
    return read_stray(x, line);
}

static int read_line(struct perf *x, struct fk_str line, struct fk_err *err)
{
    bool indented = line.n && (line.p[0] == ' ' || line.p[0] == '\t'), header;
    struct perf_frame f;
    if (line.n && line.p[0] == '#') {
        read_comment(x, line);
        return 0;
    }
    if (x->open && indented && fk_str_trim(line).n)
        return read_indented(x, line, err);
    x->blank = line.p;
    if (!fk_str_trim(line).n)
        return close_sample(x, err);
    x->blank = NULL;
    int rc = read_header(x, line, &header, err);
    if (rc || header)
        return rc;
    if (x->open && fk_perf_frame(line, &f) && f.has_object) // pasted without its blanks
        return learn_frame(x, line, fk_hash_str(line), &f, err);
    return read_stray(x, line);
}

// ---- the whole ----

// perf's clock starts at boot; with the time of capture, which is that of the last sample, it is
// Unix time.
static int shift_times(struct perf *x, struct fk_profile *p, struct fk_err *err)
{
    int64_t last = FK_NO_TIME, shift, start = INT64_MAX;
    for (size_t i = 0; i < x->n_events; i++)
        last = FK_MAX(last, x->event[i]->s.last_ns);
    if (!x->captured_ns || !p->time_ns || __builtin_sub_overflow(x->captured_ns, last, &shift))
        return 0;
    int64_t *to = fk_arena_array(x->d->arena, p->n_obs + 1, sizeof(*to));
    if (!to)
        return fk_decoding_nomem(x->d, err);
    for (uint64_t i = 0; i < p->n_obs; i++) {
        to[i] = p->time_ns[i] == FK_NO_TIME ? FK_NO_TIME : p->time_ns[i] + shift;
        if (to[i] != FK_NO_TIME)
            start = FK_MIN(start, to[i]);
    }
    p->time_ns = to;
    p->time_ns_start = start;
    return 0;
}

static int deliver(struct perf *x, struct event *e, struct fk_err *err)
{
    struct fk_profile p;
    struct fk_label label = {FK_S("event"), fk_label_text(x->d, e->name)};
    struct fk_labels labels = {&label, label.value.n ? 1 : 0};
    int rc = fk_stacks_finish(&e->s, &p, err);
    fk_stacks_end(&e->s);
    if (!rc)
        rc = shift_times(x, &p, err);
    if (rc)
        return rc;
    if (e->clock && x->period_ns)
        fk_profile_period(&p, FK_S("cpu"), FK_S("nanoseconds"), x->period_ns);
    return fk_decoding_deliver_labelled(x->d, &p, &labels, err);
}

static int read_all(struct perf *x, struct fk_str bytes, struct fk_err *err)
{
    struct fk_lines l = {bytes, 0};
    struct fk_str line;
    int rc = 0;
    while (!rc && fk_line_next(&l, &line)) {
        x->lines = l.n;
        x->opened = false;
        rc = read_line(x, line, err);
        if (!rc && x->opened && x->open)
            rc = skip_body(x, &l, err);
    }
    x->blank = NULL;
    if (!rc)
        rc = close_sample(x, err);
    if (!rc && x->n_events == 0)
        return fk_fail(err, FK_E_FORMAT,
                       "perf script: none of %llu lines is the header of a sample "
                       "('command pid time: event:')",
                       (unsigned long long)x->lines);
    for (size_t i = 0; !rc && i < x->n_events; i++)
        rc = deliver(x, x->event[i], err);
    return rc;
}

int fk_perf_script_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct perf x = {.d = d};
    fk_buf_init(&x.comm_text, 0);
    int rc = read_all(&x, bytes, err);
    for (size_t i = 0; i < x.n_events; i++) {
        struct event *e = x.event[i];
        fk_stacks_end(&e->s);
        fk_map_free(&e->index);
        fk_vec_free(&e->known);
        fk_buf_free(&e->text);
        fk_map_free(&e->bodies);
        fk_vec_free(&e->body);
    }
    fk_buf_free(&x.comm_text);
    return rc;
}

// The comments that perf writes, or a header with a time or with frames below it.
bool fk_perf_script_looks(struct fk_str head, bool whole)
{
    struct fk_lines l = {head, 0};
    struct fk_str line;
    struct perf_header h;
    struct perf_frame f;
    bool open = false;
    (void)whole;
    while (fk_line_next(&l, &line)) {
        if (fk_str_starts(line, FK_S("# captured on")))
            return true;
        if (!fk_str_trim(line).n || line.p[0] == '#')
            continue;
        if (open)
            return (line.p[0] == ' ' || line.p[0] == '\t') && fk_perf_frame(line, &f);
        if (!fk_perf_header(line, &h))
            return false;
        if (h.time_ns != FK_NO_TIME)
            return true;
        open = true;
    }
    return false;
}
