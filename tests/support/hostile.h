// SPDX-License-Identifier: Apache-2.0
// Names that want out of the file they are written to, and profiles that have them everywhere.
#ifndef FK_TESTS_SUPPORT_HOSTILE_H
#define FK_TESTS_SUPPORT_HOSTILE_H

#include "model/model.h"

#include "support/test.h"

#define FK_HOSTILE(text)                                                                           \
    {                                                                                              \
        "" text, sizeof(text) - 1                                                                  \
    }

static const struct fk_str fk_hostile[] = {
    FK_HOSTILE("</script><script>alert(1)</script>"),
    FK_HOSTILE("<!--<script>"),
    FK_HOSTILE("<img src=x onerror=alert(1)>"),
    FK_HOSTILE("]]></title><svg onload=alert(1)>"),
    FK_HOSTILE("a\"b'c`d"),
    FK_HOSTILE("\\\" ]; evil [label=\"x\\"),
    FK_HOSTILE("tab\tnew\nline\rreturn"),
    FK_HOSTILE("nul\0inside"),
    FK_HOSTILE("bell\a escape\x1b[31m del\x7f c1\xc2\x9b"),
    FK_HOSTILE("bidi\xe2\x80\xae"
               "evil\xe2\x80\xac \xe2\x81\xa6iso\xe2\x81\xa9 \xe2\x80\x8f"),
    FK_HOSTILE("line\xe2\x80\xa8para\xe2\x80\xa9"),
    FK_HOSTILE("bad\xff\xfe utf8 \xc0\xaf \xed\xa0\x80 cut\xe2\x82"),
    FK_HOSTILE("\xef\xbf\xbe noncharacter \xef\xbf\xbf"),
    FK_HOSTILE("&amp; &#60; &lt;"),
    FK_HOSTILE("=cmd|' /C calc'!A0"),
    FK_HOSTILE("semi;colon 12"),
    FK_HOSTILE("%s%n%x {0} ${x} \\N \\G"),
    FK_HOSTILE("__proto__"),
    FK_HOSTILE(" "),
};

// One sample for each name, called by the name before; names are files, mappings, threads and the
// type too. Column 0: samples/count, 1: cpu/nanoseconds. Returns the sum of column 0.
static inline int64_t fk_hostile_profile(struct fk_arena *a, bool times, struct fk_profile *ret)
{
    struct fk_builder *b = fk_builder_new(a, 1000, "");
    struct fk_err err = {0};
    int64_t sum = 0;
    assert_non_null(b);
    struct fk_dict *d = fk_builder_dict(b);
    assert_int_equal(fk_builder_type(b, FK_S("samples"), FK_S("count"), FK_KIND_DELTA), 0);
    assert_int_equal(fk_builder_type(b, FK_S("cpu"), FK_S("nanoseconds"), FK_KIND_DELTA), 0);
    uint32_t before = FK_NONE;
    for (uint32_t i = 0; i < FK_COUNTOF(fk_hostile); i++) {
        struct fk_function f = {.start_line = 7};
        struct fk_mapping m = {.offset = 0};
        struct fk_line line = {.line = 9 + i};
        struct fk_location l = {.address = 16 + i, .line_count = 1};
        struct fk_attr attr = {.num = 0};
        uint32_t frames[2], stack, set;
        int64_t values[2] = {i + 1, (i + 1) * 10000000}, at = 1700000000000000000 + i;
        assert_int_equal(fk_dict_string(d, fk_hostile[i], &f.name), 0);
        f.file = m.file = attr.str = f.name;
        assert_int_equal(fk_dict_string(d, FK_S("thread"), &attr.key), 0);
        assert_int_equal(fk_dict_function(d, &f, &line.function), 0);
        assert_int_equal(fk_dict_mapping(d, &m, &l.mapping), 0);
        assert_int_equal(fk_builder_mapping(b, &(struct fk_placement){.mapping = l.mapping}), 0);
        assert_int_equal(fk_dict_location(d, &l, &line, &frames[0]), 0);
        frames[1] = before;
        before = frames[0];
        assert_int_equal(fk_dict_stack(d, frames, i ? 2 : 1, &stack), 0);
        assert_int_equal(fk_dict_set(d, &attr, 1, &set), 0);
        assert_int_equal(
            fk_builder_sample(b, stack, times ? set : 0, values, times ? &at : NULL, 1, &err), 0);
        sum += values[0];
    }
    assert_int_equal(fk_builder_finish(b, ret, &err), 0);
    fk_builder_free(b);
    return sum;
}

#endif
