// SPDX-License-Identifier: Apache-2.0
// Locks, threads, the worker pool, cancellation, clocks. Meant to be run under ThreadSanitizer too.
#include "support/support.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

// --- locks ---
struct counter {
    struct fk_mutex lock;
    struct fk_cond changed;
    int n;
};

static void add_many(void *arg)
{
    struct counter *c = arg;
    for (int i = 0; i < 1000; i++) {
        fk_mutex_lock(&c->lock);
        c->n++;
        fk_cond_broadcast(&c->changed);
        fk_mutex_unlock(&c->lock);
    }
}

static void test_threads_and_locks(void **state)
{
    (void)state;
    struct fk_err err;
    struct counter c = {0};
    struct fk_thread t[4];
    fk_mutex_init(&c.lock, FK_RANK_LEAF);
    fk_cond_init(&c.changed);
    for (int i = 0; i < 4; i++)
        fk_test_ok(fk_thread_start(&t[i], "adds-many-and-more", add_many, &c, &err), &err);
    fk_mutex_lock(&c.lock);
    while (c.n < 4000)
        fk_cond_wait(&c.changed, &c.lock);
    int64_t now = fk_clock_mono(fk_clock_real());
    while (fk_cond_wait_until(&c.changed, &c.lock, now + FK_NS_PER_MS)) {
    }
    assert_true(fk_clock_mono(fk_clock_real()) >= now + FK_NS_PER_MS);
    fk_mutex_unlock(&c.lock);
    for (int i = 0; i < 4; i++)
        fk_thread_join(&t[i]);
    assert_int_equal(c.n, 4000);
    fk_cond_destroy(&c.changed);
    fk_mutex_destroy(&c.lock);
}

// In debug builds a wrong order of locks ends the process.
static void test_rank_order(void **state)
{
    (void)state;
#ifdef FK_DEBUG
    struct fk_mutex low, high;
    fk_mutex_init(&low, FK_RANK_STORE);
    fk_mutex_init(&high, FK_RANK_CATALOG);
    fk_mutex_lock(&low);
    fk_mutex_lock(&high);
    fk_mutex_unlock(&low); // any order of release
    fk_mutex_unlock(&high);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)!freopen("/dev/null", "w", stderr);
        fk_mutex_lock(&high);
        fk_mutex_lock(&low);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    fk_mutex_destroy(&low);
    fk_mutex_destroy(&high);
#else
    print_message("SKIP ranks are checked in debug builds only\n");
    skip();
#endif
}

static void test_refs_and_cancel(void **state)
{
    (void)state;
    struct fk_ref ref;
    struct fk_err err;
    struct fk_cancel cancel = {0};
    fk_ref_init(&ref);
    fk_ref_take(&ref);
    assert_false(fk_ref_drop(&ref));
    assert_true(fk_ref_drop(&ref));
    fk_test_ok(fk_cancel_check(NULL, &err), &err);
    fk_test_ok(fk_cancel_check(&cancel, &err), &err);
    fk_cancel_set(&cancel, FK_E_TIMEOUT);
    fk_cancel_set(&cancel, FK_E_CANCELLED);
    fk_test_fails(fk_cancel_check(&cancel, &err), FK_E_TIMEOUT);
    struct fk_cancel left = {0}, stop = {0};
    fk_cancel_set(&left, FK_E_CANCELLED);
    fk_cancel_set(&stop, FK_E_STOPPED);
    fk_test_fails(fk_cancel_check(&left, &err), FK_E_CANCELLED);
    fk_test_fails(fk_cancel_check(&stop, &err), FK_E_STOPPED);
}

// --- the pool ---
// Works that wait at a gate, so that the test decides what runs when.
struct gate {
    struct fk_mutex lock;
    struct fk_cond changed;
    bool open;
    int inside[FK_WORK_CLASSES], most[FK_WORK_CLASSES], passed[FK_WORK_CLASSES];
};

