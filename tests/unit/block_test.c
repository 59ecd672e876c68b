// SPDX-License-Identifier: Apache-2.0
// Sample rows, records, segments and sealed blocks give back what was put in; damaged bytes are
// refused.
#include "block/block.h"

#include "support/profiles.h"
#include "support/test.h"

static const struct fk_gen kinds[] = {
    {.rows = 40, .types = 2, .depth = 12, .functions = 30},
    {.rows = 300, .types = 4, .depth = 20, .functions = 200, .attributes = true, .mappings = true},
    {.rows = 60,
     .types = 1,
     .depth = 8,
     .functions = 20,
     .times = true,
     .observations = true,
     .attributes = true},
    {.rows = 50, .types = 3, .depth = 6, .functions = 50, .negative = true, .mappings = true},
    {.rows = 0, .types = 2, .depth = 1, .functions = 2},
    {.rows = 30, .types = 1, .depth = 0, .functions = 2},
};

static void assert_same(const struct fk_profile *a, const struct fk_profile *b)
{
    struct fk_buf ta, tb;
    fk_buf_init(&ta, 0);
    fk_buf_init(&tb, 0);
    fk_profile_text(a, &ta);
    fk_profile_text(b, &tb);
    fk_buf_byte(&ta, 0);
    fk_buf_byte(&tb, 0);
    assert_string_equal(ta.p, tb.p);
    fk_buf_free(&ta);
    fk_buf_free(&tb);
}

static void records_round_trip(void **state)
{
    (void)state;
    struct fk_rng rng = {7};
    for (size_t k = 0; k < FK_COUNTOF(kinds); k++) {
        FK_AUTO_ARENA a;
        FK_AUTO_BUF b;
        struct fk_profile p, q;
        struct fk_entry e, f;
        struct fk_err err = {0};
        fk_arena_init(&a, 0);
        fk_buf_init(&b, 0);
        fk_gen_profile(&rng, &kinds[k], &a, &p);
        fk_gen_entry(&p, "shop", 3, p.time_ns_start, &a, &e);
        assert_int_equal(fk_record_put(&b, &e, &p, &err), 0);
        fk_record_stamp(b.p, (struct fk_id){11, 12});
        int r = fk_record_read(fk_buf_view(&b), &a, &f, &q, &err);
        if (r)
            fail_msg("kind %zu: %s", k, err.msg);
        assert_int_equal(f.id.hi, 11);
        assert_int_equal(f.id.lo, 12);
        assert_true(fk_labels_eq(&e.labels, &f.labels) &&
                    fk_labels_eq(&e.annotations, &f.annotations));
        assert_int_equal(e.time_ns, f.time_ns);
        assert_int_equal(e.received_ns, f.received_ns);
        assert_same(&p, &q);
    }
}

static void damaged_records_are_refused(void **state)
{
    (void)state;
    struct fk_rng rng = {9};
    FK_AUTO_ARENA a;
    FK_AUTO_BUF b;
    struct fk_profile p, q;
    struct fk_entry e, f;
    struct fk_err err = {0};
    fk_arena_init(&a, 0);
    fk_buf_init(&b, 0);
    fk_gen_profile(&rng, &kinds[1], &a, &p);
    fk_gen_entry(&p, "shop", 3, p.time_ns_start, &a, &e);
    assert_int_equal(fk_record_put(&b, &e, &p, &err), 0);
    for (size_t n = 0; n < b.n; n += 1 + n / 50) { // cut off anywhere
        FK_AUTO_ARENA scratch;
        fk_arena_init(&scratch, 64 << 20);
        assert_int_equal(fk_record_read(fk_str_make(b.p, n), &scratch, &f, &q, &err),
                         -FK_E_CORRUPT);
    }
    for (int i = 0; i < 2000; i++) { // a byte changed: refused or read, never a crash
        FK_AUTO_ARENA scratch;
        fk_arena_init(&scratch, 64 << 20);
        size_t at = fk_rng_below(&rng, (uint32_t)b.n);
        char before = b.p[at];
        b.p[at] = (char)fk_rng_next(&rng);
        (void)fk_record_read(fk_buf_view(&b), &scratch, &f, &q, &err);
        b.p[at] = before;
    }
}

