// SPDX-License-Identifier: Apache-2.0
// The loop, sockets, signals, facts of the process. Meant for ThreadSanitizer too.
#include "support/support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct fk_loop *new_loop(const struct fk_clock *clock)
{
    struct fk_err err;
    struct fk_loop *loop;
    fk_test_ok(fk_loop_new(clock, &loop, &err), &err);
    return loop;
}

// --- timers ---
struct ticker {
    struct fk_timer timer;
    struct fk_loop *loop;
    int id;
    int *order, *n; // where fired ids are written
    int stop_at;    // stop the loop after so many
};

static void tick(void *arg)
{
    struct ticker *t = arg;
    t->order[(*t->n)++] = t->id;
    if (*t->n == t->stop_at)
        fk_loop_stop(t->loop);
}

// The clock stands still while the timers are set, so that their order is the test's.
static void test_timers_fire_in_order(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_test_clock clock;
    fk_test_clock_init(&clock, 0);
    struct fk_loop *loop = new_loop(&clock.clock);
    enum { N = 200 };
    static struct ticker t[N];
    int order[N], n = 0, expected = 0;
    int64_t base = fk_clock_mono(&clock.clock);
    for (int i = 0; i < N; i++) {
        t[i] = (struct ticker){{.on = tick, .arg = &t[i]}, loop, i, order, &n, 0};
        fk_test_ok(fk_timer_set(loop, &t[i].timer, base + (i * 7919) % N * 10, &err), &err);
    }
    for (int i = 0; i < N; i += 3) // move some
        fk_test_ok(fk_timer_set(loop, &t[i].timer, base + (i * 31) % N * 10 + 1, &err), &err);
    for (int i = 0; i < N; i += 5) // and clear some
        fk_timer_clear(loop, &t[i].timer);
    for (int i = 0; i < N; i++)
        expected += i % 5 != 0;
    for (int i = 0; i < N; i++)
        t[i].stop_at = expected;
    fk_timer_clear(loop, &t[0].timer); // not running: fine
    fk_test_clock_add(&clock, N * 10 + 10);
    fk_test_ok(fk_loop_run(loop, &err), &err);
    assert_int_equal(n, expected);
    for (int i = 1; i < n; i++)
        assert_true(t[order[i - 1]].timer.at_ns <= t[order[i]].timer.at_ns);
    fk_loop_free(loop);
}

struct repeat {
    struct fk_timer timer;
    struct fk_loop *loop;
    int n;
};

static void again(void *arg)
{
    struct repeat *r = arg;
    if (++r->n == 5)
        fk_loop_stop(r->loop);
    else
        assert_int_equal(fk_timer_set(r->loop, &r->timer, fk_loop_now(r->loop) - 5, NULL), 0);
}

static void test_timer_sets_itself(void **state)
{
    (void)state;
    struct fk_err err;
    struct repeat r = {{.on = again}, new_loop(NULL), 0};
    r.timer.arg = &r;
    int64_t at = fk_clock_mono(fk_clock_real()) + 2 * FK_NS_PER_MS;
    fk_test_ok(fk_timer_set(r.loop, &r.timer, at, &err), &err);
    fk_test_ok(fk_loop_run(r.loop, &err), &err);
    assert_int_equal(r.n, 5);
    assert_true(fk_clock_mono(fk_clock_real()) >= at);
    fk_loop_free(r.loop);
}

// --- messages ---
struct note {
    struct fk_loop_msg msg; // first
    struct inbox *to;
    int from, number;
};

struct inbox {
    struct fk_loop *loop;
    int next[3]; // expected number of each sender
    int n;
};

static void receive(struct fk_loop_msg *msg)
{
    struct note *note = (struct note *)msg;
    struct inbox *in = note->to;
    assert_int_equal(note->number, in->next[note->from]++);
    if (++in->n == 3000)
        fk_loop_stop(in->loop);
    free(note);
}

struct sender {
    struct inbox *to;
    int from;
};