struct ticket {
    struct gate *gate;
    enum fk_work_class cls;
};

static void gate_init(struct gate *g)
{
    *g = (struct gate){0};
    fk_mutex_init(&g->lock, FK_RANK_LEAF);
    fk_cond_init(&g->changed);
}

static void gate_end(struct gate *g)
{
    fk_cond_destroy(&g->changed);
    fk_mutex_destroy(&g->lock);
}

static void pass(void *arg)
{
    struct ticket *t = arg;
    struct gate *g = t->gate;
    fk_mutex_lock(&g->lock);
    g->inside[t->cls]++;
    g->most[t->cls] = FK_MAX(g->most[t->cls], g->inside[t->cls]);
    fk_cond_broadcast(&g->changed);
    while (!g->open)
        fk_cond_wait(&g->changed, &g->lock);
    g->inside[t->cls]--;
    g->passed[t->cls]++;
    fk_mutex_unlock(&g->lock);
}

static void wait_inside(struct gate *g, enum fk_work_class cls, int n)
{
    fk_mutex_lock(&g->lock);
    while (g->inside[cls] < n)
        fk_cond_wait(&g->changed, &g->lock);
    fk_mutex_unlock(&g->lock);
}

static void open_gate(struct gate *g)
{
    fk_mutex_lock(&g->lock);
    g->open = true;
    fk_cond_broadcast(&g->changed);
    fk_mutex_unlock(&g->lock);
}

// Queries and background work fill all they may, and ingest still gets a worker.
static void test_pool_keeps_one_for_ingest(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_pool *pool;
    struct fk_pool_stats stats;
    struct gate g;
    gate_init(&g);
    struct ticket ingest = {&g, FK_WORK_INGEST}, query = {&g, FK_WORK_QUERY};
    struct fk_pool_opts opts = {.workers = 3, .queue = {4, 4, 4}};
    fk_test_ok(fk_pool_new(&opts, &pool, &err), &err);
    for (int i = 0; i < 4; i++)
        fk_test_ok(fk_pool_submit(pool, FK_WORK_QUERY, pass, &query, &err), &err);
    wait_inside(&g, FK_WORK_QUERY, 2);
    for (int i = 0; i < 2; i++)
        fk_test_ok(fk_pool_submit(pool, FK_WORK_QUERY, pass, &query, &err), &err);
    fk_test_fails(fk_pool_submit(pool, FK_WORK_QUERY, pass, &query, &err), FK_E_BUSY);
    fk_test_ok(fk_pool_submit(pool, FK_WORK_INGEST, pass, &ingest, &err), &err);
    wait_inside(&g, FK_WORK_INGEST, 1);
    fk_pool_stats(pool, &stats);
    assert_int_equal(stats.workers, 3);
    assert_int_equal(stats.running[FK_WORK_QUERY], 2);
    assert_int_equal(stats.waiting[FK_WORK_QUERY], 4);
    assert_int_equal(stats.refused[FK_WORK_QUERY], 1);
    open_gate(&g);
    fk_pool_drain(pool);
    assert_int_equal(g.passed[FK_WORK_QUERY], 6);
    assert_int_equal(g.passed[FK_WORK_INGEST], 1);
    assert_int_equal(g.most[FK_WORK_QUERY], 2);
    fk_pool_free(pool);
    gate_end(&g);
}

static void test_pool_one_background(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_pool *pool;
    struct gate g;
    gate_init(&g);
    struct ticket back = {&g, FK_WORK_BACKGROUND};
    fk_test_ok(fk_pool_new(&(struct fk_pool_opts){.workers = 4}, &pool, &err), &err);
    for (int i = 0; i < 50; i++)
        fk_test_ok(fk_pool_submit(pool, FK_WORK_BACKGROUND, pass, &back, &err), &err);
    wait_inside(&g, FK_WORK_BACKGROUND, 1);
    open_gate(&g);
    fk_pool_stop(pool); // runs what was accepted
    assert_int_equal(g.passed[FK_WORK_BACKGROUND], 50);
    assert_int_equal(g.most[FK_WORK_BACKGROUND], 1);
    fk_test_fails(fk_pool_submit(pool, FK_WORK_BACKGROUND, pass, &back, &err), FK_E_STOPPED);
    fk_pool_free(pool);
    gate_end(&g);
}

