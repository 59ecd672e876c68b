// SPDX-License-Identifier: Apache-2.0
// speedscope's files out (https://www.speedscope.app/file-format-schema.json, 1.x): sampled
// profiles, one for each value column and, where samples have times, for each thread, in the order
// of time. Places on speedscope's axis are sums of weights, so gaps between samples do not show.
// Frames come behind the profiles that number them.
#include "formats/named_int.h"

static const struct {
    const char *unit, *written;
    bool time;
} units[] = {
    {"nanoseconds", "nanoseconds", true},
    {"microseconds", "microseconds", true},
    {"milliseconds", "milliseconds", true},
    {"seconds", "seconds", true},
    {"bytes", "bytes", false},
};

struct writer {
    const struct fk_profile *p;
    struct fk_named_frames frames;
    struct fk_lanes lanes;
    struct fk_json w;
    struct fk_str title;
};

static const char *unit_of(const struct fk_profile *p, uint32_t type)
{
    for (size_t i = 0; i < FK_COUNTOF(units); i++)
        if (fk_str_eq(p->type[type].unit, fk_str_of(units[i].unit)))
            return units[i].written;
    return "none";
}

static int put_stack(struct writer *x, uint32_t stack)
{
    const struct fk_symbols *s = &x->p->sym;
    fk_json_array(&x->w);
    for (uint32_t f = s->stack_begin[stack + 1]; f-- > s->stack_begin[stack];) {
        const uint32_t *number;
        uint32_t n;
        if (fk_named_frames_of(&x->frames, s->frame[f], &number, &n))
            return -FK_E_NOMEM;
        while (n-- > 0)
            fk_json_u64(&x->w, number[n]);
    }
    fk_json_array_end(&x->w);
    return 0;
}

// title, type, thread: what there is of them.
static void put_name(struct writer *x, uint32_t type, struct fk_str thread)
{
    const struct fk_str part[] = {x->title, x->p->type[type].type, thread};
    FK_AUTO_BUF b;
    fk_buf_init(&b, 0);
    for (size_t i = 0; i < FK_COUNTOF(part); i++)
        if (part[i].n) {
            fk_buf_cstr(&b, b.n ? " " : "");
            fk_buf_str(&b, part[i]);
        }
    fk_json_k(&x->w, "name");
    fk_json_str(&x->w, fk_buf_view(&b));
    if (b.failed && !x->w.err.code)
        fk_fail_nomem(&x->w.err);
}

static void put_range(struct writer *x, uint32_t type, size_t begin, size_t end)
{
    int64_t start = 0, sum = 0;
    for (size_t i = begin; i < end; i++)
        sum = fk_wrap_add(sum, x->p->value[type][x->lanes.v[i].obs]);
    if (begin < end && x->lanes.v[begin].time_ns != FK_NO_TIME &&
        fk_str_eq(x->p->type[type].unit, FK_S("nanoseconds")))
        start = x->lanes.v[begin].time_ns;
    fk_json_k(&x->w, "startValue");
    fk_json_i64(&x->w, start);
    fk_json_k(&x->w, "endValue");
    fk_json_i64(&x->w, fk_wrap_add(start, sum));
}

static int put_profile(struct writer *x, uint32_t type, size_t lane)
{
    size_t begin = x->lanes.begin[lane], end = x->lanes.begin[lane + 1];
    const struct fk_lane_who *who = &x->lanes.who.v[lane];
    struct fk_json *w = &x->w;
    fk_json_object(w);
    fk_json_k(w, "type");
    fk_json_str(w, FK_S("sampled"));
    put_name(x, type, who->name.n ? who->name : who->tid);
    fk_json_k(w, "unit");
    fk_json_str(w, fk_str_of(unit_of(x->p, type)));
    put_range(x, type, begin, end);
    fk_json_k(w, "samples");
    fk_json_array(w);
    for (size_t i = begin; i < end; i++)
        if (put_stack(x, x->p->stack[x->lanes.v[i].row]))
            return -FK_E_NOMEM;
    fk_json_array_end(w);
    fk_json_k(w, "weights");
    fk_json_array(w);
    for (size_t i = begin; i < end; i++)
        fk_json_i64(w, x->p->value[type][x->lanes.v[i].obs]);
    fk_json_array_end(w);
    fk_json_object_end(w);
    return w->err.code;
}

static void put_frames(struct writer *x)
{
    struct fk_json *w = &x->w;
    fk_json_k(w, "shared");
    fk_json_object(w);
    fk_json_k(w, "frames");
    fk_json_array(w);
    for (size_t i = 0; i < x->frames.v.n; i++) {
        const struct fk_named_frame *f = &x->frames.v.v[i];
        fk_json_object(w);
        fk_json_k(w, "name");
        fk_json_str(w, f->name);
        if (f->file.n) {
            fk_json_k(w, "file");
            fk_json_str(w, f->file);
        }
        if (f->line) {
            fk_json_k(w, "line");
            fk_json_i64(w, f->line);
        }
        if (f->column) {
            fk_json_k(w, "col");
            fk_json_i64(w, f->column);
        }
        fk_json_object_end(w);
    }
    fk_json_array_end(w);
    fk_json_object_end(w);
}

static int put_document(struct writer *x, uint32_t from, uint32_t until)
{
    struct fk_json *w = &x->w;
    int rc = 0;
    fk_json_object(w);
    fk_json_k(w, "$schema");
    fk_json_str(w, FK_S("https://www.speedscope.app/file-format-schema.json"));
    fk_json_k(w, "exporter");
    fk_json_str(w, FK_S("flamekeep"));
    fk_json_k(w, "name");
    fk_json_str(w, x->title);
    fk_json_k(w, "profiles");
    fk_json_array(w);
    for (uint32_t k = from; !rc && k < until; k++)
        for (size_t i = 0; !rc && i < x->lanes.who.n; i++)
            rc = put_profile(x, k, i);
    fk_json_array_end(w);
    put_frames(x);
    fk_json_object_end(w);
    return rc;
}

static int check(const struct fk_profile *p, uint32_t from, uint32_t until, struct fk_err *err)
{
    for (uint32_t k = from; k < until; k++)
        for (uint64_t o = 0; o < p->n_obs; o++)
            if (p->value[k][o] < 0)
                return fk_fail(err, FK_E_UNSUPPORTED,
                               "speedscope has no negative weights; %.*s of this profile has some",
                               FK_STR_ARG(p->type[k].type));
    return 0;
}

int fk_speedscope_encode(const struct fk_profile *p, const struct fk_encode_opts *opts,
                         struct fk_out out, struct fk_err *err)
{
    uint32_t all = opts->type == FK_NONE, from = all ? 0 : opts->type;
    uint32_t until = all ? p->n_types : from + 1;
    struct writer x = {.p = p, .title = opts->title};
    if (until > p->n_types || from >= until)
        return fk_fail_param(err, "type", "the profile has %u sample types", p->n_types);
    int rc = check(p, from, until, err);
    if (rc)
        return rc;
    x.frames.by_start = true;
    fk_json_init(&x.w, out, false);
    if (fk_named_frames_begin(&x.frames, p) || fk_lanes_make(&x.lanes, p))
        rc = -FK_E_NOMEM;
    if (!rc)
        rc = put_document(&x, from, until);
    if (rc == -FK_E_NOMEM && !x.w.err.code)
        fk_fail_nomem(&x.w.err);
    rc = fk_json_finish(&x.w, err);
    fk_lanes_free(&x.lanes);
    fk_named_frames_end(&x.frames);
    return rc;
}
