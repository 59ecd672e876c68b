// SPDX-License-Identifier: Apache-2.0
// OTLP profiles, protobuf or JSON: what is decoded is valid; written and read again each entry has
// the same rows and totals.
#include "formats/formats.h"
#include "fuzz.h"

#define MOST 4

struct seen {
    struct fk_profile p[MOST];
    int64_t total[MOST];
    size_t n;
};

static int keep(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    struct seen *s = arg;
    FK_FUZZ_CHECK(fk_profile_validate(p, err) == 0);
    FK_FUZZ_CHECK(p->n_types >= 1);
    if (s->n < MOST) {
        s->p[s->n] = *p;
        s->total[s->n++] = e->type[0].total;
    }
    return 0;
}

static int decode(struct fk_str bytes, struct fk_arena *a, struct seen *s)
{
    struct fk_limits l = fk_limits_default();
    l.push_decoded = 1 << 20;
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct fk_report r = {0};
    fk_arena_init(a, 256 << 20);
    return fk_decode(FK_FORMAT_OTLP, bytes, &o, a, (struct fk_each_profile){keep, s}, &r, NULL);
}

// A profile with several types becomes several; truncated ones are cut alike.
static void check_again(const struct seen *first)
{
    for (size_t i = 0; i < first->n; i++) {
        FK_AUTO_ARENA a;
        FK_AUTO_BUF out;
        struct seen again = {0};
        fk_buf_init(&out, 0);
        fk_arena_init(&a, 0);
        FK_FUZZ_CHECK(fk_encode(FK_FORMAT_OTLP, &first->p[i], NULL, fk_out_buf(&out), NULL) == 0);
        int rc = decode(fk_buf_view(&out), &a, &again);
        FK_FUZZ_CHECK(rc == 0);
        FK_FUZZ_CHECK(again.n >= 1);
        FK_FUZZ_CHECK(again.total[0] == first->total[i]);
        FK_FUZZ_CHECK(again.p[0].n_rows == first->p[i].n_rows);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FK_AUTO_ARENA a;
    struct seen first = {0};
    enum fk_format format = FK_FORMAT_UNKNOWN;
    (void)fk_format_detect(fk_str_make(data, size), &format, NULL);
    if (decode(fk_str_make(data, size), &a, &first) == 0)
        check_again(&first);
    return 0;
}