static void send_notes(void *arg)
{
    struct sender *s = arg;
    for (int i = 0; i < 1000; i++) {
        struct note *note = calloc(1, sizeof(*note));
        *note = (struct note){{.on = receive}, s->to, s->from, i};
        fk_loop_post(s->to->loop, &note->msg);
    }
}

static void test_messages_from_threads(void **state)
{
    (void)state;
    struct fk_err err;
    struct inbox in = {.loop = new_loop(NULL)};
    struct sender s[3];
    struct fk_thread t[3];
    for (int i = 0; i < 3; i++) {
        s[i] = (struct sender){&in, i};
        fk_test_ok(fk_thread_start(&t[i], "sender", send_notes, &s[i], &err), &err);
    }
    fk_test_ok(fk_loop_run(in.loop, &err), &err);
    for (int i = 0; i < 3; i++)
        fk_thread_join(&t[i]);
    assert_int_equal(in.n, 3000);
    fk_loop_free(in.loop);
}

static void count_message(struct fk_loop_msg *msg)
{
    struct note *note = (struct note *)msg;
    note->to->n++;
}

static void test_stop_delivers_what_was_posted(void **state)
{
    (void)state;
    struct fk_err err;
    struct inbox in = {.loop = new_loop(NULL)};
    struct note a = {{.on = count_message}, &in}, b = a;
    fk_loop_post(in.loop, &a.msg);
    fk_loop_stop(in.loop);
    fk_loop_post(in.loop, &b.msg);
    fk_test_ok(fk_loop_run(in.loop, &err), &err);
    assert_int_equal(in.n, 2);
    fk_loop_post(in.loop, &a.msg); // never delivered, not the loop's to free
    fk_loop_free(in.loop);
}

// --- descriptors ---
struct end {
    struct fk_loop_fd io;
    struct fk_loop *loop;
    struct end *other; // removed and closed by the first that is told
    int told;
};

static void told(void *arg, uint32_t ready)
{
    struct end *e = arg;
    assert_true(ready & FK_READY_IN);
    e->told++;
    fk_loop_del(e->loop, &e->other->io);
    fk_loop_del(e->loop, &e->io);
    fk_loop_stop(e->loop);
}

// Both are ready in the same turn; the first callback removes the second.
static void test_removed_is_not_told(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_loop *loop = new_loop(NULL);
    int a[2], b[2];
    size_t n;
    fk_test_ok(fk_net_pair(a, &err), &err);
    fk_test_ok(fk_net_pair(b, &err), &err);
    struct end x = {{.fd = a[0], .on = told, .arg = &x}, loop},
               y = {{.fd = b[0], .on = told, .arg = &y}, loop};
    x.other = &y;
    y.other = &x;
    fk_test_ok(fk_loop_add(loop, &x.io, FK_READY_IN, &err), &err);
    fk_test_ok(fk_loop_add(loop, &y.io, FK_READY_IN, &err), &err);
    assert_int_equal(fk_net_write(a[1], "1", 1, &n, &err), FK_IO_OK);
    assert_int_equal(fk_net_write(b[1], "1", 1, &n, &err), FK_IO_OK);
    fk_test_ok(fk_loop_run(loop, &err), &err);
    assert_int_equal(x.told + y.told, 1);
    for (int i = 0; i < 2; i++) {
        fk_net_close(a[i]);
        fk_net_close(b[i]);
    }
    fk_loop_free(loop);
}

// An echo server and a client in one loop: 1 MiB there and back, in pieces as they fit.
#define ECHO_BYTES ((size_t)1 << 20)

struct echo {
    struct fk_loop *loop;
    struct fk_loop_fd listen, conn, client;
    struct fk_buf held; // bytes that the server has to send back
    bool ended;
    size_t sent, got;
};

