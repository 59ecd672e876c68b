// SPDX-License-Identifier: Apache-2.0
// Every limit of the product in one table: its name in the code, its flag, its default and what it
// bounds. Flags, `--help`, error texts and docs/operations.md are made from it.
#ifndef FK_BASE_LIMITS_H
#define FK_BASE_LIMITS_H

#include "base/err.h"

//  X(member, "--flag", default, unit, "what it bounds")          unit: bytes, count or ns
#define FK_LIMITS(X)                                                                               \
    X(push_body, "--limit-push-body", 64u << 20, bytes, "body of one push request as it arrives")  \
    X(push_decoded, "--limit-push-decoded", 64u << 20, bytes,                                      \
      "one pushed profile after decompression")                                                    \
    X(upload_body, "--limit-upload-body", 2048ull << 20, bytes,                                    \
      "body of one upload as it arrives and decompressed")                                         \
    X(push_rows, "--limit-push-rows", 1000000, count, "sample rows of one pushed profile")         \
    X(upload_rows, "--limit-upload-rows", 16000000, count, "sample rows of one uploaded profile")  \
    X(stack_depth, "--limit-stack-depth", 4096, count,                                             \
      "frames of one stack; deeper ones are cut and flagged")                                      \
    X(sample_types, "--limit-sample-types", 64, count, "sample types of one profile")              \
    X(labels, "--limit-labels", 64, count, "labels of one profile")                                \
    X(label_name, "--limit-label-name", 1024, bytes, "name of a label")                            \
    X(label_value, "--limit-label-value", 2048, bytes, "value of a label")                         \
    X(series_per_day, "--limit-series-per-day", 1000000, count, "series of one tenant and day")    \
    X(future, "--limit-future", 600000000000ll, ns,                                                \
      "how far ahead of the clock a pushed profile's time may be")                                 \
    X(decode_memory, "--limit-decode-memory", 1024u << 20, bytes,                                  \
      "memory that decoding one body may take")                                                    \
    X(query_memory, "--limit-query-memory", 4096ull << 20, bytes,                                  \
      "memory that one query may take")                                                            \
    X(adhoc_bytes, "--limit-adhoc", 1024u << 20, bytes,                                            \
      "ad hoc profiles of one tenant; the oldest go")                                              \
    X(debuginfo_file, "--limit-debuginfo-file", 1024u << 20, bytes,                                \
      "one symbol file of a program")                                                              \
    X(debuginfo_bytes, "--limit-debuginfo", 8192ull << 20, bytes,                                  \
      "symbol files of one tenant, from which on no more are asked for")

struct fk_limits {
#define FK_LIMIT_MEMBER(member, flag, value, unit, text) uint64_t member;
    FK_LIMITS(FK_LIMIT_MEMBER)
#undef FK_LIMIT_MEMBER
};

enum fk_limit_unit { FK_LIMIT_bytes, FK_LIMIT_count, FK_LIMIT_ns };

struct fk_limit_info {
    const char *name, *flag, *text;
    uint64_t value; // default
    enum fk_limit_unit unit;
    size_t offset; // of the member in struct fk_limits
};

extern const struct fk_limit_info fk_limit_table[];
extern const size_t fk_limit_count;

struct fk_limits fk_limits_default(void);
// The flag of a member, for error texts:  FK_LIMIT_FLAG(push_rows).
#define FK_LIMIT_FLAG(member) (fk_limit_flag(offsetof(struct fk_limits, member)))
const char *fk_limit_flag(size_t offset);

#endif
