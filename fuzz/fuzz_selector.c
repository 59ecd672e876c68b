// SPDX-License-Identifier: Apache-2.0
// Selectors: the canonical text parses to itself; matching never does anything but answer.
#include "fuzz.h"
#include "match/match.h"

static void use(const struct fk_selector *s, struct fk_str text)
{
    struct fk_label v[2] = {{FK_S("a"), FK_S("web-1")}, {FK_S("b"), fk_str_head(text, 200)}};
    struct fk_labels l = {v, 2};
    bool hit;
    struct fk_err err = {0};
    int rc = fk_selector_match(s, &l, &hit, &err);
    FK_FUZZ_CHECK(rc == 0 || rc == -FK_E_LIMIT);
}

static void name_filter(struct fk_str text)
{
    struct fk_name_filter f;
    bool hit;
    if (fk_name_filter_parse(text, &f, NULL))
        return;
    (void)fk_name_filter_match(&f, FK_S("main.(*T).run"), &hit, NULL);
    fk_name_filter_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FK_AUTO_ARENA a;
    FK_AUTO_BUF one, two;
    struct fk_str text = fk_str_make(data, FK_MIN(size, (size_t)4096));
    struct fk_selector *s = NULL, *again = NULL;
    struct fk_err err = {0};
    fk_arena_init(&a, 0);
    fk_buf_init(&one, 0);
    fk_buf_init(&two, 0);
    name_filter(text);
    int rc = fk_selector_parse(text, &a, &s, &err);
    FK_FUZZ_CHECK(rc == -err.code);
    if (rc)
        return 0;
    use(s, text);
    fk_selector_put(&one, s);
    FK_FUZZ_CHECK(fk_selector_parse(fk_buf_view(&one), &a, &again, &err) == 0);
    fk_selector_put(&two, again);
    FK_FUZZ_CHECK(fk_str_eq(fk_buf_view(&one), fk_buf_view(&two)));
    fk_selector_free(s);
    fk_selector_free(again);
    return 0;
}
