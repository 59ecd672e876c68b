// SPDX-License-Identifier: Apache-2.0
// Signals through signalfd.
#include "os/signal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void ours(sigset_t *ret)
{
    sigemptyset(ret);
    sigaddset(ret, SIGTERM);
    sigaddset(ret, SIGINT);
    sigaddset(ret, SIGHUP);
    sigaddset(ret, SIGUSR1);
}

void fk_signals_block(void)
{
    sigset_t set;
    ours(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

bool fk_signal_is_hup(int signo)
{
    return signo == SIGHUP;
}

static void ready(void *arg, uint32_t bits)
{
    struct fk_signals *s = arg;
    struct signalfd_siginfo info;
    (void)bits;
    // One a turn: on() may close s; the loop comes back while there are more.
    if (read(s->io.fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        s->on(s->arg, (int)info.ssi_signo);
}

int fk_signals_open(struct fk_signals *s, struct fk_loop *loop, void (*on)(void *arg, int signo),
                    void *arg, struct fk_err *err)
{
    sigset_t set;
    ours(&set);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0)
        return fk_fail_errno(err, errno, "cannot receive signals");
    *s = (struct fk_signals){.loop = loop, .on = on, .arg = arg};
    s->io = (struct fk_loop_fd){.fd = fd, .on = ready, .arg = s};
    int r = fk_loop_add(loop, &s->io, FK_READY_IN, err);
    if (r)
        close(fd);
    return r;
}

void fk_signals_close(struct fk_signals *s)
{
    fk_loop_del(s->loop, &s->io);
    close(s->io.fd);
}