static void on_conn(void *arg, uint32_t ready)
{
    struct echo *e = arg;
    static char piece[65536];
    size_t n;
    (void)ready;
    int r;
    while (e->held.n < sizeof(piece) && !e->ended &&
           (r = fk_net_read(e->conn.fd, piece, sizeof(piece), &n, NULL)) != FK_IO_AGAIN) {
        e->ended = r == FK_IO_END;
        if (r == FK_IO_OK)
            fk_buf_put(&e->held, piece, n);
        assert_true(r >= 0);
    }
    struct fk_str parts[2] = {fk_str_head(fk_buf_view(&e->held), 1),
                              fk_str_from(fk_buf_view(&e->held), 1)};
    if (e->held.n && fk_net_writev(e->conn.fd, parts, 2, &n, NULL) == FK_IO_OK) {
        memmove(e->held.p, e->held.p + n, e->held.n - n);
        e->held.n -= n;
    }
    uint32_t want =
        (e->ended || e->held.n >= sizeof(piece) ? 0 : FK_READY_IN) | (e->held.n ? FK_READY_OUT : 0);
    if (e->ended && e->held.n == 0) {
        fk_loop_del(e->loop, &e->conn);
        fk_net_close(e->conn.fd);
    } else {
        assert_int_equal(fk_loop_mod(e->loop, &e->conn, want, NULL), 0);
    }
}

static void on_listen(void *arg, uint32_t ready)
{
    struct echo *e = arg;
    struct fk_addr peer;
    struct fk_err err;
    char text[FK_ADDR_CHARS];
    int fd;
    assert_true(ready & FK_READY_IN);
    if (fk_net_accept(e->listen.fd, &fd, &peer, &err) != FK_IO_OK)
        return;
    fk_addr_format(&peer, text);
    assert_true(fk_addr_is_loopback(&peer));
    fk_test_ok(fk_net_keepalive(fd, 60, &err), &err);
    e->conn = (struct fk_loop_fd){.fd = fd, .on = on_conn, .arg = e};
    fk_test_ok(fk_loop_add(e->loop, &e->conn, FK_READY_IN, &err), &err);
    assert_int_equal(fk_net_accept(e->listen.fd, &fd, NULL, &err), FK_IO_AGAIN);
}

static void client_read(struct echo *e)
{
    char piece[8192];
    size_t n = 0;
    int r;
    while ((r = fk_net_read(e->client.fd, piece, sizeof(piece), &n, NULL)) == FK_IO_OK) {
        for (size_t i = 0; i < n; i++)
            assert_int_equal((uint8_t)piece[i], (uint8_t)((e->got + i) * 31 >> 4));
        e->got += n;
    }
    assert_true(r >= 0);
    if (r == FK_IO_END)
        fk_loop_stop(e->loop);
}

static void on_client(void *arg, uint32_t ready)
{
    struct echo *e = arg;
    struct fk_err err;
    char piece[5000];
    size_t n;
    if (e->sent == 0)
        fk_test_ok(fk_net_connected(e->client.fd, &err), &err);
    if (ready & FK_READY_OUT && e->sent < ECHO_BYTES) {
        size_t part = FK_MIN(sizeof(piece), ECHO_BYTES - e->sent);
        for (size_t i = 0; i < part; i++)
            piece[i] = (char)((e->sent + i) * 31 >> 4);
        if (fk_net_write(e->client.fd, piece, part, &n, &err) == FK_IO_OK)
            e->sent += n;
        if (e->sent == ECHO_BYTES) {
            fk_net_end_writes(e->client.fd);
            fk_test_ok(fk_loop_mod(e->loop, &e->client, FK_READY_IN, &err), &err);
        }
    }
    client_read(e);
}

static void echo_over(const char *address)
{
    struct fk_err err;
    struct fk_addr addr, bound;
    struct echo e = {.loop = new_loop(NULL)};
    fk_buf_init(&e.held, 0);
    fk_test_ok(fk_addr_parse(fk_str_of(address), 0, &addr, &err), &err);
    e.listen = (struct fk_loop_fd){.on = on_listen, .arg = &e};
    e.client = (struct fk_loop_fd){.on = on_client, .arg = &e};
    struct fk_listen_opts opts = {0};
    fk_test_ok(fk_net_listen(&addr, &opts, &e.listen.fd, &bound, &err), &err);
    fk_test_ok(fk_loop_add(e.loop, &e.listen, FK_READY_IN, &err), &err);
    fk_test_ok(fk_net_connect(&bound, &e.client.fd, &err), &err);
    fk_test_ok(fk_loop_add(e.loop, &e.client, FK_READY_IN | FK_READY_OUT, &err), &err);
    fk_test_ok(fk_loop_run(e.loop, &err), &err);
    assert_int_equal(e.got, ECHO_BYTES);
    fk_net_close(e.client.fd);
    fk_net_close(e.listen.fd);
    fk_buf_free(&e.held);
    fk_loop_free(e.loop);
}

