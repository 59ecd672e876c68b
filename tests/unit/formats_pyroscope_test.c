// SPDX-License-Identifier: Apache-2.0
// Lines, trie and tree, as clients of /ingest send them.
#include "support/decoded.h"

#define TRIE "\0\0\1\2ab\0\2\1c\1\0\1d\2\0"
#define TREE "\0\0\1\1a\3\2\1b\1\0\3;;c\2\0"

static void lines(void **state)
{
    (void)state;
    expect_decoded(FK_FORMAT_LINES, FK_S("a;b\r\n\na;b\nc d 5\n;x"),
                   "{} samples/count\na;b 1\na;b 1\nc d 5 1\n[unknown];x 1\n");
    expect_decoded(FK_FORMAT_LINES, FK_S(""), "{} samples/count\n");
}

static void trie(void **state)
{
    (void)state;
    expect_decoded(FK_FORMAT_TRIE, FK_S(TRIE), "{} samples/count\nabc 1\nabd 2\n");
    // The separator may stand anywhere in a name.
    expect_decoded(FK_FORMAT_TRIE, FK_S("\0\0\1\3a;b\1\2\2;c\2\0\1d\3\0"),
                   "{} samples/count\na;b 1\na;b;c 2\na;bd 3\n");
    expect_refused(FK_FORMAT_TRIE, FK_S("\0\0\2\1a\1\0"), FK_E_FORMAT, "offset");
    expect_refused(FK_FORMAT_TRIE, FK_S("\5ab"), FK_E_FORMAT, "trie");
    expect_refused(FK_FORMAT_TRIE, FK_S(TRIE "x"), FK_E_FORMAT, "offset 16");
    expect_cuts_are_harmless(FK_FORMAT_TRIE, FK_S(TRIE));
}

static void tree(void **state)
{
    (void)state;
    expect_decoded(FK_FORMAT_TREE, FK_S(TREE), "{} samples/count\na 3\na;b 1\na;c 2\n");
    expect_decoded(FK_FORMAT_TREE, FK_S("\0\5\1\0\1\0"), "{} samples/count\n 5\n[unknown] 1\n");
    expect_refused(FK_FORMAT_TREE, FK_S("\0\0\1\1a\1"), FK_E_FORMAT, "tree");
    expect_cuts_are_harmless(FK_FORMAT_TREE, FK_S(TREE));
}

static void types_and_limits_of_the_request(void **state)
{
    (void)state;
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    struct decoded d;
    o.sample_rate = 100;
    assert_int_equal(decode_with(&d, FK_FORMAT_TRIE, FK_S(TRIE), &o), 0);
    assert_true(fk_str_eq(fk_buf_view(&d.text), FK_S("{} samples/count cpu/nanoseconds\n"
                                                     "abc 1 10000000\nabd 2 20000000\n")));
    assert_int_equal(d.last.period, 10000000);
    decoded_free(&d);
    o = fk_decode_opts_push(&l);
    o.type = FK_S("inuse_space");
    o.unit = FK_S("bytes");
    assert_int_equal(decode_with(&d, FK_FORMAT_LINES, FK_S("a\n"), &o), 0);
    assert_true(fk_str_eq(fk_buf_view(&d.text), FK_S("{} inuse_space/bytes\na 1\n")));
    decoded_free(&d);
    o.max_rows = 1;
    assert_int_equal(decode_with(&d, FK_FORMAT_LINES, FK_S("a\nb\n"), &o), -FK_E_LIMIT);
    decoded_free(&d);
    o = fk_decode_opts_push(&l);
    l.stack_depth = 1;
    assert_int_equal(decode_with(&d, FK_FORMAT_TREE, FK_S(TREE), &o), 0);
    assert_true(fk_str_eq(fk_buf_view(&d.text), FK_S("{} samples/count\na 3\nb 1\nc 2\n")));
    assert_true(d.last.truncated);
    assert_int_equal(item(&d, "depth")->count, 2);
    decoded_free(&d);
    o.size.bytes = 20; // as text the stacks are longer than allowed
    assert_int_equal(decode_with(&d, FK_FORMAT_TRIE,
                                 FK_S("\0\0\1\x0a"
                                      "abcdefghij\1\1\1d\2\0"),
                                 &o),
                     -FK_E_LIMIT);
    decoded_free(&d);
}

static void far_too_deep(void **state)
{
    (void)state;
    struct decoded d;
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (int i = 0; i < 1100000; i++)
        fk_buf_put(&b, "\0\0\1", 3);
    fk_buf_put(&b, "\1a\1\0", 4);
    expect_refused(FK_FORMAT_TREE, fk_buf_view(&b), FK_E_FORMAT, "deep");
    expect_refused(FK_FORMAT_TRIE, fk_buf_view(&b), FK_E_FORMAT, "deep");
    fk_buf_clear(&b); // a line is read from its leaf, and no further than stacks go
    for (int i = 0; i < 3000000; i++)
        fk_buf_byte(&b, ';');
    fk_buf_cstr(&b, "leaf\n");
    struct fk_limits l = fk_limits_default();
    struct fk_decode_opts o = fk_decode_opts_push(&l);
    assert_int_equal(decode_with(&d, FK_FORMAT_LINES, fk_buf_view(&b), &o), 0);
    assert_true(d.last.truncated);
    assert_int_equal(d.last.sym.stack_begin[d.last.stack[0] + 1] -
                         d.last.sym.stack_begin[d.last.stack[0]],
                     l.stack_depth);
    decoded_free(&d);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    expect_survives(FK_FORMAT_LINES, FK_S("a;b\na;c\n"));
    expect_survives(FK_FORMAT_TRIE, FK_S(TRIE));
    expect_survives(FK_FORMAT_TREE, FK_S(TREE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),        cmocka_unit_test(trie),
        cmocka_unit_test(tree),         cmocka_unit_test(types_and_limits_of_the_request),
        cmocka_unit_test(far_too_deep), cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
