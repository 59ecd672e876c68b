// SPDX-License-Identifier: Apache-2.0
// One inherited event and one ring a processor (perf_event_open(2): inheritance and mmap go
// together only with a fixed processor).
#include "os/cpu_timer_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES 32 // data pages, a power of two: 128 KiB a processor
#define MAX_DEPTH  127

struct ring {
    int fd;
    struct perf_event_mmap_page *page;
    const uint8_t *data;
    size_t size;
};

struct fk_perf {
    struct ring *ring;
    size_t n;
    bool kernel;
    size_t page_size;
    uint8_t record[65536];      // one that wraps around the ring's end
    struct fk_cpu_timer *timer; // instead of all that
};

static int open_event(int cpu, uint32_t hz, bool kernel)
{
    struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
                                .size = sizeof(a),
                                .config = PERF_COUNT_SW_CPU_CLOCK,
                                .sample_freq = hz,
                                .sample_type =
                                    PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
                                .freq = 1,
                                .inherit = 1,
                                .exclude_hv = 1,
                                .exclude_kernel = !kernel,
                                .exclude_callchain_kernel = !kernel,
                                .use_clockid = 1,
                                .clockid = CLOCK_REALTIME,
                                .sample_max_stack = MAX_DEPTH};
    return (int)syscall(SYS_perf_event_open, &a, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int map_ring(struct fk_perf *p, struct ring *r, struct fk_err *err)
{
    size_t bytes = (RING_PAGES + 1) * p->page_size;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
    if (map == MAP_FAILED)
        return fk_fail_errno(err, errno, "sampling buffer");
    r->page = map;
    r->data = (const uint8_t *)map + p->page_size;
    r->size = RING_PAGES * p->page_size;
    return 0;
}

static int open_rings(struct fk_perf *p, uint32_t hz, struct fk_err *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    p->ring = fk_calloc((size_t)FK_MAX(cpus, 1L), sizeof(*p->ring));
    if (!p->ring)
        return fk_fail_nomem(err);
    for (int cpu = 0; cpu < cpus; cpu++) {
        struct ring *r = &p->ring[p->n];
        r->fd = open_event(cpu, hz, p->kernel);
        if (r->fd < 0 && errno == ENODEV) // a processor that is switched off
            continue;
        if (r->fd < 0 && p->kernel && p->n == 0) {
            p->kernel = false; // not permitted: user frames alone
            r->fd = open_event(cpu, hz, false);
        }
        if (r->fd < 0)
            return fk_fail(
                err, FK_E_UNSUPPORTED,
                "the system does not let programs sample themselves (perf_event_open: error %d; "
                "kernel.perf_event_paranoid above 2, or a container without it)",
                errno);
        p->n++;
        int code = map_ring(p, r, err);
        if (code)
            return code;
    }
    return 0;
}

int fk_perf_open_self(uint32_t hz, struct fk_perf **ret, struct fk_err *err)
{
    struct fk_perf *p = fk_calloc(1, sizeof(*p));
    if (!p)
        return fk_fail_nomem(err);
    p->kernel = true;
    p->page_size = (size_t)sysconf(_SC_PAGESIZE);
    int r = open_rings(p, hz, err);
    if (r) {
        fk_perf_close(p);
        return r;
    }
    *ret = p;
    return 0;
}

int fk_perf_open_timer(uint32_t hz, struct fk_perf **ret, struct fk_err *err)
{
    struct fk_perf *p = fk_calloc(1, sizeof(*p));
    if (!p)
        return fk_fail_nomem(err);
    int r = fk_cpu_timer_open(hz, &p->timer, err);
    if (r) {
        fk_free(p);
        return r;
    }
    *ret = p;
    return 0;
}

void fk_perf_close(struct fk_perf *p)
{
    if (!p)
        return;
    fk_cpu_timer_close(p->timer);
    for (size_t i = 0; i < p->n; i++) {
        if (p->ring[i].page)
            munmap(p->ring[i].page, (RING_PAGES + 1) * p->page_size);
        close(p->ring[i].fd);
    }
    fk_free(p->ring);
    fk_free(p);
}

bool fk_perf_has_kernel(const struct fk_perf *p)
{
    return p->kernel;
}

// ---- draining ----

// Layout after the header, for our sample_type: u32 pid, tid; u64 time; u64 nr; u64 ips[nr].
static int give_sample(const uint8_t *p, size_t n,
                       int (*on)(void *arg, const struct fk_perf_sample *s, struct fk_err *err),
                       void *arg, struct fk_err *err)
{
    uint64_t frame[MAX_DEPTH + 8];
    struct fk_perf_sample s = {.frame = frame};
    if (n < 24)
        return 0;
    uint64_t count = fk_load64(p + 16);
    bool in_kernel = false;
    s.tid = fk_load32(p + 4);
    s.time_ns = (int64_t)fk_load64(p + 8);
    if (count > (n - 24) / 8)
        return 0;
    for (uint64_t i = 0; i < count && s.n < FK_COUNTOF(frame); i++) {
        uint64_t ip = fk_load64(p + 24 + i * 8);
        if (ip >= (uint64_t)PERF_CONTEXT_MAX) { // a mark: what follows is kernel or user
            in_kernel = ip == (uint64_t)PERF_CONTEXT_KERNEL;
            continue;
        }
        s.n_kernel += in_kernel;
        frame[s.n++] = ip;
    }
    return on(arg, &s, err);
}

static const uint8_t *record_at(struct fk_perf *p, const struct ring *r, uint64_t tail, size_t n)
{
    size_t at = tail % r->size;
    if (at + n <= r->size)
        return r->data + at;
    memcpy(p->record, r->data + at, r->size - at);
    memcpy(p->record + (r->size - at), r->data, n - (r->size - at));
    return p->record;
}

static int drain_ring(struct fk_perf *p, struct ring *r,
                      int (*on)(void *arg, const struct fk_perf_sample *s, struct fk_err *err),
                      void *arg, uint64_t *ret_lost, struct fk_err *err)
{
    uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE),
             tail = r->page->data_tail;
    int code = 0;
    while (code == 0 && head - tail >= sizeof(struct perf_event_header)) {
        struct perf_event_header h;
        memcpy(&h, record_at(p, r, tail, sizeof(h)), sizeof(h));
        if (h.size < sizeof(h) || h.size > head - tail)
            break;
        const uint8_t *record = record_at(p, r, tail, h.size);
        if (h.type == PERF_RECORD_SAMPLE)
            code = give_sample(record + sizeof(h), h.size - sizeof(h), on, arg, err);
        else if (h.type == PERF_RECORD_LOST && ret_lost && h.size >= sizeof(h) + 16)
            *ret_lost += fk_load64(record + sizeof(h) + 8);
        tail += h.size;
    }
    __atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
    return code;
}

