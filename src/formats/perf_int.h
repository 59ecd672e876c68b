// SPDX-License-Identifier: Apache-2.0
// `perf script` text: its two kinds of lines. Pure; views into the line.
#ifndef FK_FORMATS_PERF_INT_H
#define FK_FORMATS_PERF_INT_H

#include "formats/stacks_int.h"

// "comm pid/tid [cpu] seconds.micros: period event: rest"; everything between the pid and the event
// may be missing, and the command may have blanks.
struct perf_header {
    struct fk_str comm, event, rest;
    int64_t pid, tid; // -1: not there
    int64_t cpu;
    int64_t time_ns; // FK_NO_TIME: not there
    uint64_t period;
    bool has_period;
};
bool fk_perf_header(struct fk_str line, struct perf_header *ret);

// "address symbol+0xoffset (object)"; the object may be missing. A symbol that perf does not know
// is empty, and so is an object.
struct perf_frame {
    uint64_t address;
    struct fk_str symbol, object;
    bool has_object;
};
bool fk_perf_frame(struct fk_str line, struct perf_frame *ret);
// "  file.c:12", as -F +srcline puts it below a frame.
bool fk_perf_srcline(struct fk_str line, struct fk_str *ret_file, int64_t *ret_line);
// Whether the line has a word "12.345678:", as headers do that are indented.
bool fk_perf_has_time(struct fk_str line);

#endif
