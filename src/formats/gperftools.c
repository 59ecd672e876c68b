// SPDX-License-Identifier: Apache-2.0
// gperftools' CPU profile: words of 32 or 64 bits in the order of the machine that wrote them.
//   header   0, words that follow (3 or more), version (1: Java), period in microseconds, 0
//   record   count, number of addresses, addresses, leaf first
//   trailer  0, 1, 0; then text: the memory map, or the symbols of a Java program
#include "formats/legacy_int.h"

struct words {
    const uint8_t *p;
    size_t n, at; // in words
    uint32_t size;
    bool big;
};

struct cpu {
    struct fk_legacy *l;
    struct words w;
    uint64_t period_us;
    bool ids;         // Java
    uint64_t handler; // the frame that the signal left in each stack, 0 none
};

static uint64_t word_at(const struct words *w, size_t i)
{
    const uint8_t *p = w->p + i * w->size;
    uint64_t v = 0;
    for (uint32_t k = 0; k < w->size; k++)
        v = v << 8 | p[w->big ? k : w->size - 1 - k];
    return v;
}

static bool try_header(struct fk_str bytes, uint32_t size, bool big, struct cpu *c)
{
    struct words w = {(const uint8_t *)bytes.p, bytes.n / size, 0, size, big};
    if (w.n < 5 || word_at(&w, 0) != 0 || word_at(&w, 1) < 3 || word_at(&w, 1) > 1000 ||
        word_at(&w, 2) > 1 || word_at(&w, 3) == 0 || word_at(&w, 3) > 100000000 ||
        word_at(&w, 4) != 0)
        return false;
    w.at = (size_t)word_at(&w, 1) + 2;
    c->w = w;
    c->ids = word_at(&w, 2) == 1;
    c->period_us = word_at(&w, 3);
    return w.at <= w.n;
}

static bool read_header(struct fk_str bytes, struct cpu *c)
{
    return try_header(bytes, 8, false, c) || try_header(bytes, 4, false, c) ||
           try_header(bytes, 8, true, c) || try_header(bytes, 4, true, c);
}

// The next record: its count and where its addresses are. False at the trailer or the end.
static bool next_record(struct words *w, uint64_t *count, size_t *begin, size_t *n, bool *ret_cut)
{
    *ret_cut = false;
    if (w->at + 2 > w->n) {
        *ret_cut = w->at != w->n;
        return false;
    }
    uint64_t c = word_at(w, w->at), depth = word_at(w, w->at + 1);
    if (c == 0 && depth == 1 && w->at + 3 <= w->n && word_at(w, w->at + 2) == 0) {
        w->at += 3;
        return false;
    }
    if (depth > w->n - w->at - 2) {
        *ret_cut = true;
        return false;
    }
    *count = c;
    *begin = w->at + 2;
    *n = (size_t)depth;
    w->at = *begin + *n;
    return true;
}

// Where almost all stacks have the same second frame, it is the handler that took the sample.
static void find_handler(struct cpu *c)
{
    struct words w = c->w;
    uint64_t count, first = 0, records = 0, same = 0;
    size_t begin, n;
    bool cut;
    while (next_record(&w, &count, &begin, &n, &cut)) {
        uint64_t second = n > 1 ? word_at(&w, begin + 1) : 0;
        if (records++ == 0)
            first = second;
        same += second == first;
    }
    c->handler = records > 1 && first && same > records * 95 / 100 ? first : 0;
}

static int put_record(struct cpu *c, uint64_t count, size_t begin, size_t n, struct fk_err *err)
{
    struct fk_legacy *l = c->l;
    uint32_t stack = 0;
    int64_t values[2] = {(int64_t)count, (int64_t)(count * c->period_us * 1000)};
    for (size_t i = 0; i < n; i++) {
        uint64_t address = word_at(&c->w, begin + i);
        if (i == 1 && c->handler && address == c->handler)
            continue;
        if (fk_vec_push(&l->addr, address))
            return fk_decoding_nomem(l->d, err);
    }
    int rc = fk_legacy_stack(l, 0, &stack, err);
    return rc ? rc : fk_stacks_row(&l->s, stack, 0, values, FK_NO_TIME, err);
}

static int read_records(struct cpu *c, struct fk_str bytes, struct fk_err *err)
{
    struct words w = c->w;
    uint64_t count = 0;
    size_t begin = 0, n = 0;
    bool cut;
    while (next_record(&w, &count, &begin, &n, &cut))
        ;
    fk_report_drop(c->l->d->report, "the profile is cut off within a record", cut, "at byte %zu",
                   w.at * w.size);
    int rc = cut ? 0 : fk_legacy_scan(c->l, fk_str_from(bytes, w.at * w.size), err);
    find_handler(c);
    while (!rc && next_record(&c->w, &count, &begin, &n, &cut))
        rc = put_record(c, count, begin, n, err);
    return rc;
}

int fk_legacy_cpu(struct fk_legacy *l, struct fk_str bytes, struct fk_err *err)
{
    struct cpu c = {.l = l};
    if (!read_header(bytes, &c))
        return fk_fail(err, FK_E_FORMAT, "gperftools: the header is none of a CPU profile");
    l->ids = c.ids;
    int rc = fk_stacks_type(&l->s, FK_S("samples"), FK_S("count"), err);
    if (!rc)
        rc = fk_stacks_type(&l->s, FK_S("cpu"), FK_S("nanoseconds"), err);
    if (!rc)
        rc = read_records(&c, bytes, err);
    return rc ? rc
              : fk_legacy_deliver(l, FK_S("cpu"), FK_S("nanoseconds"),
                                  (int64_t)(c.period_us * 1000), NULL, err);
}

int fk_gperftools_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err)
{
    struct fk_legacy l;
    int rc = fk_legacy_begin(&l, d, err);
    if (!rc)
        rc = fk_legacy_cpu(&l, bytes, err);
    fk_legacy_end(&l);
    return rc;
}

bool fk_gperftools_looks(struct fk_str head, bool whole)
{
    struct cpu c = {0};
    (void)whole;
    return read_header(head, &c);
}
