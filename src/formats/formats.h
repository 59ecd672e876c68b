// SPDX-License-Identifier: Apache-2.0
// Profiles from bytes and to bytes. No I/O: decoders take bytes, limits and an arena; encoders
// write to an out. Every decoder makes struct fk_profile, every encoder reads it.
#ifndef FK_FORMATS_H
#define FK_FORMATS_H

#include "codec/codec.h"
#include "model/model.h"
#include "model/tree.h"

// What each is, and whether it is read and written: registry.c.
enum fk_format {
    FK_FORMAT_UNKNOWN, // for fk_decode: find out
    FK_FORMAT_PPROF,   // google/pprof proto/profile.proto, raw or compressed
    FK_FORMAT_FOLDED,  // "frame;frame;leaf count" lines (Brendan Gregg's FlameGraph)
    FK_FORMAT_JFR,     // JDK Flight Recorder, 0.9 to 2.1
    FK_FORMAT_OTLP,    // OpenTelemetry profiles, ExportProfilesServiceRequest
    FK_FORMAT_LINES,   // Pyroscope: one stack a line, each counting 1
    FK_FORMAT_TRIE,    // Pyroscope: prefix tree of stacks, binary
    FK_FORMAT_TREE,    // Pyroscope: call tree, binary
    FK_FORMAT_PERF_SCRIPT,
    FK_FORMAT_GPERFTOOLS,  // legacy CPU profile, words of 32 or 64 bits, either byte order
    FK_FORMAT_LEGACY_TEXT, // heap, growth, contention, threads; Go with debug=1 and 2
    FK_FORMAT_JEMALLOC,
    FK_FORMAT_SPEEDSCOPE,
    FK_FORMAT_CPUPROFILE,  // V8: .cpuprofile
    FK_FORMAT_HEAPPROFILE, // V8: .heapprofile
    FK_FORMAT_CHROME_TRACE,
    FK_FORMAT_FIREFOX,
    FK_FORMAT_FLAMEBEARER,
    FK_FORMAT_STACKPROF,
    FK_FORMAT_BPFTRACE,
    FK_FORMAT_DTRACE,
    FK_FORMAT_MACOS_SAMPLE,
    FK_FORMAT_INSTRUMENTS, // deep copy
    FK_FORMAT_SIMPLEPERF,  // report-sample protobuf
    FK_FORMAT_CALLGRIND,
    FK_FORMAT_PGO, // written only: a pprof of what `go build -pgo` reads of one
    FK_FORMAT_COUNT
};
const char *fk_format_name(enum fk_format f); // "pprof", "perf-script", ..., "unknown"
bool fk_format_is_read(enum fk_format f);     // fk_decode takes it
bool fk_format_is_written(enum fk_format f);  // fk_encode makes it
int fk_format_parse(struct fk_str name, enum fk_format *ret, struct fk_err *err);
// What the bytes are, compressed or not. Things that are no profile (HTML, a Go execution trace,
// JSON ...) and formats that are not read yet are refused by their own name: FK_E_FORMAT or
// FK_E_UNSUPPORTED.
int fk_format_detect(struct fk_str bytes, enum fk_format *ret, struct fk_err *err);

// ---- report: what was stored, dropped, and why. Becomes the receipt.
#define FK_REPORT_ITEMS 24

struct fk_report_item {
    const char *reason; // static, one phrase: the same text is one item
    bool dropped;       // else a warning: nothing is missing
    uint64_t count;
    char detail[120]; // of the first occurrence, "" none
};

struct fk_report {
    enum fk_format format;
    uint64_t profiles, rows; // given to the callback
    uint32_t n;
    struct fk_report_item item[FK_REPORT_ITEMS]; // reasons beyond the last are counted in it
};

// Adds to the item of this reason. report may be NULL.
void fk_report_drop(struct fk_report *r, const char *reason, uint64_t count, const char *fmt, ...)
    FK_PRINTF(4, 5);
void fk_report_warn(struct fk_report *r, const char *reason, uint64_t count, const char *fmt, ...)
    FK_PRINTF(4, 5);
uint64_t fk_report_dropped(const struct fk_report *r); // sum over dropped items

// ---- decoding
struct fk_decode_opts {
    const struct fk_limits *limits; // depth, sample types
    struct fk_size_limit size;      // of what is decompressed
    uint64_t max_rows;
    const char *rows_flag; // the flag that sets it
    bool is_delta;         // the client said __delta__ other than false
    // Text formats only. sample_rate per second, 0: unknown. With it the period is known, and a
    // second column time_type/nanoseconds = count x period is added (api.md "One addition").
    uint64_t sample_rate;
    struct fk_str type, unit; // of the column; empty: samples/count
    struct fk_str time_type;  // of the added column; empty: cpu
    // JFR only. Pyroscope's LabelsSnapshot that came beside it, compressed or not; empty: none.
    // sample_rate, where given, is that of its execution and wall clock samples.
    struct fk_str jfr_labels;
};
struct fk_decode_opts fk_decode_opts_push(const struct fk_limits *l);
struct fk_decode_opts fk_decode_opts_upload(const struct fk_limits *l);

// Called for each profile. entry: times as the file says (0 unknown), types with totals, samples,
// flags, and the labels that the bytes give to this profile (mostly none; fk_accept joins them with
// those of the request); id, received and size are the caller's to fill. Both live in the arena,
// and their strings may point into the input. (A JFR of millions of events comes in parts; all but
// the last are gone once the callback returns.)
struct fk_each_profile {
    int (*on)(void *arg, struct fk_entry *entry, struct fk_profile *profile, struct fk_err *err);
    void *arg;
};

// bytes: compressed or not; must outlive the arena's contents. report is added to. A profile
// without samples is a profile.
int fk_decode(enum fk_format format, struct fk_str bytes, const struct fk_decode_opts *opts,
              struct fk_arena *arena, struct fk_each_profile each, struct fk_report *report,
              struct fk_err *err);
// Fills an entry from a profile: types, totals, samples, times, flags; the rest zero. Arena memory.
int fk_entry_of_profile(const struct fk_profile *p, struct fk_arena *arena, struct fk_entry *ret,
                        struct fk_err *err);

// ---- encoding
struct fk_encode_opts {
    int gzip_level;                 // pprof, pgo: 0 raw, 1..12 gzip
    uint32_t type;                  // folded, firefox: which value column; speedscope: FK_NONE: all
    const struct fk_labels *labels; // otlp: become attributes of the resource; NULL: none
    struct fk_str title;            // speedscope, firefox: what the profile is called
};

// The profile must be valid (fk_profile_validate). pprof: only what rows reach is written, and all
// placements; equal input gives equal bytes. folded: displayed names, merged, sorted; stacks
// without frames have no line. FK_E_UNSUPPORTED says what the format needs and the profile lacks.
int fk_encode(enum fk_format format, const struct fk_profile *p, const struct fk_encode_opts *opts,
              struct fk_out out, struct fk_err *err);
// A function tree as folded text: one line for each node with own weight; what max_nodes cut away
// under a node is a line "other" (before those of its children). ';' in names becomes ':', line
// ends and NUL become '_'.
int fk_folded_tree(const struct fk_tree_view *v, uint32_t column, struct fk_out out,
                   struct fk_err *err);

#endif