static void segments_carry_records(void **state)
{
    (void)state;
    FK_AUTO_ARENA a;
    FK_AUTO_BUF b;
    struct fk_err err = {0};
    struct fk_segment s;
    struct fk_str records[] = {FK_S("first record"), FK_S("second"), FK_S("")};
    fk_arena_init(&a, 0);
    fk_buf_init(&b, 0);
    assert_int_equal(fk_segment_put(&b, records, 3, FK_S("anonymous"), &err), 0);
    assert_int_equal(fk_segment_read(fk_buf_view(&b), &a, &s, &err), 0);
    assert_int_equal(s.n, 3);
    assert_true(fk_str_eq(s.tenant, FK_S("anonymous")));
    for (int i = 0; i < 3; i++)
        assert_true(fk_str_eq(s.record[i], records[i]));
    for (size_t i = 0; i < b.n; i++) { // every byte is under a checksum or a magic, but for padding
                                       // and the version's zeros
        b.p[i] ^= 0x40;
        int r = fk_segment_read(fk_buf_view(&b), &a, &s, &err);
        if (r == 0)
            assert_true((i >= 12 && i < 16) || (i >= b.n - 12 && i < b.n - 8));
        b.p[i] ^= 0x40;
    }
}

// The samples of a profile as packable columns.
static void load(struct fk_samples *s, const struct fk_profile *p)
{
    struct fk_err err = {0};
    assert_int_equal(fk_samples_reserve(s, p->n_rows, p->n_obs, p->n_types, &err), 0);
    s->n_rows = p->n_rows;
    s->n_obs = p->n_obs;
    s->n_types = p->n_types;
    s->has_sets = p->set != NULL;
    s->has_obs = p->obs_begin != NULL;
    s->has_times = p->time_ns != NULL;
    memcpy(s->stack, p->stack, p->n_rows * 4);
    if (p->set)
        memcpy(s->set, p->set, p->n_rows * 4);
    if (p->obs_begin)
        memcpy(s->obs_begin, p->obs_begin, (p->n_rows + 1) * 8);
    for (uint32_t t = 0; t < p->n_types; t++)
        memcpy(s->value[t], p->value[t], p->n_obs * 8);
    if (p->time_ns)
        memcpy(s->time_ns, p->time_ns, p->n_obs * 8);
}

static void samples_sum_as_they_unpack(void **state)
{
    (void)state;
    struct fk_rng rng = {21};
    struct fk_samples s = {0};
    for (int round = 0; round < 60; round++) {
        FK_AUTO_ARENA a;
        FK_AUTO_BUF b;
        struct fk_profile p;
        struct fk_err err = {0};
        fk_arena_init(&a, 0);
        fk_buf_init(&b, 0);
        fk_gen_profile(&rng, &kinds[(size_t)round % FK_COUNTOF(kinds)], &a, &p);
        load(&s, &p);
        assert_int_equal(fk_samples_pack(&s, 5, &b, &err), 0);
        struct fk_packed in = {fk_buf_view(&b), 5, p.n_types, p.sym.n_stacks, p.sym.n_sets};
        for (uint32_t t = 0; t < p.n_types; t++) {
            int64_t *self = calloc(p.sym.n_stacks + 1, sizeof(*self));
            uint64_t rows = 0;
            int64_t sum = 0;
            assert_int_equal(fk_samples_sum(&s, &in, t, NULL, self, &rows, &err), 0);
            for (uint32_t i = 0; i < p.sym.n_stacks; i++)
                sum += self[i];
            assert_int_equal(rows, p.n_rows);
            assert_int_equal(sum, fk_profile_total(&p, t));
            free(self);
        }
        for (in.bytes.n = 0; in.bytes.n < b.n; in.bytes.n++)
            assert_true(fk_samples_unpack(&s, &in, &err) < 0);
    }
    fk_samples_free(&s);
}

