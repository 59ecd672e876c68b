// SPDX-License-Identifier: Apache-2.0
// Socket addresses as texts.
#include "os/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

static_assert(sizeof(struct sockaddr_storage) <= sizeof(((struct fk_addr *)0)->raw),
              "fk_addr must hold any socket address");

static void set(struct fk_addr *a, const void *sa, size_t n)
{
    *a = (struct fk_addr){.len = (uint32_t)n};
    memcpy(a->raw, sa, n);
}

static int bad(struct fk_str text, struct fk_err *err)
{
    return fk_fail_param(err, "address",
                         "'%.*s' is not an address: write 127.0.0.1:4040, [::1]:4040, :4040 or "
                         "unix:/path",
                         (int)FK_MIN(text.n, (size_t)100), text.p ? text.p : "");
}

static int parse_unix(struct fk_str text, struct fk_addr *ret, struct fk_err *err)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct fk_str path = fk_str_from(text, 5);
    if (path.n == 0 || path.n >= sizeof(un.sun_path) || memchr(path.p, 0, path.n))
        return fk_fail_param(err, "address", "the path of a Unix socket has 1 to %zu bytes",
                             sizeof(un.sun_path) - 1);
    memcpy(un.sun_path, path.p, path.n);
    set(ret, &un, offsetof(struct sockaddr_un, sun_path) + path.n + 1);
    return 0;
}

// Cuts the text into host and port. An IPv6 address stands in brackets.
static bool cut(struct fk_str text, struct fk_str *ret_host, bool *ret_v6, struct fk_str *ret_port)
{
    struct fk_str rest;
    *ret_v6 = text.n > 0 && text.p[0] == '[';
    if (*ret_v6) {
        ptrdiff_t end = fk_str_chr(text, ']');
        if (end < 0)
            return false;
        *ret_host = fk_str_from(fk_str_head(text, (size_t)end), 1);
        rest = fk_str_from(text, (size_t)end + 1);
    } else {
        ptrdiff_t colon = fk_str_chr(text, ':');
        size_t n = colon < 0 ? text.n : (size_t)colon;
        *ret_host = fk_str_head(text, n);
        rest = fk_str_from(text, n);
    }
    if (rest.n && rest.p[0] != ':')
        return false;
    *ret_port = fk_str_from(rest, 1);
    return rest.n != 1; // "host:" has no port
}

static bool set_v6(struct fk_str host, uint16_t port, struct fk_addr *ret)
{
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    char text[INET6_ADDRSTRLEN];
    if (host.n >= sizeof(text))
        return false;
    memcpy(text, host.p, host.n);
    text[host.n] = '\0';
    if (host.n && inet_pton(AF_INET6, text, &in6.sin6_addr) != 1)
        return false;
    set(ret, &in6, sizeof(in6));
    return true;
}

static bool set_v4(struct fk_str host, uint16_t port, struct fk_addr *ret)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
    char text[INET_ADDRSTRLEN];
    if (fk_str_eq_nocase(host, FK_S("localhost")))
        host = FK_S("127.0.0.1");
    if (host.n >= sizeof(text))
        return false;
    memcpy(text, host.p, host.n);
    text[host.n] = '\0';
    if (inet_pton(AF_INET, text, &in.sin_addr) != 1)
        return false;
    set(ret, &in, sizeof(in));
    return true;
}

int fk_addr_parse(struct fk_str text, uint16_t port, struct fk_addr *ret, struct fk_err *err)
{
    struct fk_str host, port_text;
    bool v6;
    uint64_t number = port;
    if (fk_str_starts(text, FK_S("unix:")))
        return parse_unix(text, ret, err);
    if (!cut(text, &host, &v6, &port_text) || (v6 && host.n == 0) || text.n == 0)
        return bad(text, err);
    if (port_text.n == 0 && port == 0)
        return fk_fail_param(err, "address", "'%.*s' has no port: write %.*s:4040",
                             (int)FK_MIN(text.n, (size_t)100), text.p,
                             (int)FK_MIN(text.n, (size_t)100), text.p);
    if (port_text.n && (fk_str_to_u64(port_text, &number) || number > UINT16_MAX))
        return bad(text, err);
    bool good = v6 || host.n == 0 ? set_v6(host, (uint16_t)number, ret)
                                  : set_v4(host, (uint16_t)number, ret);
    return good ? 0 : bad(text, err);
}

