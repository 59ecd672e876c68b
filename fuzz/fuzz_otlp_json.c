// SPDX-License-Identifier: Apache-2.0
// OTLP profiles in JSON, always: the request is wrapped so that most of what is tried is one.
#include "formats/formats.h"
#include "fuzz.h"

static int check(void *arg, struct fk_entry *e, struct fk_profile *p, struct fk_err *err)
{
    (void)arg;
    (void)e;
    FK_FUZZ_CHECK(fk_profile_validate(p, err) == 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FK_AUTO_ARENA a;
    FK_AUTO_BUF text;
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct fk_report r = {0};
    struct fk_err err;
    fk_buf_init(&text, 0);
    fk_arena_init(&a, 256 << 20);
    if (!size || data[0] != '{')
        fk_buf_byte(&text, '{');
    fk_buf_put(&text, data, size);
    int rc = fk_decode(FK_FORMAT_OTLP, fk_buf_view(&text), &o, &a,
                       (struct fk_each_profile){check, NULL}, &r, &err);
    FK_FUZZ_CHECK(rc == 0 || err.msg[0]);
    return 0;
}
