// SPDX-License-Identifier: Apache-2.0
// Android's `simpleperf report-sample --protobuf`: "SIMPLEPERF", a version, then records of a
// length and a message, until a length of 0. Source:
// system/extras/simpleperf/cmd_report_sample.proto.
//   Record   1 Sample, 3 File, 4 Thread, 5 MetaInfo
//   Sample   1 time ns, 2 thread, 3 CallChainEntry {1 address, 2 file, 3 symbol} leaf first,
//            4 event count, 5 event
//   File     1 id, 2 path, 3 symbols    Thread   1 id, 2 process, 3 name    MetaInfo   1 events
// Files and threads may come after the samples, so the records are read twice. One profile an
// event.
#include "formats/stacks_int.h"

#define MAX_EVENTS 64

struct file {
    uint64_t id;
    struct fk_str path;
    size_t symbols, n; // of it, in `symbol`
};

struct thread {
    uint64_t tid, pid;
    struct fk_str name;
};

struct android {
    const struct fk_decoding *d;
    struct fk_str records;
    FK_VEC(struct file) file;
    FK_VEC(struct fk_str) symbol;
    FK_VEC(struct thread) thread;
    struct fk_map files, threads;
    struct fk_str event[MAX_EVENTS]; // their names, as far as they are said
    size_t n_events;
    uint64_t samples[MAX_EVENTS];
    struct fk_stacks s;
    bool clock;
};

static int broken(const struct android *x, const uint8_t *at, struct fk_err *err)
{
    return fk_fail(err, FK_E_FORMAT, "simpleperf: the bytes end or make no sense at offset %zu",
                   (size_t)(at - (const uint8_t *)x->records.p) + 12);
}

static const struct file *find_file(const struct android *x, uint64_t id)
{
    uint64_t h = fk_hash_u64(id);
    for (uint32_t at = fk_map_first(&x->files, h); at != FK_NONE;
         at = fk_map_next(&x->files, h, at))
        if (x->file.v[fk_map_id(&x->files, at)].id == id)
            return &x->file.v[fk_map_id(&x->files, at)];
    return NULL;
}

static const struct thread *find_thread(const struct android *x, uint64_t tid)
{
    uint64_t h = fk_hash_u64(tid);
    for (uint32_t at = fk_map_first(&x->threads, h); at != FK_NONE;
         at = fk_map_next(&x->threads, h, at))
        if (x->thread.v[fk_map_id(&x->threads, at)].tid == tid)
            return &x->thread.v[fk_map_id(&x->threads, at)];
    return NULL;
}

// ---- first reading: tables ----

static int read_file(struct android *x, struct fk_cur c, struct fk_err *err)
{
    struct file f = {.path = {"", 0}, .symbols = x->symbol.n};
    struct fk_pb_field p;
    int more;
    while ((more = fk_pb_next(&c, &p)) == 1) {
        if (p.number == 1 && p.wire == FK_WIRE_VARINT)
            f.id = p.v;
        else if (p.number == 2 && p.wire == FK_WIRE_LEN)
            f.path = fk_pb_str(&p);
        else if (p.number == 3 && p.wire == FK_WIRE_LEN && fk_vec_push(&x->symbol, fk_pb_str(&p)))
            return fk_decoding_nomem(x->d, err);
    }
    f.n = x->symbol.n - f.symbols;
    if (more < 0)
        return broken(x, c.p, err);
    if (find_file(x, f.id)) // the first holds
        return 0;
    return fk_map_add(&x->files, fk_hash_u64(f.id), (uint32_t)x->file.n) || fk_vec_push(&x->file, f)
               ? fk_decoding_nomem(x->d, err)
               : 0;
}

static int read_thread(struct android *x, struct fk_cur c, struct fk_err *err)
{
    struct thread t = {.name = {"", 0}};
    struct fk_pb_field p;
    int more;
    while ((more = fk_pb_next(&c, &p)) == 1) {
        if (p.number == 1 && p.wire == FK_WIRE_VARINT)
            t.tid = p.v;
        else if (p.number == 2 && p.wire == FK_WIRE_VARINT)
            t.pid = p.v;
        else if (p.number == 3 && p.wire == FK_WIRE_LEN)
            t.name = fk_pb_str(&p);
    }
    if (more < 0)
        return broken(x, c.p, err);
    if (find_thread(x, t.tid))
        return 0;
    return fk_map_add(&x->threads, fk_hash_u64(t.tid), (uint32_t)x->thread.n) ||
                   fk_vec_push(&x->thread, t)
               ? fk_decoding_nomem(x->d, err)
               : 0;
}

