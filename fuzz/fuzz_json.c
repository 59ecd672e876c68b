// SPDX-License-Identifier: Apache-2.0
// JSON: what the reader takes, the writer can write, and it reads the same again.
#include "codec/codec.h"
#include "fuzz.h"

static void put(struct fk_json *w, const struct fk_json_tok *t, struct fk_arena *a)
{
    struct fk_str s = {0};
    if (t->kind == FK_JSON_KEY || t->kind == FK_JSON_STRING)
        FK_FUZZ_CHECK(fk_json_text(t, a, &s, NULL) == 0);
    switch (t->kind) {
    case FK_JSON_OBJECT:
        fk_json_object(w);
        break;
    case FK_JSON_OBJECT_END:
        fk_json_object_end(w);
        break;
    case FK_JSON_ARRAY:
        fk_json_array(w);
        break;
    case FK_JSON_ARRAY_END:
        fk_json_array_end(w);
        break;
    case FK_JSON_KEY:
        fk_json_key(w, s);
        break;
    case FK_JSON_STRING:
        fk_json_str(w, s);
        break;
    case FK_JSON_NUMBER:
        fk_json_raw(w, t->text);
        break;
    case FK_JSON_NULL:
        fk_json_null(w);
        break;
    case FK_JSON_TRUE:
    case FK_JSON_FALSE:
        fk_json_bool(w, t->kind == FK_JSON_TRUE);
        break;
    case FK_JSON_END:
        break;
    }
}

// Reads all and writes it; false when it is not taken.
static bool rewrite(struct fk_str in, struct fk_buf *out, size_t *tokens)
{
    FK_AUTO_ARENA a;
    struct fk_json_reader r;
    struct fk_json_tok t = {0};
    struct fk_json w;
    int64_t i;
    double d;
    int rc;
    fk_arena_init(&a, 0);
    fk_json_read(&r, in, 40);
    fk_json_init(&w, fk_out_buf(out), false);
    *tokens = 0;
    do {
        rc = fk_json_next(&r, &t, NULL);
        if (rc)
            break;
        ++*tokens;
        (void)fk_json_to_i64(&t, &i);
        (void)fk_json_to_f64(&t, &d);
        put(&w, &t, &a);
    } while (t.kind != FK_JSON_END);
    int written = fk_json_finish(&w, NULL);
    FK_FUZZ_CHECK(rc != 0 || written == 0);
    return rc == 0;
}

static void skip_first(struct fk_str in)
{
    struct fk_json_reader r;
    struct fk_json_tok t;
    fk_json_read(&r, in, 40);
    if (fk_json_next(&r, &t, NULL) == 0 && fk_json_skip(&r, &t, NULL) == 0)
        FK_FUZZ_CHECK(r.depth == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FK_AUTO_BUF one, two;
    size_t n, m;
    fk_buf_init(&one, 0);
    fk_buf_init(&two, 0);
    skip_first(fk_str_make(data, size));
    if (!rewrite(fk_str_make(data, size), &one, &n))
        return 0;
    FK_FUZZ_CHECK(fk_str_is_utf8(fk_buf_view(&one)));
    FK_FUZZ_CHECK(rewrite(fk_buf_view(&one), &two, &m));
    FK_FUZZ_CHECK(n == m && fk_str_eq(fk_buf_view(&one), fk_buf_view(&two)));
    return 0;
}
