// SPDX-License-Identifier: Apache-2.0
// Folded stacks: what is decoded is valid; written and read again the total is the same.
#include "formats/formats.h"
#include "fuzz.h"

struct seen {
    struct fk_profile p;
    int64_t total;
    uint32_t n_types;
};

static int keep(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    struct seen *s = arg;
    FK_FUZZ_CHECK(fk_profile_validate(p, err) == 0);
    s->p = *p;
    s->total = e->type[0].total;
    s->n_types = e->n_types;
    return 0;
}

static int decode(struct fk_str bytes, struct fk_arena *a, struct seen *s)
{
    struct fk_limits l = fk_limits_default();
    l.push_decoded = 1 << 20;
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct fk_report r = {0};
    fk_arena_init(a, 256 << 20);
    return fk_decode(FK_FORMAT_FOLDED, bytes, &o, a, (struct fk_each_profile){keep, s}, &r, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FK_AUTO_ARENA a, again;
    FK_AUTO_BUF one;
    struct seen first = {0}, second = {0};
    enum fk_format format = FK_FORMAT_UNKNOWN;
    fk_buf_init(&one, 0);
    fk_arena_init(&again, 0);
    (void)fk_format_detect(fk_str_make(data, size), &format, NULL);
    if (decode(fk_str_make(data, size), &a, &first))
        return 0;
    FK_FUZZ_CHECK(fk_encode(FK_FORMAT_FOLDED, &first.p, NULL, fk_out_buf(&one), NULL) == 0);
    // The first name may look like a byte order mark or a magic number; and names that all end in
    // numbers read as a second column.
    bool odd = one.n < 2 || (uint8_t)one.p[0] >= 0xef || first.p.truncated ||
               fk_zip_detect((const uint8_t *)one.p, one.n) != FK_ZIP_NONE;
    if (!odd && decode(fk_buf_view(&one), &again, &second) == 0 && second.n_types == 1)
        FK_FUZZ_CHECK(first.total == second.total);
    return 0;
}