static int read_meta(struct android *x, struct fk_cur c, struct fk_err *err)
{
    struct fk_pb_field p;
    int more;
    while ((more = fk_pb_next(&c, &p)) == 1)
        if (p.number == 1 && p.wire == FK_WIRE_LEN && x->n_events < MAX_EVENTS)
            x->event[x->n_events++] = fk_pb_str(&p);
    return more < 0 ? broken(x, c.p, err) : 0;
}

struct sample {
    uint64_t time, tid, count, event;
    bool timed;
};

static int read_numbers(struct android *x, struct fk_cur c, struct sample *s, struct fk_err *err)
{
    struct fk_pb_field p;
    int more;
    *s = (struct sample){0};
    while ((more = fk_pb_next(&c, &p)) == 1) {
        if (p.wire != FK_WIRE_VARINT)
            continue;
        s->timed |= p.number == 1;
        *(p.number == 1   ? &s->time
          : p.number == 2 ? &s->tid
          : p.number == 4 ? &s->count
          : p.number == 5 ? &s->event
                          : &(uint64_t){0}) = p.v;
    }
    return more < 0 ? broken(x, c.p, err) : 0;
}

static int read_first(struct android *x, uint32_t number, struct fk_cur c, struct fk_err *err)
{
    struct sample s;
    if (number == 3)
        return read_file(x, c, err);
    if (number == 4)
        return read_thread(x, c, err);
    if (number == 5)
        return read_meta(x, c, err);
    int rc = number == 1 ? read_numbers(x, c, &s, err) : 0;
    if (number != 1 || rc)
        return rc;
    if (s.event < MAX_EVENTS)
        x->samples[s.event]++;
    else
        fk_report_drop(x->d->report, "sample of an event beyond the first 64", 1, "event %llu",
                       (unsigned long long)s.event);
    return 0;
}

// ---- second reading: samples ----

static int push_frame(struct android *x, struct fk_cur c, struct fk_err *err)
{
    struct fk_pb_field p;
    uint64_t address = 0, file = UINT64_MAX, symbol = UINT64_MAX;
    uint32_t location = 0;
    int more;
    while ((more = fk_pb_next(&c, &p)) == 1) {
        address = p.number == 1 ? p.v : address;
        file = p.number == 2 ? p.v : file;
        symbol = p.number == 3 ? p.v : symbol;
    }
    if (more < 0)
        return broken(x, c.p, err);
    const struct file *f = find_file(x, file);
    struct fk_named named = {.name = {"", 0}, .address = address};
    if (f) {
        named.module = f->path;
        if (symbol < f->n) { // -1: not known
            named.name = x->symbol.v[f->symbols + symbol];
            named.address = 0;
        }
    }
    int rc = fk_stacks_location(&x->s, &named, &location, err);
    return rc ? rc : fk_stacks_push(&x->s, location, err);
}

static int put_attrs(struct android *x, const struct sample *s, uint32_t *set, struct fk_err *err)
{
    const struct thread *t = find_thread(x, s->tid);
    int rc = fk_stacks_number(&x->s, FK_S("tid"), (int64_t)s->tid, FK_S(""), err);
    if (!rc && t)
        rc = fk_stacks_number(&x->s, FK_S("pid"), (int64_t)t->pid, FK_S(""), err);
    if (!rc && t)
        rc = fk_stacks_attr(&x->s, FK_S("thread"), t->name, err);
    return rc ? rc : fk_stacks_set(&x->s, set, err);
}