static void extreme_values_survive(void **state)
{
    (void)state;
    static const int64_t values[][4] = {{INT64_MIN, INT64_MAX, 0, -1},
                                        {INT64_MIN, 0, INT64_MIN, 0},
                                        {3, 6, 9, 0},
                                        {-3, -6, -9, 0},
                                        {INT64_MAX, 1, INT64_MAX, 1}};
    struct fk_samples s = {0};
    struct fk_err err = {0};
    for (size_t k = 0; k < FK_COUNTOF(values); k++)
        for (size_t j = 0; j < FK_COUNTOF(values); j++) {
            FK_AUTO_BUF b;
            fk_buf_init(&b, 0);
            assert_int_equal(fk_samples_reserve(&s, 4, 4, 2, &err), 0);
            s.n_rows = s.n_obs = 4;
            s.n_types = 2;
            s.has_sets = s.has_obs = s.has_times = false;
            for (uint32_t i = 0; i < 4; i++) {
                s.stack[i] = i;
                s.value[0][i] = values[k][i];
                s.value[1][i] = values[j][i];
            }
            assert_int_equal(fk_samples_pack(&s, 0, &b, &err), 0);
            struct fk_packed in = {fk_buf_view(&b), 0, 2, 4, 1};
            assert_int_equal(fk_samples_unpack(&s, &in, &err), 0);
            for (uint32_t i = 0; i < 4; i++) {
                assert_true(s.value[0][i] == values[k][i]);
                assert_true(s.value[1][i] == values[j][i]);
            }
        }
    fk_samples_free(&s);
}

// A dataset of generated profiles over one dictionary, and the profiles as they were.
struct dataset {
    struct fk_arena a;
    struct fk_dict *dict;
    struct fk_row *row;
    struct fk_profile *profile;
    uint32_t n;
    struct fk_dataset tables;
    struct fk_shape *shape;
    struct fk_placements *placement;
    struct fk_symbols sym;
};

static void add_profile(struct dataset *d, struct fk_remap *m, uint32_t i,
                        const struct fk_profile *p)
{
    struct fk_samples s = {0};
    struct fk_buf b;
    struct fk_err err = {0};
    fk_buf_init(&b, 0);
    assert_int_equal(fk_remap_start(m, d->dict, &p->sym), 0);
    load(&s, p);
    for (uint64_t k = 0; k < p->n_rows; k++) {
        assert_int_equal(fk_remap_stack(m, p->stack[k], &s.stack[k]), 0);
        if (p->set)
            assert_int_equal(fk_remap_set(m, p->set[k], &s.set[k]), 0);
    }
    struct fk_placement *l = fk_arena_array(&d->a, p->n_placements + 1, sizeof(*l));
    for (uint32_t k = 0; k < p->n_placements; k++) {
        l[k] = p->placement[k];
        assert_int_equal(fk_remap_mapping(m, l[k].mapping, &l[k].mapping), 0);
    }
    d->placement[i] = (struct fk_placements){l, p->n_placements};
    fk_shape_of(p, &d->shape[i]);
    struct fk_row *row = &d->row[i];
    *row = (struct fk_row){.id = {1000 + i, 5},
                           .time_ns = 1700000000000000000 + (int64_t)(i * 7919 % 97) * 1000000000,
                           .duration_ns = p->duration_ns,
                           .received_ns = 1700000000000000000,
                           .series = i % 2,
                           .shape = i,
                           .placement = i,
                           .n_rows = p->n_rows,
                           .n_obs = p->n_obs,
                           .samples = p->n_rows};
    row->file_time_ns = p->time_ns_start;
    int64_t *total = fk_arena_array(&d->a, p->n_types, sizeof(*total));
    for (uint32_t t = 0; t < p->n_types; t++)
        total[t] = fk_profile_total(p, t);
    row->total = total;
    struct fk_labels none = {NULL, 0};
    fk_labels_put(&b, &none);
    row->notes = fk_arena_str(&d->a, fk_buf_view(&b));
    fk_buf_clear(&b);
    assert_int_equal(fk_samples_pack(&s, row->time_ns, &b, &err), 0);
    row->data = fk_arena_str(&d->a, fk_buf_view(&b));
    fk_buf_free(&b);
    fk_samples_free(&s);
}

static void dataset_make(struct dataset *d, uint64_t seed, uint32_t n)
{
    struct fk_rng rng = {seed};
    struct fk_remap *m = fk_remap_new();
    struct fk_labels *series;
    fk_arena_init(&d->a, 0);
    d->dict = fk_dict_new(false);
    d->n = n;
    d->row = fk_arena_array(&d->a, n, sizeof(*d->row));
    d->profile = fk_arena_array(&d->a, n, sizeof(*d->profile));
    series = fk_arena_zalloc(&d->a, 2 * sizeof(*series));
    struct fk_label label = {FK_S("pod"), FK_S("pod-1")};
    fk_labels_make(&d->a, &label, 1, &series[1], NULL);
    d->tables = (struct fk_dataset){
        .service = FK_S("shop"), .n_series = 2, .series = series, .n_shapes = n, .n_placements = n};
    d->tables.shape = d->shape = fk_arena_zalloc(&d->a, n * sizeof(struct fk_shape));
    d->tables.placement = d->placement = fk_arena_zalloc(&d->a, n * sizeof(struct fk_placements));
    for (uint32_t i = 0; i < n; i++) {
        fk_gen_profile(&rng, &kinds[i % FK_COUNTOF(kinds)], &d->a, &d->profile[i]);
        add_profile(d, m, i, &d->profile[i]);
    }
    fk_dict_view(d->dict, &d->sym);
    fk_remap_free(m);
}

