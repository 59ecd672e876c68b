// SPDX-License-Identifier: Apache-2.0
// The common way of all decoders: take compression off, find out the format, hand over the result.
#include "formats/formats_int.h"

struct fk_decode_opts fk_decode_opts_push(const struct fk_limits *l)
{
    return (struct fk_decode_opts){
        .limits = l,
        .size = {l->push_decoded, FK_LIMIT_FLAG(push_decoded), "the profile"},
        .max_rows = l->push_rows,
        .rows_flag = FK_LIMIT_FLAG(push_rows),
    };
}

struct fk_decode_opts fk_decode_opts_upload(const struct fk_limits *l)
{
    return (struct fk_decode_opts){
        .limits = l,
        .size = {l->upload_body, FK_LIMIT_FLAG(upload_body), "the profile"},
        .max_rows = l->upload_rows,
        .rows_flag = FK_LIMIT_FLAG(upload_rows),
    };
}

int fk_decoding_nomem(const struct fk_decoding *d, struct fk_err *err)
{
    if (d->arena->limit != SIZE_MAX)
        return fk_fail_limit(err, "memory", d->arena->limit, FK_LIMIT_FLAG(decode_memory),
                             "decoding needs too much memory");
    return fk_fail_nomem(err);
}

void *fk_arena_grow(struct fk_arena *a, void *old, size_t n, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return old;
    size_t want = FK_MAX(need, FK_MAX(*cap < SIZE_MAX / 2 ? *cap * 2 : need, (size_t)64));
    void *p = fk_arena_array(a, want, size);
    if (!p)
        return NULL;
    if (n)
        memcpy(p, old, n * size);
    *cap = want;
    return p;
}

int fk_entry_of_profile(const struct fk_profile *p, struct fk_arena *arena, struct fk_entry *ret,
                        struct fk_err *err)
{
    struct fk_entry_type *type = fk_arena_array(arena, p->n_types, sizeof(*type));
    if (!type)
        return fk_fail_nomem(err);
    for (uint32_t k = 0; k < p->n_types; k++)
        type[k] = (struct fk_entry_type){p->type[k].type, p->type[k].unit, p->type[k].kind,
                                         fk_profile_total(p, k)};
    *ret = (struct fk_entry){
        .time_ns = p->time_ns_start,
        .duration_ns = p->duration_ns,
        .period_type = p->period_type,
        .period_unit = p->period_unit,
        .type = type,
        .n_types = p->n_types,
        .flags = (p->time_ns ? FK_ENTRY_HAS_TIME : 0u) | (p->truncated ? FK_ENTRY_TRUNCATED : 0u),
        .samples = p->n_rows,
    };
    return 0;
}

int fk_decoding_deliver_events(const struct fk_decoding *d, struct fk_profile *p,
                               const struct fk_labels *labels, uint64_t events, struct fk_err *err)
{
    struct fk_entry entry;
    int rc = fk_entry_of_profile(p, d->arena, &entry, err);
    if (rc)
        return fk_decoding_nomem(d, err);
    entry.labels = *labels;
    entry.samples = events;
    if (d->report) {
        d->report->profiles++;
        d->report->rows += events;
    }
    return d->each.on(d->each.arg, &entry, p, err);
}

int fk_decoding_deliver_labelled(const struct fk_decoding *d, struct fk_profile *p,
                                 const struct fk_labels *labels, struct fk_err *err)
{
    return fk_decoding_deliver_events(d, p, labels, p->n_rows, err);
}

int fk_decoding_deliver(const struct fk_decoding *d, struct fk_profile *p, struct fk_err *err)
{
    return fk_decoding_deliver_labelled(d, p, &(struct fk_labels){0}, err);
}

