// SPDX-License-Identifier: Apache-2.0
// JSON shapes that several answers share (api.md "Shapes").
#include "api/api_int.h"

void fk_json_time(struct fk_json *w, int64_t unix_ns)
{
    char text[FK_TIME_CHARS + 1];
    fk_time_format(unix_ns, text);
    fk_json_str(w, fk_str_make(text, FK_TIME_CHARS));
}

void fk_json_id(struct fk_json *w, struct fk_id id)
{
    char text[FK_ID_CHARS + 1];
    fk_id_format(id, text);
    fk_json_str(w, fk_str_make(text, FK_ID_CHARS));
}

void fk_json_labels(struct fk_json *w, const struct fk_labels *l, bool with_private)
{
    fk_json_object(w);
    for (size_t i = 0; i < l->n; i++) {
        if (!with_private && fk_str_starts(l->v[i].name, FK_S("__")))
            continue;
        fk_json_key(w, l->v[i].name);
        fk_json_str(w, l->v[i].value);
    }
    fk_json_object_end(w);
}

struct fk_str fk_entry_type_id(struct fk_arena *a, const struct fk_entry *e, uint32_t k)
{
    struct fk_buf b;
    fk_buf_init(&b, 0);
    fk_type_id_put(&b, fk_labels_get(&e->labels, FK_S("__name__")), e->type[k].type,
                   e->type[k].unit, e->period_type, e->period_unit);
    struct fk_str id = fk_arena_str(a, fk_buf_view(&b));
    fk_buf_free(&b);
    return id.p ? id : FK_S("");
}

static void entry_types(struct fk_json *w, struct fk_arena *a, const struct fk_entry *e)
{
    fk_json_array(w);
    for (uint32_t k = 0; k < e->n_types; k++) {
        fk_json_object(w);
        fk_json_k(w, "type");
        fk_json_str(w, fk_entry_type_id(a, e, k));
        fk_json_k(w, "unit");
        fk_json_str(w, e->type[k].unit.n ? e->type[k].unit : FK_S("count"));
        fk_json_k(w, "kind");
        fk_json_str(w, fk_str_of(fk_kind_name(e->type[k].kind)));
        fk_json_k(w, "total");
        fk_json_i64(w, e->type[k].total);
        fk_json_object_end(w);
    }
    fk_json_array_end(w);
}

static void flag(struct fk_json *w, struct fk_str name, const struct fk_entry *e, uint32_t bit)
{
    fk_json_key(w, name);
    fk_json_bool(w, (e->flags & bit) != 0);
}

void fk_json_entry_fields(struct fk_json *w, struct fk_arena *a, const struct fk_entry *e)
{
    struct fk_str client = fk_labels_get(&e->annotations, FK_S("client_id"));
    fk_json_k(w, "id");
    fk_json_id(w, e->id);
    fk_json_k(w, "time");
    fk_json_time(w, e->time_ns);
    fk_json_k(w, "duration_ns");
    fk_json_i64(w, e->duration_ns);
    fk_json_k(w, "received");
    fk_json_time(w, e->received_ns);
    fk_json_k(w, "service_name");
    fk_json_str(w, fk_labels_get(&e->labels, FK_S("service_name")));
    fk_json_k(w, "labels");
    fk_json_labels(w, &e->labels, false);
    fk_json_k(w, "types");
    entry_types(w, a, e);
    fk_json_k(w, "samples");
    fk_json_u64(w, e->samples);
    fk_json_k(w, "size");
    fk_json_u64(w, e->size);
    flag(w, FK_S("has_time"), e, FK_ENTRY_HAS_TIME);
    flag(w, FK_S("truncated"), e, FK_ENTRY_TRUNCATED);
    flag(w, FK_S("pinned"), e, FK_ENTRY_PINNED);
    if (e->flags & FK_ENTRY_TIME_ARRIVAL)
        flag(w, FK_S("time_is_arrival"), e, FK_ENTRY_TIME_ARRIVAL);
    if (client.p) {
        fk_json_k(w, "client_id");
        fk_json_str(w, client);
    }
}

void fk_json_entry(struct fk_json *w, struct fk_arena *a, const struct fk_entry *e)
{
    fk_json_object(w);
    fk_json_entry_fields(w, a, e);
    fk_json_object_end(w);
}

void fk_call_json(struct fk_api_call *c, struct fk_json *w)
{
    c->type = "application/json";
    fk_json_init(w, fk_out_buf(&c->body), false);
    fk_json_object(w);
}

int fk_call_json_end(struct fk_api_call *c, struct fk_json *w, struct fk_err *err)
{
    fk_json_object_end(w);
    int r = fk_json_finish(w, err);
    if (r == 0)
        fk_buf_byte(&c->body, '\n');
    return r;
}

void fk_json_type_facts(struct fk_json *w, const struct fk_type_facts *t)
{
    fk_json_k(w, "type");
    fk_json_str(w, t->id);
    fk_json_k(w, "unit");
    fk_json_str(w, t->unit);
}

void fk_json_completeness(struct fk_api_call *c, struct fk_json *w, const struct fk_query *q)
{
    struct fk_render_facts facts;
    fk_call_facts(c, q, &facts);
    fk_json_k(w, "completeness");
    fk_render_completeness(w, &facts);
}

void fk_json_cells(struct fk_json *w, const struct fk_heatmap *map)
{
    fk_json_k(w, "counts");
    fk_json_array(w);
    for (size_t i = 0; i < map->n; i++) {
        fk_json_array(w);
        fk_json_u64(w, map->cell[i].x);
        fk_json_u64(w, map->cell[i].y);
        fk_json_u64(w, map->cell[i].n);
        fk_json_array_end(w);
    }
    fk_json_array_end(w);
    fk_json_k(w, "max");
    fk_json_u64(w, map->max);
}
