// SPDX-License-Identifier: Apache-2.0
// Signals as events of a loop (signalfd), so that no code runs inside a handler.
#ifndef FK_OS_SIGNAL_H
#define FK_OS_SIGNAL_H

#include "os/loop.h"

// Blocks SIGTERM, SIGINT, SIGHUP and SIGUSR1 in this thread and those it starts, and ignores
// SIGPIPE. First thing in main, before any thread.
void fk_signals_block(void);

bool fk_signal_is_hup(int signo); // SIGHUP: read again what may have changed

struct fk_signals {
    struct fk_loop_fd io;
    struct fk_loop *loop;
    void (*on)(void *arg, int signo);
    void *arg;
};

// Tells on() of the blocked signals, in the loop's thread. s stays in place until fk_signals_close.
int fk_signals_open(struct fk_signals *s, struct fk_loop *loop, void (*on)(void *arg, int signo),
                    void *arg, struct fk_err *err);
void fk_signals_close(struct fk_signals *s);

#endif
