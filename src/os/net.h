// SPDX-License-Identifier: Apache-2.0
// Stream sockets, all non-blocking and close-on-exec: TCP over IPv4 and IPv6, Unix.
//
// Reads and writes return enum fk_io (0 or more) or a negative error, so that "not now" is neither.
#ifndef FK_OS_NET_H
#define FK_OS_NET_H

#include "base/base.h"

struct fk_addr {
    uint64_t raw[16]; // struct sockaddr_storage
    uint32_t len;     // bytes of it in use
};

#define FK_ADDR_CHARS 128

enum fk_io {
    FK_IO_OK = 0,    // some bytes went (at least 1)
    FK_IO_AGAIN = 1, // would block: wait for the loop
    FK_IO_END = 2,   // the other side has ended its direction (reads only)
};

// "127.0.0.1:4040", "[::1]:4040", "localhost:4040" (127.0.0.1), ":4040" (all addresses, IPv6 and
// IPv4), "unix:/path". Without a port `port` is taken; 0: a port is required. Names other than
// localhost are not looked up: FK_E_INVALID.
int fk_addr_parse(struct fk_str text, uint16_t port, struct fk_addr *ret, struct fk_err *err);
// The same forms back.
void fk_addr_format(const struct fk_addr *a, char ret[FK_ADDR_CHARS]);
uint16_t fk_addr_port(const struct fk_addr *a); // 0 for Unix
// False, and nothing done, for Unix.
bool fk_addr_set_port(struct fk_addr *a, uint16_t port);
bool fk_addr_is_loopback(const struct fk_addr *a); // 127.0.0.0/8, ::1, Unix
// Looks a host name up (waits for the network: not on a loop's thread). At most max addresses, in
// the order in which they should be tried. FK_E_NOTFOUND.
int fk_addr_resolve(const char *host, uint16_t port, struct fk_addr *ret, size_t max, size_t *ret_n,
                    struct fk_err *err);

struct fk_listen_opts {
    int backlog;     // 0: 1024
    bool reuse_port; // several loops listen on one address
};
// Port 0 takes any free one; *ret_bound (may be NULL) is the address got. The caller closes
// *ret_fd.
int fk_net_listen(const struct fk_addr *a, const struct fk_listen_opts *opts, int *ret_fd,
                  struct fk_addr *ret_bound, struct fk_err *err);
// FK_IO_OK, FK_IO_AGAIN; FK_E_BUSY: no descriptors or memory left, accept again later. Connections
// that died in the queue are skipped. ret_peer may be NULL. TCP_NODELAY is on.
int fk_net_accept(int fd, int *ret_fd, struct fk_addr *ret_peer, struct fk_err *err);
// Begins to connect; when the socket is writable, fk_net_connected tells how it went.
int fk_net_connect(const struct fk_addr *a, int *ret_fd, struct fk_err *err);
int fk_net_connected(int fd, struct fk_err *err);

int fk_net_read(int fd, void *to, size_t n, size_t *ret_n, struct fk_err *err); // n > 0
int fk_net_write(int fd, const void *p, size_t n, size_t *ret_n, struct fk_err *err);
// The parts in order as far as they go (at most 64 a call).
int fk_net_writev(int fd, const struct fk_str *parts, size_t parts_n, size_t *ret_n,
                  struct fk_err *err);
// Waits for one descriptor without a loop (the CLI's client): bits of enum fk_ready; 0 at timeout.
int fk_net_wait(int fd, uint32_t want, int64_t timeout_ns, uint32_t *ret_ready, struct fk_err *err);
// Probes when idle so long; TCP. Set where it listens it holds for what is accepted there.
int fk_net_keepalive(int fd, int idle_s, struct fk_err *err);
// Bytes written that the other side has not acknowledged; 0 also when that cannot be told.
size_t fk_net_unsent(int fd);
void fk_net_end_writes(int fd); // the other side reads an end
void fk_net_close(int fd);      // negative is fine
// A connected pair of Unix sockets (tests, hand-over).
int fk_net_pair(int ret_fd[2], struct fk_err *err);

#endif
