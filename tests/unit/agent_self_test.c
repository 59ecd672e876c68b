// SPDX-License-Identifier: Apache-2.0
// The program's profile of itself: what it burns is found again, with its name, thread and times.
#include "agent/agent.h"
#include "support/support.h"

#include <stdio.h>
#include <unistd.h>

struct kept {
    struct fk_mutex lock;
    struct fk_cond came;
    uint32_t profiles, ours, threads;
    uint64_t samples;
    int64_t first, last;
    bool labelled, refuse;
};

static bool has_name(const struct fk_symbols *s, uint32_t stack, struct fk_str name)
{
    for (uint32_t f = s->stack_begin[stack]; f < s->stack_begin[stack + 1]; f++) {
        const struct fk_location *l = &s->location[s->frame[f]];
        for (uint32_t i = 0; i < l->line_count; i++) {
            uint32_t function = s->line[l->line_begin + i].function;
            if (function != FK_NONE && fk_str_eq(s->string[s->function[function].name], name))
                return true;
        }
    }
    return false;
}

static void look_at(struct kept *k, const struct fk_entry *e, const struct fk_profile *p)
{
    k->profiles++;
    k->labelled |= fk_str_eq(fk_labels_get(&e->labels, FK_S("service_name")), FK_S("flamekeep"));
    for (uint64_t r = 0; r < p->n_rows; r++) {
        uint64_t begin = p->obs_begin ? p->obs_begin[r] : r,
                 end = p->obs_begin ? p->obs_begin[r + 1] : r + 1;
        bool ours = has_name(&p->sym, p->stack[r], FK_S("burn_for_the_test"));
        uint32_t set = p->set ? p->set[r] : 0;
        k->samples += end - begin;
        k->ours += ours;
        for (uint32_t a = p->sym.set_begin[set]; a < p->sym.set_begin[set + 1]; a++)
            k->threads += fk_str_eq(p->sym.string[p->sym.attr[a].key], FK_S("thread"));
        for (uint64_t o = begin; o < end; o++) {
            k->first = k->first ? FK_MIN(k->first, p->time_ns[o]) : p->time_ns[o];
            k->last = FK_MAX(k->last, p->time_ns[o]);
        }
    }
}

static int deliver(void *arg, struct fk_str tenant, const struct fk_entry *e,
                   const struct fk_profile *p, fk_done_fn *done, void *done_arg, struct fk_err *err)
{
    struct kept *k = arg;
    struct fk_err why;
    (void)tenant;
    fk_mutex_lock(&k->lock);
    bool refuse = k->refuse;
    k->refuse = false;
    if (!refuse)
        look_at(k, e, p);
    fk_cond_signal(&k->came);
    fk_mutex_unlock(&k->lock);
    (void)err;
    if (refuse)
        fk_fail(&why, FK_E_BUSY, "not now");
    done(done_arg, refuse ? -FK_E_BUSY : 0, (struct fk_id){0}, refuse ? &why : NULL);
    return 0;
}

__attribute__((noinline)) uint64_t burn_for_the_test(int64_t ns);
uint64_t burn_for_the_test(int64_t ns)
{
    int64_t end = fk_clock_mono(fk_clock_real()) + ns;
    uint64_t x = 1;
    while (fk_clock_mono(fk_clock_real()) < end)
        for (int i = 0; i < 20000; i++)
            x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

static void count_warning(void *arg, enum fk_log_level level, const char *domain,
                          struct fk_str line)
{
    int *n = arg;
    (void)domain;
    (void)line;
    *n += level == FK_LOG_WARN;
}

static void test_what_is_burnt_is_found(void **state)
{
    (void)state;
    struct kept k = {.refuse = true}; // the first one is lost, which is told and goes on
    struct fk_self *self;
    struct fk_err err = {0};
    struct fk_limits limits = fk_limits_default();
    int warnings = 0;
    struct fk_log log = {.write = count_warning, .arg = &warnings, .least = FK_LOG_WARN};
    char *folder = fk_test_tmpdir();
    fk_mutex_init(&k.lock, FK_RANK_LEAF);
    fk_cond_init(&k.came);
    int64_t began = fk_clock_wall(fk_clock_real());
    fk_test_ok(fk_self_begin(&self, &err), &err);
    struct fk_self_opts o = {.sink = {deliver, &k},
                             .limits = &limits,
                             .log = &log,
                             .folder = folder,
                             .period_ns = FK_NS_PER_S};
    fk_test_ok(fk_self_start(self, &o, &err), &err);
    uint64_t sum = 0;
    for (int i = 0; i < 40; i++) { // until there are two, ten seconds at most
        sum += burn_for_the_test(250 * FK_NS_PER_MS);
        fk_mutex_lock(&k.lock);
        bool enough = k.profiles >= 2;
        fk_mutex_unlock(&k.lock);
        if (enough)
            break;
    }
    fk_self_stop(self);
    assert_true(sum != 0);
    assert_true(k.profiles >= 2);
    assert_true(k.labelled);
    assert_int_equal(warnings, 1);
    assert_true(k.samples >= 20);
    assert_true(k.ours > 0);
    assert_true(k.threads > 0);
    assert_true(k.first >= began - FK_NS_PER_S);
    assert_true(k.last <= fk_clock_wall(fk_clock_real()) + FK_NS_PER_S);
    fk_cond_destroy(&k.came);
    fk_mutex_destroy(&k.lock);
    fk_test_rmtree(folder);
}

static void test_stopped_before_it_began(void **state)
{
    (void)state;
    struct fk_self *self;
    struct fk_err err = {0};
    fk_test_ok(fk_self_begin(&self, &err), &err);
    fk_self_stop(self);
    fk_self_stop(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_burnt_is_found),
        cmocka_unit_test(test_stopped_before_it_began),
    };
    return cmocka_run_group_tests_name("agent_self", tests, NULL, NULL);
}
