// SPDX-License-Identifier: Apache-2.0
// pprof: what is decoded is valid, and decode, encode, decode, encode gives equal bytes.
#include "formats/formats.h"
#include "fuzz.h"

struct seen {
    struct fk_profile p;
    bool any;
};

static int keep(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    struct seen *s = arg;
    FK_FUZZ_CHECK(fk_profile_validate(p, err) == 0);
    FK_FUZZ_CHECK(e->samples == p->n_rows && e->n_types == p->n_types);
    s->p = *p;
    s->any = true;
    return 0;
}

static int decode(struct fk_str bytes, struct fk_arena *a, struct seen *s)
{
    struct fk_limits l = fk_limits_default();
    l.push_rows = 100000;
    l.push_decoded = 1 << 20;
    l.stack_depth = 256;
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct fk_report r = {0};
    struct fk_err err = {0};
    fk_arena_init(a, 256 << 20);
    int rc = fk_decode(FK_FORMAT_PPROF, bytes, &o, a, (struct fk_each_profile){keep, s}, &r, &err);
    FK_FUZZ_CHECK(rc == -err.code);
    FK_FUZZ_CHECK(rc != 0 || s->any);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FK_AUTO_ARENA a, again;
    FK_AUTO_BUF one, two;
    struct seen first = {0}, second = {0};
    fk_buf_init(&one, 0);
    fk_buf_init(&two, 0);
    fk_arena_init(&again, 0);
    if (decode(fk_str_make(data, size), &a, &first))
        return 0;
    FK_FUZZ_CHECK(fk_encode(FK_FORMAT_PPROF, &first.p, NULL, fk_out_buf(&one), NULL) == 0);
    int rc = decode(fk_buf_view(&one), &again, &second);
    if (rc == -FK_E_LIMIT) // written longer than it came (ids, packing)
        return 0;
    FK_FUZZ_CHECK(rc == 0);
    FK_FUZZ_CHECK(first.p.n_rows == second.p.n_rows);
    FK_FUZZ_CHECK(fk_encode(FK_FORMAT_PPROF, &second.p, NULL, fk_out_buf(&two), NULL) == 0);
    FK_FUZZ_CHECK(fk_str_eq(fk_buf_view(&one), fk_buf_view(&two)));
    return 0;
}
