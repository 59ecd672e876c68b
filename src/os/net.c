// SPDX-License-Identifier: Apache-2.0
// Sockets.
#include "os/net.h"

#include "os/loop.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static const struct sockaddr *sa_of(const struct fk_addr *a)
{
    return (const struct sockaddr *)(const void *)a->raw;
}

static int new_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static void set_int(int fd, int level, int name, int value)
{
    setsockopt(fd, level, name, &value, sizeof(value));
}

static int fail_addr(struct fk_err *err, int sys, const char *what, const struct fk_addr *a)
{
    char text[FK_ADDR_CHARS];
    fk_addr_format(a, text);
    return fk_fail_errno(err, sys, "cannot %s %s", what, text);
}

static bool is_any_v6(const struct fk_addr *a)
{
    struct sockaddr_in6 in6;
    memcpy(&in6, a->raw, sizeof(in6));
    return in6.sin6_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&in6.sin6_addr);
}

// A Unix socket that nobody listens on any more is in the way of bind.
static void remove_stale(const struct fk_addr *a)
{
    struct sockaddr_un un = {0};
    struct stat st;
    memcpy(&un, a->raw, FK_MIN((size_t)a->len, sizeof(un)));
    if (lstat(un.sun_path, &st) || !S_ISSOCK(st.st_mode))
        return;
    int fd = new_socket(AF_UNIX);
    if (fd >= 0 && connect(fd, sa_of(a), a->len) && errno == ECONNREFUSED)
        unlink(un.sun_path);
    fk_net_close(fd);
}

static int bind_and_listen(int fd, const struct fk_addr *a, const struct fk_listen_opts *o)
{
    int family = sa_of(a)->sa_family;
    if (family == AF_UNIX)
        remove_stale(a);
    else
        set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (family == AF_INET6)
        set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, !is_any_v6(a));
    if (o->reuse_port)
        set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    if (bind(fd, sa_of(a), a->len))
        return errno;
    return listen(fd, o->backlog ? o->backlog : 1024) ? errno : 0;
}

// "All addresses" on a machine without IPv6.
static bool fall_back(const struct fk_addr *a, int sys, struct fk_addr *ret)
{
    if (!is_any_v6(a) || (sys != EAFNOSUPPORT && sys != EADDRNOTAVAIL))
        return false;
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(fk_addr_port(a))};
    *ret = (struct fk_addr){.len = sizeof(in)};
    memcpy(ret->raw, &in, sizeof(in));
    return true;
}

int fk_net_listen(const struct fk_addr *a, const struct fk_listen_opts *opts, int *ret_fd,
                  struct fk_addr *ret_bound, struct fk_err *err)
{
    struct fk_addr v4, bound = {.len = sizeof(bound.raw)};
    int fd = new_socket(sa_of(a)->sa_family);
    int sys = fd < 0 ? errno : bind_and_listen(fd, a, opts);
    socklen_t len = bound.len;
    if (sys == 0 && getsockname(fd, (struct sockaddr *)(void *)bound.raw, &len))
        sys = errno;
    if (sys) {
        fk_net_close(fd);
        if (fall_back(a, sys, &v4))
            return fk_net_listen(&v4, opts, ret_fd, ret_bound, err);
        return fail_addr(err, sys, "listen on", a);
    }
    bound.len = (uint32_t)len;
    *ret_fd = fd;
    if (ret_bound)
        *ret_bound = bound;
    return 0;
}

// Network errors of a connection that died while it waited (accept(2), "Error handling").
static bool is_dead_peer(int sys)
{
    return sys == EINTR || sys == ECONNABORTED || sys == ENETDOWN || sys == EPROTO ||
           sys == ENOPROTOOPT || sys == EHOSTDOWN || sys == ENONET || sys == EHOSTUNREACH ||
           sys == ENETUNREACH || sys == EPERM;
}