int fk_perf_drain(struct fk_perf *p,
                  int (*on)(void *arg, const struct fk_perf_sample *s, struct fk_err *err),
                  void *arg, uint64_t *ret_lost, struct fk_err *err)
{
    int r = 0;
    if (p->timer)
        return fk_cpu_timer_drain(p->timer, on, arg, ret_lost, err);
    for (size_t i = 0; r == 0 && i < p->n; i++)
        r = drain_ring(p, &p->ring[i], on, arg, ret_lost, err);
    return r;
}

// ---- facts of this process ----

void fk_thread_name_of(uint32_t tid, char ret[16])
{
    char path[64];
    ret[0] = '\0';
    snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, ret, 15);
    if (fd >= 0)
        close(fd);
    if (n > 0)
        ret[ret[n - 1] == '\n' ? n - 1 : n] = '\0';
}

int fk_own_mappings(int (*on)(void *arg, const struct fk_own_mapping *m, struct fk_err *err),
                    void *arg, struct fk_err *err)
{
    FILE *f = fopen("/proc/self/maps", "re");
    char line[1024];
    int r = f ? 0 : fk_fail_errno(err, errno, "/proc/self/maps");
    while (r == 0 && fgets(line, sizeof(line), f)) {
        struct fk_own_mapping m = {0};
        unsigned long long start, limit, offset;
        char perms[8];
        int at = 0;
        if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &start, &limit, perms, &offset, &at) <
                4 ||
            perms[2] != 'x')
            continue;
        size_t n = strcspn(line + at, "\n");
        m.start = start;
        m.limit = limit;
        m.offset = offset;
        snprintf(m.path, sizeof(m.path), "%.*s", (int)FK_MIN(n, sizeof(m.path) - 1), line + at);
        r = on(arg, &m, err);
    }
    if (f)
        fclose(f);
    return r;
}