static int put_sample(struct android *x, struct fk_cur c, uint64_t event, struct fk_err *err)
{
    struct sample s;
    struct fk_pb_field p;
    uint32_t stack = 0, set = 0;
    int rc = read_numbers(x, c, &s, err);
    if (rc || s.event != event)
        return rc;
    while (!rc && fk_pb_next(&c, &p) == 1)
        if (p.number == 3 && p.wire == FK_WIRE_LEN)
            rc = push_frame(x, p.b, err);
    if (!rc)
        rc = fk_stacks_close(&x->s, &stack, err);
    if (!rc)
        rc = put_attrs(x, &s, &set, err);
    int64_t values[2] = {x->clock ? 1 : (int64_t)s.count, x->clock ? (int64_t)s.count : 1};
    return rc ? rc
              : fk_stacks_row(&x->s, stack, set, values, s.timed ? (int64_t)s.time : FK_NO_TIME,
                              err);
}

// ---- records ----

// event: of the second reading; MAX_EVENTS: the first.
static int each_record(struct android *x, uint64_t event, struct fk_err *err)
{
    const uint8_t *p = (const uint8_t *)x->records.p, *end = p + x->records.n;
    int rc = 0;
    while (!rc && end - p >= 4) {
        uint32_t size =
            (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        struct fk_cur c = {p + 4, p + 4};
        struct fk_pb_field f;
        if (size == 0)
            return 0;
        if (size > (size_t)(end - p - 4))
            return broken(x, p, err);
        c.end = p = c.p + size;
        int more = fk_pb_next(&c, &f);
        if (more < 0)
            return broken(x, c.p, err);
        if (more && f.wire == FK_WIRE_LEN && event == MAX_EVENTS)
            rc = read_first(x, f.number, f.b, err);
        else if (more && f.wire == FK_WIRE_LEN && f.number == 1)
            rc = put_sample(x, f.b, event, err);
    }
    if (!rc && event == MAX_EVENTS)
        fk_report_warn(x->d->report, "the trace has no end: it was cut off", 1, "at byte %zu",
                       x->records.n + 12);
    return rc;
}

static int put_event(struct android *x, size_t event, struct fk_err *err)
{
    struct fk_profile p;
    struct fk_str name = event < x->n_events ? x->event[event] : FK_S("event");
    struct fk_label label = {FK_S("event"), fk_label_text(x->d, name)};
    struct fk_labels labels = {&label, label.value.n ? 1 : 0};
    x->clock = fk_str_starts(name, FK_S("cpu-clock")) || fk_str_starts(name, FK_S("task-clock"));
    int rc = fk_stacks_begin(&x->s, x->d, err);
    if (!rc)
        rc = fk_stacks_type(&x->s, x->clock ? FK_S("samples") : name, FK_S("count"), err);
    if (!rc)
        rc = fk_stacks_type(&x->s, x->clock ? FK_S("cpu") : FK_S("events"),
                            x->clock ? FK_S("nanoseconds") : FK_S("count"), err);
    if (!rc)
        rc = each_record(x, event, err);
    if (!rc)
        rc = fk_stacks_finish(&x->s, &p, err);
    fk_stacks_end(&x->s);
    return rc ? rc : fk_decoding_deliver_labelled(x->d, &p, &labels, err);
}

static int read_trace(struct android *x, struct fk_str bytes, struct fk_err *err)
{
    bool any = false;
    if (!fk_simpleperf_looks(bytes, true) || bytes.n < 12)
        return fk_fail(err, FK_E_FORMAT,
                       "simpleperf: it does not begin with SIMPLEPERF and a version");
    unsigned version = (uint8_t)bytes.p[10] | (unsigned)(uint8_t)bytes.p[11] << 8;
    if (version != 1)
        return fk_fail(err, FK_E_UNSUPPORTED, "simpleperf: version %u of the trace is not known",
                       version);
    x->records = fk_str_from(bytes, 12);
    int rc = each_record(x, MAX_EVENTS, err);
    for (size_t i = 0; !rc && i < MAX_EVENTS; i++)
        if (x->samples[i] || (i == MAX_EVENTS - 1 && !any)) {
            any = true;
            rc = put_event(x, i, err);
        }
    return rc;
}

int fk_simpleperf_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct android x = {.d = d};
    int rc = read_trace(&x, bytes, err);
    fk_vec_free(&x.file);
    fk_vec_free(&x.symbol);
    fk_vec_free(&x.thread);
    fk_map_free(&x.files);
    fk_map_free(&x.threads);
    return rc;
}

bool fk_simpleperf_looks(struct fk_str head, bool whole)
{
    (void)whole;
    return fk_str_starts(head, FK_S("SIMPLEPERF"));
}