static void dataset_free(struct dataset *d)
{
    fk_dict_free(d->dict);
    fk_arena_free(&d->a);
}

static void write_block(struct dataset *d, struct fk_buf *to, struct fk_block_info *info)
{
    struct fk_err err = {0};
    struct fk_block_writer *w =
        fk_block_writer_new(fk_out_buf(to), (struct fk_id){42, 43}, FK_S("anonymous"), 1);
    assert_int_equal(fk_block_writer_replaces(w, (struct fk_id){1, 2}), 0);
    struct fk_row *rows = fk_arena_array(&d->a, d->n, sizeof(*rows));
    memcpy(rows, d->row, d->n * sizeof(*rows));
    assert_int_equal(fk_block_writer_dataset(w, &d->tables, &d->sym, rows, d->n, &err), 0);
    assert_int_equal(fk_block_writer_finish(w, info, &err), 0);
    assert_int_equal(info->bytes, to->n);
    fk_block_writer_free(w);
}

static void blocks_round_trip(void **state)
{
    (void)state;
    struct dataset d;
    struct fk_buf bytes;
    struct fk_block_info info;
    struct fk_err err = {0};
    struct fk_block *b;
    fk_buf_init(&bytes, 0);
    dataset_make(&d, 3, 300);
    write_block(&d, &bytes, &info);
    struct fk_str view = fk_buf_view(&bytes);
    assert_int_equal(fk_block_open(fk_source_bytes(&view), &b, &err), 0);
    const struct fk_block_info *got = fk_block_get_info(b);
    assert_int_equal(got->profiles, 300);
    assert_int_equal(got->n_replaces, 1);
    assert_int_equal(got->replaces[0].lo, 2);
    assert_int_equal(got->min_id.hi, 1000);
    assert_int_equal(got->max_id.hi, 1299);
    assert_int_equal(fk_block_pages(b, 0), 3);
    int v = fk_block_verify(b, NULL, NULL, &err);
    if (v)
        fail_msg("verify: %s", err.msg);
    const struct fk_dataset *tables;
    struct fk_symbols sym;
    struct fk_page page = {0};
    struct fk_samples s = {0};
    FK_AUTO_ARENA a;
    fk_arena_init(&a, 0);
    assert_int_equal(fk_block_dataset(b, 0, &tables, &err), 0);
    assert_int_equal(fk_block_symbols(b, 0, &a, &sym, &err), 0);
    uint32_t seen = 0;
    int64_t last = INT64_MIN;
    for (uint32_t p = 0; p < 3; p++) {
        assert_int_equal(fk_block_page(b, 0, p, &page, &err), 0);
        for (uint32_t i = 0; i < page.n; i++, seen++) {
            struct fk_profile q;
            const struct fk_row *row = &page.row[i];
            assert_true(row->time_ns >= last);
            last = row->time_ns;
            assert_int_equal(fk_row_profile(row, tables, &sym, &s, &a, &q, &err), 0);
            assert_int_equal(fk_profile_validate(&q, &err), 0);
            assert_same(&d.profile[row->id.hi - 1000], &q);
        }
    }
    assert_int_equal(seen, 300);
    fk_page_free(&page);
    fk_samples_free(&s);
    fk_block_close(b);
    fk_buf_free(&bytes);
    dataset_free(&d);
}