int fk_net_accept(int fd, int *ret_fd, struct fk_addr *ret_peer, struct fk_err *err)
{
    struct fk_addr peer = {0};
    socklen_t len;
    int conn;
    do {
        len = sizeof(peer.raw);
        conn = accept4(fd, (struct sockaddr *)(void *)peer.raw, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (conn < 0 && is_dead_peer(errno));
    if (conn < 0 && (errno == EAGAIN))
        return FK_IO_AGAIN;
    if (conn < 0) {
        int r = fk_fail_errno(err, errno, "cannot accept a connection");
        if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
            return r;
        if (err)
            err->code = FK_E_BUSY;
        return -FK_E_BUSY;
    }
    peer.len = (uint32_t)len;
    set_int(conn, IPPROTO_TCP, TCP_NODELAY, 1); // fails on Unix sockets, which need none
    *ret_fd = conn;
    if (ret_peer)
        *ret_peer = peer;
    return FK_IO_OK;
}

int fk_net_connect(const struct fk_addr *a, int *ret_fd, struct fk_err *err)
{
    int fd = new_socket(sa_of(a)->sa_family);
    if (fd < 0)
        return fail_addr(err, errno, "connect to", a);
    set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    if (connect(fd, sa_of(a), a->len) && errno != EINPROGRESS && errno != EINTR) {
        int sys = errno;
        close(fd);
        return fail_addr(err, sys, "connect to", a);
    }
    *ret_fd = fd;
    return 0;
}

int fk_net_connected(int fd, struct fk_err *err)
{
    int sys = 0;
    socklen_t len = sizeof(sys);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &sys, &len))
        sys = errno;
    return sys ? fk_fail_errno(err, sys, "cannot connect") : 0;
}

// Ends a read or write: the bytes that went, or why none did.
static int io_result(ssize_t n, const char *what, size_t *ret_n, struct fk_err *err)
{
    if (n >= 0) {
        *ret_n = (size_t)n;
        return FK_IO_OK;
    }
    if (errno == EAGAIN)
        return FK_IO_AGAIN;
    return fk_fail_errno(err, errno, "cannot %s the connection", what);
}

int fk_net_read(int fd, void *to, size_t n, size_t *ret_n, struct fk_err *err)
{
    ssize_t got;
    do
        got = recv(fd, to, n, 0);
    while (got < 0 && errno == EINTR);
    return got == 0 ? FK_IO_END : io_result(got, "read from", ret_n, err);
}

int fk_net_write(int fd, const void *p, size_t n, size_t *ret_n, struct fk_err *err)
{
    struct fk_str part = fk_str_make(p, n);
    return fk_net_writev(fd, &part, 1, ret_n, err);
}

int fk_net_writev(int fd, const struct fk_str *parts, size_t parts_n, size_t *ret_n,
                  struct fk_err *err)
{
    struct iovec io[64];
    struct msghdr msg = {.msg_iov = io, .msg_iovlen = FK_MIN(parts_n, FK_COUNTOF(io))};
    for (size_t i = 0; i < msg.msg_iovlen; i++) {
        union {
            const void *in;
            void *out;
        } p = {.in = parts[i].p}; // the kernel only reads
        io[i] = (struct iovec){p.out, parts[i].n};
    }
    ssize_t put;
    do
        put = sendmsg(fd, &msg, MSG_NOSIGNAL);
    while (put < 0 && errno == EINTR);
    return io_result(put, "write to", ret_n, err);
}

int fk_net_wait(int fd, uint32_t want, int64_t timeout_ns, uint32_t *ret_ready, struct fk_err *err)
{
    struct pollfd p = {.fd = fd};
    p.events = (short)((want & FK_READY_IN ? POLLIN : 0) | (want & FK_READY_OUT ? POLLOUT : 0));
    timeout_ns = FK_MAX(timeout_ns, (int64_t)0);
    struct timespec ts = {timeout_ns / FK_NS_PER_S, timeout_ns % FK_NS_PER_S};
    int n = ppoll(&p, 1, &ts, NULL);
    if (n < 0 && errno != EINTR)
        return fk_fail_errno(err, errno, "cannot wait for the connection");
    short got = n > 0 ? p.revents : 0;
    *ret_ready = (got & POLLIN ? (uint32_t)FK_READY_IN : 0) |
                 (got & POLLOUT ? (uint32_t)FK_READY_OUT : 0) |
                 (got & POLLHUP ? (uint32_t)FK_READY_HUP : 0) |
                 (got & (POLLERR | POLLNVAL) ? (uint32_t)FK_READY_ERR : 0);
    return 0;
}

int fk_net_keepalive(int fd, int idle_s, struct fk_err *err)
{
    int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) ||
        (setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s)) && errno != EOPNOTSUPP))
        return fk_fail_errno(err, errno, "cannot set keep-alive");
    return 0;
}

size_t fk_net_unsent(int fd)
{
    int n = 0;
    return ioctl(fd, TIOCOUTQ, &n) == 0 && n > 0 ? (size_t)n : 0;
}

void fk_net_end_writes(int fd)
{
    shutdown(fd, SHUT_WR);
}

void fk_net_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

int fk_net_pair(int ret_fd[2], struct fk_err *err)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ret_fd))
        return fk_fail_errno(err, errno, "cannot make a pair of sockets");
    return 0;
}
