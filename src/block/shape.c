// SPDX-License-Identifier: Apache-2.0
// Shapes: what profiles of one program share besides labels. Canonical bytes, so that equal shapes
// are equal bytes.
#include "block/block.h"
#include "codec/codec.h"

void fk_shape_of(const struct fk_profile *p, struct fk_shape *ret)
{
    *ret = (struct fk_shape){.type = p->type,
                             .n_types = p->n_types,
                             .has_period_type = p->has_period_type,
                             .period = p->period,
                             .period_type = p->period_type,
                             .period_unit = p->period_unit,
                             .default_type = p->default_type,
                             .drop_frames = p->drop_frames,
                             .keep_frames = p->keep_frames,
                             .doc_url = p->doc_url,
                             .time_key = p->time_key,
                             .time_unit = p->time_unit,
                             .comment = p->comment,
                             .n_comments = p->n_comments};
}

void fk_shape_to(const struct fk_shape *s, struct fk_profile *p)
{
    p->type = s->type;
    p->n_types = s->n_types;
    p->has_period_type = s->has_period_type;
    p->period = s->period;
    p->period_type = s->period_type;
    p->period_unit = s->period_unit;
    p->default_type = s->default_type;
    p->drop_frames = s->drop_frames;
    p->keep_frames = s->keep_frames;
    p->doc_url = s->doc_url;
    p->time_key = s->time_key;
    p->time_unit = s->time_unit;
    p->comment = s->comment;
    p->n_comments = s->n_comments;
}

void fk_shape_put(struct fk_buf *b, const struct fk_shape *s)
{
    const struct fk_str strings[] = {s->period_type, s->period_unit, s->default_type,
                                     s->drop_frames, s->keep_frames, s->doc_url,
                                     s->time_key,    s->time_unit};
    fk_buf_varint(b, s->n_types);
    for (uint32_t i = 0; i < s->n_types; i++) {
        fk_buf_sized(b, s->type[i].type);
        fk_buf_sized(b, s->type[i].unit);
        fk_buf_byte(b, (uint8_t)s->type[i].kind);
    }
    fk_buf_byte(b, s->has_period_type);
    fk_buf_varint(b, fk_zigzag(s->period));
    for (size_t i = 0; i < FK_COUNTOF(strings); i++)
        fk_buf_sized(b, strings[i]);
    fk_buf_varint(b, s->n_comments);
    for (uint32_t i = 0; i < s->n_comments; i++)
        fk_buf_sized(b, s->comment[i]);
}

static int take_types(struct fk_arena *a, struct fk_cur *c, struct fk_shape *s)
{
    uint64_t n;
    if (fk_cur_varint_max(c, FK_MAX_TYPES, &n))
        return -FK_E_CORRUPT;
    struct fk_value_type *type = fk_arena_array(a, FK_MAX(n, (uint64_t)1), sizeof(*type));
    for (uint64_t i = 0; type && i < n; i++) {
        uint64_t kind;
        if (fk_cur_sized(c, &type[i].type) || fk_cur_sized(c, &type[i].unit) ||
            fk_cur_varint_max(c, FK_KIND_INSTANT, &kind))
            return -FK_E_CORRUPT;
        type[i].kind = (enum fk_kind)kind;
    }
    s->type = type;
    s->n_types = (uint32_t)n;
    return type ? 0 : -FK_E_NOMEM;
}

static int take_comments(struct fk_arena *a, struct fk_cur *c, struct fk_shape *s)
{
    uint64_t n;
    if (fk_cur_varint_max(c, fk_cur_left(c), &n))
        return -FK_E_CORRUPT;
    struct fk_str *comment = fk_arena_array(a, FK_MAX(n, (uint64_t)1), sizeof(*comment));
    for (uint64_t i = 0; comment && i < n; i++)
        if (fk_cur_sized(c, &comment[i]))
            return -FK_E_CORRUPT;
    s->comment = comment;
    s->n_comments = (uint32_t)n;
    return comment ? 0 : -FK_E_NOMEM;
}

int fk_shape_read(struct fk_arena *a, struct fk_str bytes, struct fk_shape *ret, struct fk_err *err)
{
    struct fk_cur c = fk_cur_of(bytes);
    struct fk_shape s = {0};
    struct fk_str *strings[] = {&s.period_type, &s.period_unit, &s.default_type, &s.drop_frames,
                                &s.keep_frames, &s.doc_url,     &s.time_key,     &s.time_unit};
    uint64_t has_period = 0;
    int r = take_types(a, &c, &s);
    bool good =
        r == 0 && fk_cur_varint_max(&c, 1, &has_period) == 0 && fk_cur_zigzag(&c, &s.period) == 0;
    for (size_t i = 0; good && i < FK_COUNTOF(strings); i++)
        good = fk_cur_sized(&c, strings[i]) == 0;
    good = good && (r = take_comments(a, &c, &s)) == 0 && fk_cur_left(&c) == 0;
    if (r == -FK_E_NOMEM)
        return fk_fail_nomem(err);
    if (!good)
        return fk_fail(err, FK_E_CORRUPT, "profile shape: cut off or inconsistent");
    s.has_period_type = has_period != 0;
    *ret = s;
    return 0;
}
