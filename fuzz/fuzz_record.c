// SPDX-License-Identifier: Apache-2.0
// What packs carry. The first byte chooses the reader: a record (what is read is valid and written
// again reads the same), a segment, packed samples (read whole and by sums), a shape.
#include "block/block.h"
#include "fuzz.h"

static void one_record(struct fk_str bytes)
{
    FK_AUTO_ARENA a;
    FK_AUTO_BUF first, second;
    struct fk_entry e, f;
    struct fk_profile p, q;
    struct fk_err err = {0};
    fk_arena_init(&a, (size_t)64 << 20);
    fk_buf_init(&first, 0);
    fk_buf_init(&second, 0);
    int r = fk_record_read(bytes, &a, &e, &p, &err);
    FK_FUZZ_CHECK(r == -err.code);
    if (r)
        return;
    FK_FUZZ_CHECK(fk_profile_validate(&p, &err) == 0);
    if (fk_record_put(&first, &e, &p, &err) ||
        fk_record_read(fk_buf_view(&first), &a, &f, &q, &err) == -FK_E_NOMEM)
        return;
    FK_FUZZ_CHECK(fk_record_put(&second, &f, &q, &err) == 0);
    FK_FUZZ_CHECK(fk_str_eq(fk_buf_view(&first), fk_buf_view(&second)));
}

static void segment(struct fk_str bytes)
{
    FK_AUTO_ARENA a;
    struct fk_segment s;
    fk_arena_init(&a, (size_t)64 << 20);
    if (fk_segment_read(bytes, &a, &s, NULL) == 0)
        for (size_t i = 0; i < s.n; i++)
            FK_FUZZ_CHECK(s.record[i].n <= bytes.n);
}

// Three bytes of sizes, then the packed form.
static void samples(struct fk_str bytes)
{
    struct fk_samples s = {0};
    if (bytes.n < 3)
        return;
    struct fk_packed in = {.bytes = fk_str_from(bytes, 3),
                           .base_ns = 1700000000000000000,
                           .n_types = 1 + (uint8_t)bytes.p[0] % FK_MAX_TYPES,
                           .n_stacks = (uint8_t)bytes.p[1] * 4u,
                           .n_sets = (uint8_t)bytes.p[2]};
    int64_t *self = calloc(in.n_stacks + 1, sizeof(*self)), sum = 0, whole = 0;
    uint64_t rows = 0;
    struct fk_samples scratch = {0};
    int summed = self ? fk_samples_sum(&scratch, &in, 0, NULL, self, &rows, NULL) : -FK_E_NOMEM;
    if (self && fk_samples_unpack(&s, &in, NULL) == 0) {
        FK_FUZZ_CHECK(summed == 0 && rows == s.n_rows);
        for (uint64_t i = 0; i < s.n_rows; i++) {
            FK_FUZZ_CHECK(s.stack[i] < in.n_stacks);
            FK_FUZZ_CHECK(!s.has_sets || s.set[i] < in.n_sets);
        }
        for (uint64_t i = 0; i < s.n_obs; i++)
            whole = fk_wrap_add(whole, s.value[0][i]);
        for (uint32_t i = 0; i < in.n_stacks; i++)
            sum = fk_wrap_add(sum, self[i]);
        FK_FUZZ_CHECK(sum == whole);
    }
    free(self);
    fk_samples_free(&s);
    fk_samples_free(&scratch);
}

static void shape(struct fk_str bytes)
{
    FK_AUTO_ARENA a;
    FK_AUTO_BUF b;
    struct fk_shape s, again;
    fk_arena_init(&a, (size_t)64 << 20);
    fk_buf_init(&b, 0);
    if (fk_shape_read(&a, bytes, &s, NULL))
        return;
    fk_shape_put(&b, &s);
    FK_FUZZ_CHECK(fk_shape_read(&a, fk_buf_view(&b), &again, NULL) == 0);
    FK_FUZZ_CHECK(s.n_types == again.n_types && s.n_comments == again.n_comments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(struct fk_str) = {one_record, segment, samples, shape};
    if (size)
        readers[data[0] % FK_COUNTOF(readers)](fk_str_make(data + 1, size - 1));
    return 0;
}
