// SPDX-License-Identifier: Apache-2.0
// For formats that are written with named frames and by thread: numbered frames of a profile's
// locations, and its observations by thread and time.
#ifndef FK_FORMATS_NAMED_INT_H
#define FK_FORMATS_NAMED_INT_H

#include "formats/formats_int.h"

// ---- frames

struct fk_named_frame {
    struct fk_str name; // as every view displays it; of a location without function "lib!0x1f"
    struct fk_str file, module;
    int64_t line, column, start_line;
    uint64_t address; // relative to the mapping's file; only where there is no function
    bool symbolized;
};

struct fk_named_frames {
    const struct fk_profile *p;
    struct fk_arena arena; // of the texts made here
    uint32_t *begin;       // per location: its frames in `number`, FK_NONE: not asked yet
    FK_VEC(uint32_t) number;
    FK_VEC(struct fk_named_frame) v;
    struct fk_map index;
    // Calls from several lines of one function are one frame, at the line where it starts (where
    // that is known).
    bool by_start;
};

int fk_named_frames_begin(struct fk_named_frames *f, const struct fk_profile *p);
void fk_named_frames_end(struct fk_named_frames *f);
// Numbers of a location's frames, the innermost first; *ret until the next call. -FK_E_NOMEM.
int fk_named_frames_of(struct fk_named_frames *f, uint32_t location, const uint32_t **ret,
                       uint32_t *ret_n);

// ---- threads

struct fk_lane_obs {
    int64_t time_ns; // FK_NO_TIME: none
    uint64_t row, obs;
};

// Who ran: "" where the samples do not say. Equal in all three is one lane.
struct fk_lane_who {
    struct fk_str name, pid, tid;
};

struct fk_lanes {
    const struct fk_profile *p;
    struct fk_arena arena;
    FK_VEC(struct fk_lane_who) who;
    uint32_t *of_set;
    struct fk_lane_obs *v; // by lane, then time where there is one, then as in the profile
    size_t *begin;         // who.n + 1
};

// Without times all is one lane.
int fk_lanes_make(struct fk_lanes *l, const struct fk_profile *p);
void fk_lanes_free(struct fk_lanes *l);

#endif
