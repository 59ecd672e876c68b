// SPDX-License-Identifier: Apache-2.0
// The room with the system calls: files, sockets, threads, clocks, signals. This is its public
// header: other rooms include "os/os.h" only; it gathers the small headers below.
#ifndef FK_OS_OS_H
#define FK_OS_OS_H

#include "os/clock.h"
#include "os/fs.h"
#include "os/loop.h"
#include "os/net.h"
#include "os/perf.h"
#include "os/pool.h"
#include "os/process.h"
#include "os/signal.h"
#include "os/simfs.h"
#include "os/thread.h"

#endif
