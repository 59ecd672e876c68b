// SPDX-License-Identifier: Apache-2.0
// The toolbox without I/O. This is the room's public header: other rooms include "base/base.h"
// only; it gathers the small headers below, each of one subject.
//
// Conventions of the whole house:
//  - functions return 0 or a negative FK_E_*; on failure outputs are untouched and *err (last
//  parameter) says why;
//  - ret_x parameters are outputs; (pointer, length) stand in that order; int64_t times are
//  nanoseconds, names end in _ns;
//  - a structure with fk_x_free() owns its memory; views (struct fk_str) borrow it from whoever is
//  named in the comment.
#ifndef FK_BASE_H
#define FK_BASE_H

#include "base/arena.h"
#include "base/bits.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/id.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"
#include "base/vec.h"

#endif