static int family(const struct fk_addr *a)
{
    sa_family_t f;
    memcpy(&f, a->raw, sizeof(f));
    return a->len ? f : AF_UNSPEC;
}

static void format_v6(const struct fk_addr *a, char ret[FK_ADDR_CHARS])
{
    struct sockaddr_in6 in6;
    char text[INET6_ADDRSTRLEN] = "?";
    memcpy(&in6, a->raw, sizeof(in6));
    unsigned port = ntohs(in6.sin6_port);
    if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) { // an IPv4 peer of a dual-stack socket
        inet_ntop(AF_INET, in6.sin6_addr.s6_addr + 12, text, sizeof(text));
        snprintf(ret, FK_ADDR_CHARS, "%s:%u", text, port);
        return;
    }
    inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof(text));
    snprintf(ret, FK_ADDR_CHARS, "[%s]:%u", text, port);
}

void fk_addr_format(const struct fk_addr *a, char ret[FK_ADDR_CHARS])
{
    struct sockaddr_in in;
    struct sockaddr_un un = {0};
    char text[INET_ADDRSTRLEN] = "?";
    switch (family(a)) {
    case AF_INET:
        memcpy(&in, a->raw, sizeof(in));
        inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
        snprintf(ret, FK_ADDR_CHARS, "%s:%u", text, (unsigned)ntohs(in.sin_port));
        break;
    case AF_INET6:
        format_v6(a, ret);
        break;
    case AF_UNIX:
        memcpy(&un, a->raw, FK_MIN((size_t)a->len, sizeof(un)));
        snprintf(ret, FK_ADDR_CHARS, "unix:%.107s", un.sun_path);
        break;
    default:
        snprintf(ret, FK_ADDR_CHARS, "?");
    }
}

uint16_t fk_addr_port(const struct fk_addr *a)
{
    struct sockaddr_in in; // the port lies at the same place in both families
    if (family(a) != AF_INET && family(a) != AF_INET6)
        return 0;
    memcpy(&in, a->raw, sizeof(in));
    return ntohs(in.sin_port);
}

bool fk_addr_set_port(struct fk_addr *a, uint16_t port)
{
    struct sockaddr_in in;
    if (family(a) != AF_INET && family(a) != AF_INET6)
        return false;
    memcpy(&in, a->raw, sizeof(in));
    in.sin_port = htons(port);
    memcpy(a->raw, &in, sizeof(in));
    return true;
}

bool fk_addr_is_loopback(const struct fk_addr *a)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    switch (family(a)) {
    case AF_INET:
        memcpy(&in, a->raw, sizeof(in));
        return ntohl(in.sin_addr.s_addr) >> 24 == 127;
    case AF_INET6:
        memcpy(&in6, a->raw, sizeof(in6));
        return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr) ||
               (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr) && in6.sin6_addr.s6_addr[12] == 127);
    default:
        return family(a) == AF_UNIX;
    }
}

int fk_addr_resolve(const char *host, uint16_t port, struct fk_addr *ret, size_t max, size_t *ret_n,
                    struct fk_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    char service[8];
    snprintf(service, sizeof(service), "%u", (unsigned)port);
    int r = getaddrinfo(host, service, &hints, &list);
    if (r == EAI_SYSTEM)
        return fk_fail_errno(err, errno, "cannot look up host %.200s", host);
    if (r)
        return fk_fail(err, r == EAI_MEMORY ? FK_E_NOMEM : FK_E_NOTFOUND,
                       "cannot look up host %.200s: %s", host, gai_strerror(r));
    size_t n = 0;
    for (const struct addrinfo *i = list; i && n < max; i = i->ai_next)
        if (i->ai_family == AF_INET || i->ai_family == AF_INET6)
            set(&ret[n++], i->ai_addr, i->ai_addrlen);
    freeaddrinfo(list);
    *ret_n = n;
    return n ? 0 : fk_fail(err, FK_E_NOTFOUND, "host %.200s has no usable address", host);
}
