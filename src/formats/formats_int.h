// SPDX-License-Identifier: Apache-2.0
// What the decoders of this room share: the decode in progress, and an array that grows in an
// arena.
#ifndef FK_FORMATS_INT_H
#define FK_FORMATS_INT_H

#include "formats/formats.h"

struct fk_decoding {
    const struct fk_decode_opts *opts;
    struct fk_arena *arena;
    struct fk_each_profile each;
    struct fk_report *report;
};

// One row of the registry. The name is what --format and format= take.
struct fk_format_row {
    const char *name;
    int (*decode)(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
    int (*encode)(const struct fk_profile *p, const struct fk_encode_opts *opts, struct fk_out out,
                  struct fk_err *err);
    // Whether bytes are this: head is the first FK_LOOK bytes at most, whole: there are no more.
    // Asked in the order of the enumeration after everything that is told by fixed words; pprof and
    // folded, which have none, are asked last. NULL: only when named.
    bool (*looks)(struct fk_str head, bool whole);
};
#define FK_LOOK ((size_t)4 << 10)

const struct fk_format_row *fk_format_row(enum fk_format f); // NULL: no such
// Appends "pprof, folded, ..." of what is read; its view.
struct fk_str fk_format_readable(struct fk_buf *b);
bool fk_format_is_json(enum fk_format f); // what is wrong with it, its decoder says best
bool fk_pprof_looks(struct fk_str head, bool whole);
bool fk_folded_looks(struct fk_str head, bool whole);
bool fk_jfr_looks(struct fk_str head, bool whole);
bool fk_otlp_looks(struct fk_str head, bool whole);

int fk_jfr_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
int fk_pprof_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
int fk_folded_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
int fk_otlp_decode(const struct fk_decoding *d, struct fk_str bytes, struct fk_err *err);
int fk_pprof_encode(const struct fk_profile *p, const struct fk_encode_opts *opts,
                    struct fk_out out, struct fk_err *err);
int fk_speedscope_encode(const struct fk_profile *p, const struct fk_encode_opts *opts,
                         struct fk_out out, struct fk_err *err);
int fk_firefox_encode(const struct fk_profile *p, const struct fk_encode_opts *opts,
                      struct fk_out out, struct fk_err *err);
int fk_pgo_encode(const struct fk_profile *p, const struct fk_encode_opts *opts, struct fk_out out,
                  struct fk_err *err);
int fk_otlp_encode(const struct fk_profile *p, const struct fk_encode_opts *opts, struct fk_out out,
                   struct fk_err *err);
int fk_folded_encode(const struct fk_profile *p, const struct fk_encode_opts *opts,
                     struct fk_out out, struct fk_err *err);
// Fills the entry and gives both to the callback.
int fk_decoding_deliver(const struct fk_decoding *d, struct fk_profile *p, struct fk_err *err);
// The same with labels that the bytes give to this profile.
int fk_decoding_deliver_labelled(const struct fk_decoding *d, struct fk_profile *p,
                                 const struct fk_labels *labels, struct fk_err *err);
// The same; `events`: what the entry counts as its samples where rows have several observations.
int fk_decoding_deliver_events(const struct fk_decoding *d, struct fk_profile *p,
                               const struct fk_labels *labels, uint64_t events, struct fk_err *err);
int fk_decoding_nomem(const struct fk_decoding *d, struct fk_err *err);
// fk_format_detect on bytes that are not compressed.
int fk_format_look(struct fk_str bytes, enum fk_format *ret, struct fk_err *err);
// Of bytes that a decoder refused: 0, or the error that names what they are instead.
int fk_format_other(struct fk_str bytes, bool json, struct fk_err *err);

// Room for `need` elements in all: the old place when it suffices, else a copy of the first n in a
// place at least twice as large. NULL: no memory.
void *fk_arena_grow(struct fk_arena *a, void *old, size_t n, size_t *cap, size_t need, size_t size);

#endif