static void test_echo(void **state)
{
    (void)state;
    struct fk_err err;
    char *dir = fk_test_tmpdir();
    char path[FK_PATH_MAX];
    echo_over("127.0.0.1:0");
    echo_over(":0");
    fk_test_ok(fk_path_printf(path, &err, "unix:%s/s", dir), &err);
    echo_over(path);
    echo_over(path); // over what the first left
    fk_test_rmtree(dir);
}

static void test_listen_errors(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_addr addr, bound;
    struct fk_listen_opts opts = {0};
    int fd, second;
    fk_test_ok(fk_addr_parse(FK_S("127.0.0.1:0"), 0, &addr, &err), &err);
    fk_test_ok(fk_net_listen(&addr, &opts, &fd, &bound, &err), &err);
    assert_true(fk_addr_port(&bound) > 0);
    fk_test_fails(fk_net_listen(&bound, &opts, &second, NULL, &err), FK_E_IO);
    char text[FK_ADDR_CHARS];
    fk_addr_format(&bound, text);
    assert_non_null(strstr(err.msg, text));
    fk_net_close(fd);
    // nobody there: told at connect or when it ends
    uint32_t ready;
    int r = fk_net_connect(&bound, &fd, &err);
    if (r == 0) {
        fk_test_ok(fk_net_wait(fd, FK_READY_OUT, 10 * FK_NS_PER_S, &ready, &err), &err);
        r = fk_net_connected(fd, &err);
        fk_net_close(fd);
    }
    assert_int_equal(r, -FK_E_IO);
}

static void test_addresses(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_addr a;
    char text[FK_ADDR_CHARS];
    static const char *const good[][2] = {
        {"127.0.0.1:4040", "127.0.0.1:4040"}, {":4040", "[::]:4040"},
        {"[::1]:4040", "[::1]:4040"},         {"localhost:1", "127.0.0.1:1"},
        {"10.1.2.3", "10.1.2.3:99"},          {"[fe80::1]", "[fe80::1]:99"},
        {"unix:/tmp/x y", "unix:/tmp/x y"},   {"[::ffff:1.2.3.4]:5", "1.2.3.4:5"},
        {"0.0.0.0:65535", "0.0.0.0:65535"}};
    static const char *const bad[] = {"",
                                      ":",
                                      "a:",
                                      "1.2.3.4:65536",
                                      "::1:4040",
                                      "[::1",
                                      "[::1]4040",
                                      "[]:1",
                                      "host:80",
                                      "1.2.3:1",
                                      "1.2.3.4:80x",
                                      "unix:",
                                      "1.2.3.4.5.6.7.8.9:1"};
    for (size_t i = 0; i < FK_COUNTOF(good); i++) {
        fk_test_ok(fk_addr_parse(fk_str_of(good[i][0]), 99, &a, &err), &err);
        fk_addr_format(&a, text);
        assert_string_equal(text, good[i][1]);
    }
    for (size_t i = 0; i < FK_COUNTOF(bad); i++)
        fk_test_fails(fk_addr_parse(fk_str_of(bad[i]), 99, &a, &err), FK_E_INVALID);
    fk_test_fails(fk_addr_parse(FK_S("10.1.2.3"), 0, &a, &err), FK_E_INVALID);
    static const char *const loopback[] = {"127.9.9.9:1", "[::1]:1", "unix:/x",
                                           "[::ffff:127.0.0.1]:1"};
    for (size_t i = 0; i < FK_COUNTOF(loopback); i++) {
        fk_test_ok(fk_addr_parse(fk_str_of(loopback[i]), 0, &a, &err), &err);
        assert_true(fk_addr_is_loopback(&a));
    }
    fk_test_ok(fk_addr_parse(FK_S(":1"), 0, &a, &err), &err);
    assert_false(fk_addr_is_loopback(&a));
    struct fk_addr list[4];
    size_t n = 0;
    fk_test_ok(fk_addr_resolve("127.0.0.1", 80, list, 4, &n, &err), &err);
    assert_int_equal(n, 1);
    fk_addr_format(&list[0], text);
    assert_string_equal(text, "127.0.0.1:80");
}

