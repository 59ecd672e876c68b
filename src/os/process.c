// SPDX-License-Identifier: Apache-2.0
// Reading /proc/self, limits, control groups.
#include "os/process.h"

#include "os/clock.h"
#include "os/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// The beginning of a small file, NUL-terminated; bytes read, or -1.
static ssize_t slurp(const char *path, char *to, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t n = 0;
    ssize_t got;
    while (n < cap - 1 &&
           ((got = read(fd, to + n, cap - 1 - n)) > 0 || (got < 0 && errno == EINTR)))
        n += got > 0 ? (size_t)got : 0;
    close(fd);
    to[n] = '\0';
    return (ssize_t)n;
}

// The number behind "name:" at the beginning of a line.
static uint64_t field(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, n) == 0)
            return strtoull(line + n, NULL, 10);
    }
    return 0;
}

static uint64_t count_fds(void)
{
    uint64_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return 0;
    for (const struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n ? n - 1 : 0; // not the one of this listing
}

// Field 22 of /proc/self/stat: ticks between boot and start (proc(5)). The name in field 2 may hold
// blanks; it ends at the last ')'.
static int64_t start_time(void)
{
    char text[1024];
    struct timespec boot, wall;
    if (slurp("/proc/self/stat", text, sizeof(text)) <= 0)
        return 0;
    const char *at = strrchr(text, ')');
    for (int i = 2; at && i < 22; i++)
        at = strchr(at + 1, ' ');
    long hz = sysconf(_SC_CLK_TCK);
    if (!at || hz <= 0)
        return 0;
    int64_t ticks = strtoll(at + 1, NULL, 10);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    clock_gettime(CLOCK_REALTIME, &wall);
    int64_t up = boot.tv_sec * FK_NS_PER_S + boot.tv_nsec;
    int64_t since_start = up - ticks * (FK_NS_PER_S / hz);
    return wall.tv_sec * FK_NS_PER_S + wall.tv_nsec - since_start;
}

static int64_t tv_ns(struct timeval tv)
{
    return tv.tv_sec * FK_NS_PER_S + tv.tv_usec * FK_NS_PER_US;
}

int fk_process_facts(struct fk_process_facts *ret, struct fk_err *err)
{
    struct rusage use;
    struct rlimit fds;
    char status[8192];
    if (getrusage(RUSAGE_SELF, &use) || getrlimit(RLIMIT_NOFILE, &fds))
        return fk_fail_errno(err, errno, "cannot read the facts of this process");
    if (slurp("/proc/self/status", status, sizeof(status)) < 0)
        status[0] = '\0';
    *ret = (struct fk_process_facts){
        .resident_bytes = field(status, "VmRSS:") * 1024,
        .resident_anon_bytes = field(status, "RssAnon:") * 1024,
        .virtual_bytes = field(status, "VmSize:") * 1024,
        .user_ns = tv_ns(use.ru_utime),
        .system_ns = tv_ns(use.ru_stime),
        .open_fds = count_fds(),
        .max_fds = fds.rlim_cur,
        .threads = field(status, "Threads:"),
        .start_ns = start_time(),
    };
    return 0;
}

int fk_process_raise_fds(uint64_t want, uint64_t *ret_got, struct fk_err *err)
{
    struct rlimit fds;
    if (getrlimit(RLIMIT_NOFILE, &fds))
        return fk_fail_errno(err, errno, "cannot read the limit of open files");
    if (fds.rlim_cur < want) {
        fds.rlim_cur = FK_MIN((rlim_t)want, fds.rlim_max);
        if (setrlimit(RLIMIT_NOFILE, &fds))
            return fk_fail_errno(err, errno, "cannot raise the limit of open files");
    }
    if (ret_got)
        *ret_got = fds.rlim_cur;
    return 0;
}

// The limits of a control group and all those above it; the least goes to *least. path is changed.
static void group_limits(const char *mount, char *path, const char *file, uint64_t *least)
{
    char name[FK_PATH_MAX], text[64];
    for (;;) {
        int n = snprintf(name, sizeof(name), "%s%s/%s", mount, path, file);
        if (n > 0 && (size_t)n < sizeof(name) && slurp(name, text, sizeof(text)) > 0) {
            uint64_t limit = strtoull(text, NULL, 10); // "max" gives 0
            if (limit > 0 && limit < *least)
                *least = limit;
        }
        char *slash = strrchr(path, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

// Lines of /proc/self/cgroup (cgroups(7)): "0::/path" for version 2, "5:memory:/path" for
// version 1. Inside a container the path may be one that only the host has; the mount itself is
// looked at in any case.
static void each_group(char *text, uint64_t *least)
{
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *kinds = strchr(line, ':');
        char *path = kinds ? strchr(kinds + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        if (strcmp(kinds, ":") == 0)
            group_limits("/sys/fs/cgroup", path, "memory.max", least);
        else if (strcmp(kinds, ":memory") == 0)
            group_limits("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", least);
    }
}

int fk_process_memory(uint64_t *ret_bytes, struct fk_err *err)
{
    char text[8192];
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0)
        return fk_fail_errno(err, errno, "cannot tell how much memory there is");
    uint64_t bytes = (uint64_t)pages * (uint64_t)page;
    if (slurp("/proc/self/cgroup", text, sizeof(text)) > 0)
        each_group(text, &bytes);
    *ret_bytes = bytes;
    return 0;
}

void fk_host_name(char *to, size_t n)
{
    if (gethostname(to, n))
        to[0] = '\0';
    to[n - 1] = '\0'; // a cut name need not end
}

// Bytes of the process's own in memory when some were given back last, or fewer that were seen
// since.
static _Atomic uint64_t least_bytes;

// 0: it cannot be told.
static uint64_t own_bytes(void)
{
    char status[8192];
    return slurp("/proc/self/status", status, sizeof(status)) > 0 ? field(status, "RssAnon:") * 1024
                                                                  : 0;
}

void fk_process_keep_memory(void)
{
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
    mallopt(M_TOP_PAD, 1 << 20);
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    least_bytes = own_bytes();
}

void fk_process_give_memory_back(void)
{
    uint64_t bytes = own_bytes(), least = least_bytes;
    if (bytes && bytes < least)
        least_bytes = least = bytes;
    if (bytes && bytes - least < FK_PROCESS_MAY_KEEP)
        return;
    malloc_trim(0);
    least_bytes = own_bytes();
}