static void damaged_blocks_are_found(void **state)
{
    (void)state;
    struct dataset d;
    struct fk_buf bytes;
    struct fk_block_info info;
    struct fk_rng rng = {5};
    fk_buf_init(&bytes, 0);
    dataset_make(&d, 4, 20);
    write_block(&d, &bytes, &info);
    struct fk_str view = fk_buf_view(&bytes);
    for (int i = 0; i < 1500; i++) {
        size_t at = fk_rng_below(&rng, (uint32_t)bytes.n);
        struct fk_block *b = NULL;
        struct fk_err err = {0};
        bytes.p[at] ^= (char)(1 << fk_rng_below(&rng, 8));
        char changed = bytes.p[at];
        int r = fk_block_open(fk_source_bytes(&view), &b, &err);
        if (r == 0)
            r = fk_block_verify(b, NULL, NULL, &err);
        if (r == 0) // reserved zeros of head and tail
            assert_true((at >= 12 && at < 16) || (at >= bytes.n - 12 && at < bytes.n - 8));
        fk_block_close(b);
        (void)changed;
        fk_buf_clear(&bytes);
        write_block(&d, &bytes, &info);
        view = fk_buf_view(&bytes);
    }
    for (size_t n = 0; n < bytes.n; n += 97) {
        struct fk_block *b = NULL;
        struct fk_str cut = fk_str_make(bytes.p, n);
        assert_true(fk_block_open(fk_source_bytes(&cut), &b, NULL) < 0);
    }
    fk_buf_free(&bytes);
    dataset_free(&d);
}

static void allocation_failures_are_errors(void **state)
{
    (void)state;
    struct dataset d;
    dataset_make(&d, 8, 12);
    bool done = false;
    for (uint64_t k = 1; !done && k < 20000; k += 1 + k / 40) {
        struct fk_buf bytes;
        struct fk_block_info info;
        struct fk_err err = {0};
        struct fk_block *b = NULL;
        struct fk_row rows[12];
        memcpy(rows, d.row, sizeof(rows));
        fk_buf_init(&bytes, 0);
        fk_mem_fail_after(k, true);
        struct fk_block_writer *w =
            fk_block_writer_new(fk_out_buf(&bytes), (struct fk_id){42, 43}, FK_S("t"), 1);
        int r = w ? fk_block_writer_dataset(w, &d.tables, &d.sym, rows, 12, &err) : -FK_E_NOMEM;
        if (r == 0)
            r = fk_block_writer_finish(w, &info, &err);
        struct fk_str view = fk_buf_view(&bytes);
        if (r == 0)
            r = fk_block_open(fk_source_bytes(&view), &b, &err);
        if (r == 0)
            r = fk_block_verify(b, NULL, NULL, &err);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        assert_true(done ? r == 0 : r < 0);
        fk_block_close(b);
        fk_block_writer_free(w);
        fk_buf_free(&bytes);
    }
    assert_true(done);
    dataset_free(&d);
}

// Memory that is gone is not a damaged file: what is damaged gets set aside.
static void no_memory_is_not_corruption(void **state)
{
    (void)state;
    struct dataset d;
    struct fk_buf bytes, record;
    struct fk_block_info info;
    struct fk_err err = {0};
    struct fk_entry e;
    bool done = false;
    fk_buf_init(&bytes, 0);
    fk_buf_init(&record, 0);
    dataset_make(&d, 8, 12);
    write_block(&d, &bytes, &info);
    fk_gen_entry(&d.profile[1], "shop", 3, 5, &d.a, &e);
    assert_int_equal(fk_record_put(&record, &e, &d.profile[1], &err), 0);
    struct fk_str view = fk_buf_view(&bytes);
    for (uint64_t k = 1; !done && k < 5000; k++) {
        FK_AUTO_ARENA a;
        struct fk_profile p;
        struct fk_block *b = NULL;
        fk_arena_init(&a, 0);
        fk_mem_fail_after(k, true);
        int r = fk_record_read(fk_buf_view(&record), &a, &e, &p, &err);
        if (r == 0)
            r = fk_block_open(fk_source_bytes(&view), &b, &err);
        if (r == 0)
            r = fk_block_verify(b, NULL, NULL, &err);
        done = fk_mem_failed() == 0;
        fk_mem_fail_after(0, false);
        fk_block_close(b);
        assert_int_equal(r, done ? 0 : -FK_E_NOMEM);
    }
    assert_true(done);
    fk_buf_free(&bytes);
    fk_buf_free(&record);
    dataset_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_round_trip),
        cmocka_unit_test(damaged_records_are_refused),
        cmocka_unit_test(segments_carry_records),
        cmocka_unit_test(samples_sum_as_they_unpack),
        cmocka_unit_test(extreme_values_survive),
        cmocka_unit_test(blocks_round_trip),
        cmocka_unit_test(damaged_blocks_are_found),
        cmocka_unit_test(allocation_failures_are_errors),
        cmocka_unit_test(no_memory_is_not_corruption),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