// --- signals and the process ---
struct caught {
    struct fk_loop *loop;
    int term, usr1;
};

static void on_signal(void *arg, int signo)
{
    struct caught *c = arg;
    c->term += signo == SIGTERM;
    c->usr1 += signo == SIGUSR1;
    if (c->term && c->usr1)
        fk_loop_stop(c->loop);
}

static void test_signals(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_signals s;
    struct caught c = {.loop = new_loop(NULL)};
    fk_signals_block();
    fk_test_ok(fk_signals_open(&s, c.loop, on_signal, &c, &err), &err);
    kill(getpid(), SIGTERM);
    kill(getpid(), SIGUSR1);
    fk_test_ok(fk_loop_run(c.loop, &err), &err);
    assert_int_equal(c.term, 1);
    assert_int_equal(c.usr1, 1);
    fk_signals_close(&s);
    fk_loop_free(c.loop);
    int pair[2]; // a write to nobody is an error, not the end
    size_t n;
    fk_test_ok(fk_net_pair(pair, &err), &err);
    fk_net_close(pair[1]);
    fk_test_fails(fk_net_write(pair[0], "x", 1, &n, &err), FK_E_IO);
    fk_net_close(pair[0]);
}

static void test_process(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_process_facts a, b;
    uint64_t fds, memory;
    int pair[2];
    fk_test_ok(fk_process_raise_fds(256, &fds, &err), &err);
    assert_true(fds >= 256);
    fk_test_ok(fk_process_facts(&a, &err), &err);
    fk_test_ok(fk_net_pair(pair, &err), &err);
    fk_test_ok(fk_process_facts(&b, &err), &err);
    assert_int_equal(b.open_fds, a.open_fds + 2);
    assert_true(a.max_fds == fds && a.threads >= 1);
    assert_true(a.resident_anon_bytes > 0 && a.resident_anon_bytes <= a.resident_bytes);
    assert_true(a.resident_bytes <= a.virtual_bytes);
    assert_true(b.user_ns + b.system_ns >= a.user_ns + a.system_ns);
    int64_t age = fk_clock_wall(fk_clock_real()) - a.start_ns;
    assert_true(age > -FK_NS_PER_S && age < 3600 * FK_NS_PER_S);
    fk_test_ok(fk_process_memory(&memory, &err), &err);
    assert_true(memory > a.resident_anon_bytes);
    fk_net_close(pair[0]);
    fk_net_close(pair[1]);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_loop *loop = NULL;
    struct fk_timer t = {0};
    fk_mem_fail_after(1, false);
    fk_test_fails(fk_loop_new(NULL, &loop, &err), FK_E_NOMEM);
    loop = new_loop(NULL);
    fk_mem_fail_after(1, false);
    fk_test_fails(fk_timer_set(loop, &t, 1, &err), FK_E_NOMEM);
    fk_mem_fail_after(0, false);
    assert_int_equal(t.place, 0);
    fk_test_ok(fk_timer_set(loop, &t, 1, &err), &err);
    fk_loop_free(loop);
    assert_int_equal(t.place, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timers_fire_in_order),
        cmocka_unit_test(test_timer_sets_itself),
        cmocka_unit_test(test_messages_from_threads),
        cmocka_unit_test(test_stop_delivers_what_was_posted),
        cmocka_unit_test(test_removed_is_not_told),
        cmocka_unit_test(test_echo),
        cmocka_unit_test(test_listen_errors),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_process),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