static int inflate_once(const struct fk_decoding *d, struct fk_str *bytes, struct fk_inflated *z,
                        struct fk_err *err)
{
    struct fk_err why;
    int rc = fk_inflate((const uint8_t *)bytes->p, bytes->n, &d->opts->size, d->arena, z, &why);
    // Two plain letters can look like a zlib header: text then.
    if (rc == -FK_E_FORMAT && fk_zip_detect((const uint8_t *)bytes->p, bytes->n) == FK_ZIP_ZLIB) {
        *z = (struct fk_inflated){*bytes, FK_ZIP_NONE, 0, 0};
        rc = 0;
    }
    if (rc == -FK_E_NOMEM)
        return fk_decoding_nomem(d, err);
    if (rc) {
        *err = why;
        return rc;
    }
    if (z->trailing)
        fk_report_warn(d->report, "bytes after the compressed data were ignored", z->trailing,
                       "behind the last %s member", fk_zip_name(z->kind));
    *bytes = z->bytes;
    return 0;
}

// Some agents compress twice.
static int take_compression_off(const struct fk_decoding *d, struct fk_str *bytes,
                                struct fk_err *err)
{
    struct fk_inflated z = {0};
    int rc = inflate_once(d, bytes, &z, err);
    enum fk_zip inner =
        z.kind == FK_ZIP_NONE ? FK_ZIP_NONE : fk_zip_detect((const uint8_t *)bytes->p, bytes->n);
    if (rc || (inner != FK_ZIP_GZIP && inner != FK_ZIP_ZSTD))
        return rc;
    fk_report_warn(d->report, "compressed twice", 1, "%s within %s", fk_zip_name(inner),
                   fk_zip_name(z.kind));
    return inflate_once(d, bytes, &z, err);
}

// Judges compressed bytes by how they begin, before gigabytes are made of them. Bytes that are
// short or broken are left to the decompression, which says more.
static int refuse_early(struct fk_str bytes, struct fk_err *err)
{
    uint8_t head[FK_LOOK + 1];
    size_t n = sizeof(head);
    enum fk_format format;
    if (fk_zip_detect((const uint8_t *)bytes.p, bytes.n) == FK_ZIP_NONE)
        return 0;
    fk_inflate_head((const uint8_t *)bytes.p, bytes.n, head, &n);
    return n == sizeof(head) ? fk_format_detect(bytes, &format, err) : 0;
}

int fk_decode(enum fk_format format, struct fk_str bytes, const struct fk_decode_opts *opts,
              struct fk_arena *arena, struct fk_each_profile each, struct fk_report *report,
              struct fk_err *err)
{
    const struct fk_decoding d = {opts, arena, each, report};
    struct fk_err local;
    if (!err)
        err = &local;
    int rc = format == FK_FORMAT_UNKNOWN ? refuse_early(bytes, err) : 0;
    if (rc == 0)
        rc = take_compression_off(&d, &bytes, err);
    if (rc)
        return rc;
    enum fk_format seen = FK_FORMAT_UNKNOWN;
    if (format == FK_FORMAT_UNKNOWN) {
        rc = fk_format_look(bytes, &seen, err);
        if (rc)
            return rc;
        format = seen;
    }
    if (report)
        report->format = format;
    const struct fk_format_row *row = fk_format_row(format);
    if (!row || !row->decode)
        return fk_fail(err, FK_E_UNSUPPORTED, "the format '%s' is not read yet",
                       fk_format_name(format));
    rc = row->decode(&d, bytes, err);
    // What was announced as a profile may be something else that has a name.
    struct fk_err other;
    if (rc == -FK_E_FORMAT && seen == FK_FORMAT_UNKNOWN &&
        fk_format_other(bytes, fk_format_is_json(format), &other)) {
        *err = other;
        rc = -other.code;
    }
    return rc;
}

int fk_encode(enum fk_format format, const struct fk_profile *p, const struct fk_encode_opts *opts,
              struct fk_out out, struct fk_err *err)
{
    static const struct fk_encode_opts plain = {0};
    opts = opts ? opts : &plain;
    const struct fk_format_row *row = fk_format_row(format);
    if (!row || !row->encode)
        return fk_fail_param(err, "format", "the format '%s' is not written",
                             fk_format_name(format));
    return row->encode(p, opts, out, err);
}
