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

// Writes and reads again; false when the limits say no (ids are written longer than they came).
static bool again(const struct seen *s, struct fk_buf *out, struct fk_arena *a, struct seen *ret)
{
    FK_FUZZ_CHECK(fk_encode(FK_FORMAT_PPROF, &s->p, NULL, fk_out_buf(out), NULL) == 0);
    int rc = decode(fk_buf_view(out), a, ret);
    FK_FUZZ_CHECK(rc == 0 || rc == -FK_E_LIMIT);
    FK_FUZZ_CHECK(rc || s->p.n_rows == ret->p.n_rows);
    return rc == 0;
}

// Labels of one row stand in the order of their strings' numbers, which the first writing settles:
// from then on nothing may change.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fk_arena a[3];
    FK_AUTO_BUF one, two, three;
    struct seen s[3] = {{.any = false}};
    for (int i = 0; i < 3; i++)
        fk_arena_init(&a[i], 0);
    fk_buf_init(&one, 0);
    fk_buf_init(&two, 0);
    fk_buf_init(&three, 0);
    if (decode(fk_str_make(data, size), &a[0], &s[0]) == 0 && again(&s[0], &one, &a[1], &s[1]) &&
        again(&s[1], &two, &a[2], &s[2])) {
        FK_FUZZ_CHECK(fk_encode(FK_FORMAT_PPROF, &s[2].p, NULL, fk_out_buf(&three), NULL) == 0);
        FK_FUZZ_CHECK(fk_str_eq(fk_buf_view(&two), fk_buf_view(&three)));
    }
    for (int i = 0; i < 3; i++)
        fk_arena_free(&a[i]);
    return 0;
}