struct feeder {
    struct fk_pool *pool;
    _Atomic int ran, refused;
    enum fk_work_class cls;
};

static void count_run(void *arg)
{
    struct feeder *f = arg;
    atomic_fetch_add(&f->ran, 1);
}

static void feed(void *arg)
{
    struct feeder *f = arg;
    for (int i = 0; i < 2000; i++)
        if (fk_pool_submit(f->pool, f->cls, count_run, f, NULL))
            atomic_fetch_add(&f->refused, 1);
}

static void test_pool_from_many_threads(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_pool *pool;
    struct fk_thread t[3];
    struct feeder f[3] = {{0}};
    struct fk_pool_opts opts = {.workers = 3, .queue = {64, 64, 64}, .name = "test-worker-name"};
    fk_test_ok(fk_pool_new(&opts, &pool, &err), &err);
    for (int i = 0; i < 3; i++) {
        f[i].pool = pool;
        f[i].cls = (enum fk_work_class)i;
        fk_test_ok(fk_thread_start(&t[i], "feeder", feed, &f[i], &err), &err);
    }
    for (int i = 0; i < 3; i++)
        fk_thread_join(&t[i]);
    fk_pool_drain(pool);
    for (int i = 0; i < 3; i++)
        assert_int_equal(f[i].ran + f[i].refused, 2000);
    fk_pool_free(pool);
}

static void test_pool_no_memory(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_pool *pool = NULL;
    for (uint64_t k = 1;; k++) {
        fk_mem_fail_after(k, false);
        int r = fk_pool_new(&(struct fk_pool_opts){.workers = 2}, &pool, &err);
        bool failed = fk_mem_failed() > 0;
        fk_mem_fail_after(0, false);
        if (!failed) {
            assert_int_equal(r, 0);
            assert_int_equal(k, 5);
            break;
        }
        fk_test_fails(r, FK_E_NOMEM);
        assert_null(pool);
    }
    fk_pool_free(pool);
}

static void test_clocks(void **state)
{
    (void)state;
    struct fk_err err;
    struct fk_test_clock c;
    const struct fk_clock *real = fk_clock_real();
    int64_t a = fk_clock_mono(real), b = fk_clock_mono(real);
    assert_true(b >= a);
    assert_true(fk_clock_wall(real) > 1700000000 * FK_NS_PER_S);
    fk_test_clock_init(&c, 1000);
    a = fk_clock_mono(&c.clock);
    fk_test_clock_add(&c, 5);
    assert_int_equal(fk_clock_wall(&c.clock), 1005);
    assert_int_equal(fk_clock_mono(&c.clock), a + 5);
    fk_test_clock_set_wall(&c, 7);
    assert_int_equal(fk_clock_wall(&c.clock), 7);
    assert_int_equal(fk_clock_mono(&c.clock), a + 5);
    uint8_t r[2][32];
    fk_test_ok(fk_random(r[0], 32, &err), &err);
    fk_test_ok(fk_random(r[1], 32, &err), &err);
    assert_memory_not_equal(r[0], r[1], 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_and_locks),
        cmocka_unit_test(test_rank_order),
        cmocka_unit_test(test_refs_and_cancel),
        cmocka_unit_test(test_pool_keeps_one_for_ingest),
        cmocka_unit_test(test_pool_one_background),
        cmocka_unit_test(test_pool_from_many_threads),
        cmocka_unit_test(test_pool_no_memory),
        cmocka_unit_test(test_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
