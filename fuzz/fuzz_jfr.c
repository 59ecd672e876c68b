// SPDX-License-Identifier: Apache-2.0
// JFR recordings: whatever is delivered is valid. The first byte says how much of the input is the
// labels beside the recording (in 1/64).
#include "formats/formats.h"
#include "fuzz.h"

static int check(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    (void)arg;
    FK_FUZZ_CHECK(fk_profile_validate(p, err) == 0);
    FK_FUZZ_CHECK(e->samples == p->n_obs);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct fk_limits l = fk_limits_default();
    l.push_decoded = 1 << 20;
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct fk_report r = {0};
    FK_AUTO_ARENA a;
    struct fk_str input = fk_str_make(data + 1, size - 1);
    size_t n_labels = data[0] < 64 ? input.n * data[0] / 64 : 0;
    fk_arena_init(&a, 64 << 20);
    o.sample_rate = data[0] == 64 ? 100 : 0;
    o.jfr_labels = fk_str_head(input, n_labels);
    (void)fk_decode(FK_FORMAT_JFR, fk_str_from(input, n_labels), &o, &a,
                    (struct fk_each_profile){check, NULL}, &r, NULL);
    return 0;
}
