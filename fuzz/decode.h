// SPDX-License-Identifier: Apache-2.0
// What fuzz targets of decoders share: whatever is delivered is valid, can be written as pprof and
// read again with the same totals; detection says something about every input.
#ifndef FK_FUZZ_DECODE_H
#define FK_FUZZ_DECODE_H

#include "formats/formats.h"
#include "fuzz.h"

struct fuzz_seen {
    int64_t total[8];
    uint64_t rows;
};

static inline struct fk_decode_opts fuzz_opts(const struct fk_limits *l)
{
    struct fk_decode_opts o = fk_decode_opts_push(l);
    o.size.bytes = 1 << 20;
    return o;
}

static inline int fuzz_again(void *arg, struct fk_entry *e, struct fk_profile *p,
                             struct fk_err *err)
{
    const struct fuzz_seen *first = arg;
    FK_FUZZ_CHECK(fk_profile_validate(p, err) == 0);
    FK_FUZZ_CHECK(p->n_rows == first->rows);
    for (uint32_t k = 0; k < e->n_types && k < 8; k++)
        FK_FUZZ_CHECK(e->type[k].total == first->total[k]);
    return 0;
}

static inline int fuzz_delivered(void *arg, struct fk_entry *e, struct fk_profile *p,
                                 struct fk_err *err)
{
    FK_AUTO_ARENA a;
    FK_AUTO_BUF pprof;
    const struct fk_limits *l = arg;
    struct fk_decode_opts o = fuzz_opts(l);
    struct fuzz_seen seen = {.rows = p->n_rows};
    fk_arena_init(&a, 256 << 20);
    fk_buf_init(&pprof, 0);
    FK_FUZZ_CHECK(fk_profile_validate(p, err) == 0);
    for (uint32_t k = 0; k < e->n_types && k < 8; k++)
        seen.total[k] = e->type[k].total;
    FK_FUZZ_CHECK(fk_encode(FK_FORMAT_PPROF, p, NULL, fk_out_buf(&pprof), err) == 0);
    o.size.bytes = 64 << 20;
    // Several observations of a row, and rows without types, take another form in pprof.
    if (p->n_types && !p->obs_begin && !p->time_ns && pprof.n)
        FK_FUZZ_CHECK(fk_decode(FK_FORMAT_PPROF, fk_buf_view(&pprof), &o, &a,
                                (struct fk_each_profile){fuzz_again, &seen}, NULL, err) == 0);
    return 0;
}

static inline int fuzz_decode(enum fk_format format, const uint8_t *data, size_t size)
{
    FK_AUTO_ARENA a;
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fuzz_opts(&l);
    struct fk_report r = {0};
    struct fk_err err = {0};
    enum fk_format seen;
    fk_arena_init(&a, 256 << 20);
    if (fk_format_detect(fk_str_make(data, size), &seen, &err))
        FK_FUZZ_CHECK(err.msg[0]);
    if (fk_decode(format, fk_str_make(data, size), &o, &a,
                  (struct fk_each_profile){fuzz_delivered, &l}, &r, &err))
        FK_FUZZ_CHECK(err.msg[0]);
    return 0;
}

#endif
