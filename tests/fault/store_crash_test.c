// SPDX-License-Identifier: Apache-2.0
// The whole store on the simulated file system. Per seed: a random workload of appends (of several
// services and two tenants, alone and in batches), seals, restarts, retention and checks; at a
// random call the power goes or calls fail; then the store is opened again and held against what it
// acknowledged. Up to four lives a seed. Three planted faults prove that the simulation would see
// such a mistake.
//
// FK_SEEDS=N runs N times as many seeds, FK_FROM=N begins with the seed N and FK_SEED=N runs it
// alone, telling what happens (ids are not repeated: the
// store draws their tails by chance).
#include "store/store_int.h"

#include "os/simfs.h"
#include "support/profiles.h"
#include "support/support.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

#define DIR       "/data"
#define START_NS  ((int64_t)1700000000 * FK_NS_PER_S)
#define MAX_BATCH 6

static const char *const tenants[] = {FK_TENANT_DEFAULT, "other"};
static const char *const services[] = {"cart", "shop", "web"};

// What is known of one append.
struct attempt {
    struct fk_id id; // zero: it never got one
    char *text;      // canonical
    int64_t time_ns;
    uint8_t tenant, service;
    bool acked;  // must be there, once; else it may be there, once
    bool may_go; // retention was at work and did not finish: it may be there or not
    bool gone;   // retention removed it: it must not come back
    unsigned seen;
};

// What the seeds went through together.
struct tally {
    uint64_t lives, struck, cut, acked, refused, sealed, expired, replayed;
};

struct world {
    uint64_t seed;
    struct tally *tally;
    struct fk_rng rng;
    struct fk_simfs *sim;
    struct fk_test_clock clock;
    struct fk_store_opts opts;
    struct fk_store *store; // NULL: could not be opened because of a fault
    FK_VEC(struct attempt) attempts;
    struct fk_log log;
    bool retention;       // this seed has tiny limits
    unsigned life, steps; // for messages
    char fault[400];      // the first violation; "" none
};

#define VIOLATION(w, ...)                                                                          \
    do {                                                                                           \
        if (!(w)->fault[0])                                                                        \
            snprintf((w)->fault, sizeof((w)->fault), __VA_ARGS__);                                 \
    } while (0)

static bool chance(struct world *w, uint32_t percent)
{
    return fk_rng_below(&w->rng, 100) < percent;
}

// What happens, when a seed runs alone.
static void trace(struct world *w, const char *fmt, ...) FK_PRINTF(2, 3);
static void trace(struct world *w, const char *fmt, ...)
{
    va_list ap;
    if (!w->opts.log)
        return;
    va_start(ap, fmt);
    fprintf(stderr, "%3u.%03u ", w->life, w->steps);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

static void on_log(void *arg, enum fk_log_level level, const char *domain, struct fk_str line)
{
    (void)level;
    (void)domain;
    trace(arg, "   log: %.*s", FK_STR_ARG(line));
}

// ---- appending ----

static char *text_of(const struct fk_profile *p)
{
    struct fk_buf b;
    size_t n;
    fk_buf_init(&b, 0);
    fk_profile_text(p, &b);
    fk_buf_byte(&b, 0);
    return fk_buf_take(&b, &n);
}

struct promise {
    struct world *w;
    size_t attempt;
};

static void on_done(void *arg, int code, struct fk_id id, const struct fk_err *err)
{
    struct promise *p = arg;
    struct attempt *a = &p->w->attempts.v[p->attempt];
    (void)err;
    a->id = id;
    a->acked = code == 0;
    char text[FK_ID_CHARS + 1];
    fk_id_format(id, text);
    trace(p->w, "profile %zu tenant %u id %s: %d %s", p->attempt, a->tenant, text, code,
          err ? err->msg : "");
}

static size_t new_attempt(struct world *w, struct fk_arena *a, struct fk_profile *p,
                          struct fk_entry *e)
{
    struct fk_gen gen = {.rows = chance(w, 5) ? 300 : 8,
                         .types = 1 + fk_rng_below(&w->rng, 2),
                         .depth = 8,
                         .functions = 20,
                         .attributes = chance(w, 50),
                         .mappings = chance(w, 30)};
    struct attempt x = {.tenant = (uint8_t)chance(w, 30),
                        .service = (uint8_t)fk_rng_below(&w->rng, FK_COUNTOF(services)),
                        .time_ns = START_NS + (int64_t)w->attempts.n * FK_NS_PER_S};
    fk_gen_profile(&w->rng, &gen, a, p);
    fk_gen_entry(p, services[x.service], fk_rng_below(&w->rng, 3), x.time_ns, a, e);
    e->received_ns = fk_clock_wall(&w->clock.clock);
    x.text = text_of(p);
    assert_int_equal(fk_vec_push(&w->attempts, x), 0);
    return w->attempts.n - 1;
}

static void append_one(struct world *w)
{
    FK_AUTO_ARENA a;
    struct fk_profile p;
    struct fk_entry e;
    fk_arena_init(&a, 0);
    struct promise promise = {w, new_attempt(w, &a, &p, &e)};
    fk_store_append(w->store, fk_str_of(tenants[w->attempts.v[promise.attempt].tenant]), &e, &p,
                    on_done, &promise, NULL);
}

// What the committer does with several appends that waited at the same time.
static void append_batch(struct world *w)
{
    FK_AUTO_ARENA a;
    struct fk_profile p[MAX_BATCH];
    struct fk_entry e[MAX_BATCH];
    struct promise promise[MAX_BATCH];
    struct append *list = NULL, **end = &list;
    uint32_t n = 2 + fk_rng_below(&w->rng, MAX_BATCH - 1);
    fk_arena_init(&a, 0);
    for (uint32_t i = 0; i < n; i++) {
        promise[i] = (struct promise){w, new_attempt(w, &a, &p[i], &e[i])};
        struct append *x = fk_calloc(1, sizeof(*x));
        assert_non_null(x);
        *x = (struct append){.tenant = fk_str_of(tenants[w->attempts.v[promise[i].attempt].tenant]),
                             .entry = &e[i],
                             .profile = &p[i],
                             .done = on_done,
                             .arg = &promise[i]};
        fk_buf_init(&x->record, 0);
        assert_int_equal(fk_record_put(&x->record, &e[i], &p[i], NULL), 0);
        *end = x;
        end = &x->next;
    }
    fk_store_commit(w->store, list);
}

// ---- looking ----

struct looking {
    struct world *w;
    uint8_t tenant;
};

static struct attempt *attempt_of(struct world *w, struct fk_id id)
{
    for (size_t i = 0; i < w->attempts.n; i++)
        if (fk_id_cmp(w->attempts.v[i].id, id) == 0)
            return &w->attempts.v[i];
    return NULL;
}

static void look_at_row(struct looking *l, const struct fk_part *part, const struct fk_row *row,
                        const struct fk_profile *profile)
{
    struct world *w = l->w;
    struct attempt *a = attempt_of(w, row->id);
    if (!a) {
        VIOLATION(w, "a profile is there that nobody appended");
        return;
    }
    size_t number = (size_t)(a - w->attempts.v);
    char *text = text_of(profile);
    a->seen++;
    if (strcmp(text, a->text))
        VIOLATION(w, "profile %zu reads otherwise than it was appended", number);
    if (a->tenant != l->tenant || row->time_ns != a->time_ns ||
        !fk_str_eq(fk_part_service(part), fk_str_of(services[a->service])))
        VIOLATION(w, "profile %zu has another tenant, time or service", number);
    fk_free(text);
}

static int look_at_part(void *arg, const struct fk_part *part, struct fk_err *err)
{
    struct looking *l = arg;
    struct fk_page page = {0};
    struct fk_samples samples = {0};
    FK_AUTO_ARENA a;
    const struct fk_dataset *tables;
    struct fk_symbols sym;
    fk_arena_init(&a, 0);
    int r = fk_part_tables(part, &tables, err);
    if (r == 0)
        r = fk_part_symbols(part, &a, &sym, err);
    for (uint32_t p = 0; r == 0 && p < fk_part_pages(part); p++) {
        const struct fk_row *row;
        uint32_t n = 0;
        r = fk_part_page(part, p, &page, &row, &n, err);
        for (uint32_t i = 0; r == 0 && i < n; i++) {
            struct fk_profile profile;
            r = fk_row_profile(&row[i], tables, &sym, &samples, &a, &profile, err);
            if (r == 0)
                look_at_row(l, part, &row[i], &profile);
        }
    }
    fk_page_free(&page);
    fk_samples_free(&samples);
    return r;
}

// Counts in `seen` how often each attempt is there. Nonzero: something could not be read.
static int look(struct world *w, struct fk_err *err)
{
    int r = 0;
    for (size_t i = 0; i < w->attempts.n; i++)
        w->attempts.v[i].seen = 0;
    for (uint8_t t = 0; r == 0 && t < FK_COUNTOF(tenants); t++) {
        struct fk_snapshot *s;
        struct looking l = {w, t};
        r = fk_store_snapshot(w->store, &(struct fk_str){tenants[t], strlen(tenants[t])}, 1, &s,
                              err);
        if (r)
            break;
        r = fk_snapshot_parts(s, INT64_MIN, INT64_MAX, look_at_part, &l, err);
        fk_snapshot_free(s);
    }
    return r;
}

static void on_problem(void *arg, const char *text)
{
    struct world *w = arg;
    VIOLATION(w, "check: %s", text);
}

// The store without any fault at work: everything acknowledged, nothing twice, all of it readable.
static void verify(struct world *w)
{
    struct fk_err err = {0};
    struct fk_store_check check = {.report = on_problem, .arg = w};
    uint64_t seen = 0;
    if (look(w, &err))
        VIOLATION(w, "reading: %s", err.msg);
    for (size_t i = 0; i < w->attempts.n; i++) {
        struct attempt *a = &w->attempts.v[i];
        seen += a->seen;
        if (a->seen > 1)
            VIOLATION(w, "profile %zu is there %u times", i, a->seen);
        if (a->acked && !a->seen && !a->may_go && !a->gone)
            VIOLATION(w, "profile %zu was acknowledged and is lost", i);
        if (a->gone && a->seen)
            VIOLATION(w, "profile %zu was removed by retention and is back", i);
        a->gone |= a->may_go && !a->seen;
        a->may_go = false;
    }
    if (fk_store_check(w->store, &check, &err))
        VIOLATION(w, "check cannot run: %s", err.msg);
    if (!w->fault[0] && check.profiles != seen)
        VIOLATION(w, "check counts %u profiles, reading %u", (unsigned)check.profiles,
                  (unsigned)seen);
}

// ---- workload ----

static void close_store(struct world *w)
{
    struct fk_store_stats s;
    if (!w->store)
        return;
    fk_store_stats(w->store, &s);
    w->tally->sealed += s.sealed;
    w->tally->expired += s.expired_blocks;
    w->tally->replayed += s.replayed;
    fk_store_close(w->store);
    w->store = NULL;
}

static void reopen(struct world *w, bool rebuild)
{
    close_store(w);
    w->opts.rebuild = rebuild;
    struct fk_err err = {0};
    if (fk_store_open(&w->opts, &w->store, &err))
        w->store = NULL;
    trace(w, "open%s: %s", rebuild ? ", rebuild" : "", err.msg);
}

// Retention may take what is in blocks. What it took is found by looking when nothing went wrong.
static void maintain(struct world *w)
{
    struct fk_err err = {0};
    int r = fk_store_maintain(w->store, &err);
    trace(w, "maintain: %d %s", r, err.msg);
    if (!w->retention)
        return;
    for (size_t i = 0; i < w->attempts.n; i++)
        w->attempts.v[i].may_go |= w->attempts.v[i].acked && !w->attempts.v[i].gone;
    if (r || look(w, NULL))
        return;
    for (size_t i = 0; i < w->attempts.n; i++) {
        struct attempt *a = &w->attempts.v[i];
        a->gone |= a->may_go && !a->seen;
        a->may_go = false;
    }
}

static void seal(struct world *w)
{
    struct fk_err err = {0};
    int r = w->store ? fk_store_seal(w->store, &err) : 0;
    trace(w, "seal: %d %s", r, err.msg);
}

static void move_clock(struct world *w)
{
    int64_t ns = (int64_t)fk_rng_below(&w->rng, 2000) * FK_NS_PER_MS * (chance(w, 10) ? 600 : 1);
    if (chance(w, 20))
        fk_test_clock_set_wall(&w->clock, fk_clock_wall(&w->clock.clock) - ns);
    else
        fk_test_clock_add(&w->clock, ns);
}

static void step(struct world *w)
{
    uint32_t what = fk_rng_below(&w->rng, 100);
    if (!w->store)
        reopen(w, chance(w, 20));
    else if (what < 50)
        append_one(w);
    else if (what < 65)
        append_batch(w);
    else if (what < 75)
        seal(w);
    else if (what < 82)
        maintain(w);
    else if (what < 90)
        reopen(w, chance(w, 20));
    else if (what < 93)
        fk_store_check(w->store, &(struct fk_store_check){0}, NULL);
    else
        move_clock(w);
}

static void plan_fault(struct world *w, bool crash_only)
{
    static const char *const paths[] = {"", "", "packs", "blob", "catalog"};
    static const uint32_t calls[] = {FK_SIM_CHANGES, FK_SIM_CHANGES, FK_SIM_ANY,
                                     FK_SIM_WRITE | FK_SIM_SYNC | FK_SIM_SYNC_DIR};
    static const enum fk_sim_action actions[] = {FK_SIM_EIO, FK_SIM_ENOSPC, FK_SIM_SHORT};
    struct fk_sim_fault f = {.calls = calls[fk_rng_below(&w->rng, FK_COUNTOF(calls))],
                             .at = 1 + fk_rng_below(&w->rng, 4u << fk_rng_below(&w->rng, 9)),
                             .action = FK_SIM_CRASH};
    snprintf(f.path, sizeof(f.path), "%s", paths[fk_rng_below(&w->rng, FK_COUNTOF(paths))]);
    if (!crash_only && chance(w, 45)) {
        f.action = actions[fk_rng_below(&w->rng, FK_COUNTOF(actions))];
        f.forever = chance(w, 30);
    }
    assert_int_equal(fk_simfs_fault(w->sim, &f, NULL), 0);
    trace(w, "fault: action %d at call %u of %x on '%s'%s", (int)f.action, (unsigned)f.at, f.calls,
          f.path, f.forever ? " and on" : "");
}

// Ends this life: the power goes (the store may be closed before), or only the process ends.
static void die(struct world *w, bool power)
{
    struct fk_sim_fault stop = {.at = 1, .action = FK_SIM_CRASH};
    fk_simfs_clear_faults(w->sim);
    if (power && chance(w, 70)) { // without an orderly end
        fk_simfs_fault(w->sim, &stop, NULL);
        fk_fs_exists(fk_simfs_fs(w->sim), DIR, NULL);
    }
    close_store(w);
    trace(w, power || fk_simfs_stopped(w->sim) ? "power off" : "process ends");
    if (power || fk_simfs_stopped(w->sim))
        assert_int_equal(fk_simfs_crash(w->sim, fk_rng_next(&w->rng), NULL), 0);
}

static void open_again(struct world *w)
{
    struct fk_err err = {0};
    w->opts.rebuild = chance(w, 25);
    if (fk_store_open(&w->opts, &w->store, &err)) {
        w->store = NULL;
        VIOLATION(w, "does not open%s: %s", w->opts.rebuild ? " (rebuild)" : "", err.msg);
        return;
    }
    trace(w, "open%s, verify", w->opts.rebuild ? ", rebuild" : "");
    verify(w);
    if (w->fault[0])
        return;
    append_one(w);
    if (!w->attempts.v[w->attempts.n - 1].acked)
        VIOLATION(w, "appending does not work again");
}

static void live(struct world *w, bool crash_only)
{
    uint64_t struck = fk_simfs_struck(w->sim);
    plan_fault(w, crash_only);
    for (uint32_t n = 5 + fk_rng_below(&w->rng, 40); n && !fk_simfs_stopped(w->sim); n--) {
        step(w);
        w->steps++;
    }
    w->tally->lives++;
    w->tally->struck += fk_simfs_struck(w->sim) > struck;
    w->tally->cut += fk_simfs_stopped(w->sim);
    die(w, crash_only || chance(w, 85));
    open_again(w);
}

// ---- seeds ----

static void begin(struct world *w, uint64_t seed, unsigned plant)
{
    *w = (struct world){.seed = seed, .rng = {seed * 0x9e3779b97f4a7c15u + 1}};
    for (int i = 0; i < 4; i++)
        fk_rng_next(&w->rng);
    fk_test_clock_init(&w->clock, START_NS);
    struct fk_simfs_opts sim = {.seed = seed};
    assert_int_equal(fk_simfs_new(&sim, &w->sim, NULL), 0);
    w->retention = !plant && chance(w, 25);
    w->opts = (struct fk_store_opts){.fs = fk_simfs_fs(w->sim),
                                     .dir = DIR,
                                     .clock = &w->clock.clock,
                                     .min_free = 1,
                                     .seal_bytes = chance(w, 50) ? 4096 : 0,
                                     .retention_age_ns = -1,
                                     .run_inline = true,
                                     .plant = plant};
    if (w->retention && chance(w, 50))
        w->opts.retention_age_ns = 60 * FK_NS_PER_S;
    if (w->retention)
        w->opts.retention_bytes = 1 + fk_rng_below(&w->rng, 20000);
}

static void end(struct world *w)
{
    close_store(w);
    fk_simfs_free(w->sim);
    for (size_t i = 0; i < w->attempts.n; i++) {
        w->tally->acked += w->attempts.v[i].acked;
        w->tally->refused += !w->attempts.v[i].acked;
        fk_free(w->attempts.v[i].text);
    }
    fk_vec_free(&w->attempts);
}

// True when the seed shows no violation; else *ret_fault says it.
static bool run_seed(uint64_t seed, unsigned plant, struct tally *tally, char ret_fault[512])
{
    struct world w;
    begin(&w, seed, plant);
    w.tally = tally;
    w.log = (struct fk_log){.write = on_log, .arg = &w};
    if (getenv("FK_SEED"))
        w.opts.log = &w.log;
    for (w.life = 1; w.life <= 4 && !w.fault[0]; w.life++)
        live(&w, plant != 0);
    if (!w.fault[0]) { // an orderly end
        die(&w, false);
        open_again(&w);
    }
    if (w.fault[0])
        snprintf(ret_fault, 512, "seed %llu, life %u, step %u: %s", (unsigned long long)seed,
                 w.life - 1, w.steps, w.fault);
    bool good = !w.fault[0];
    end(&w);
    return good;
}

static void nothing_acknowledged_is_lost(void **state)
{
    (void)state;
    const char *only = getenv("FK_SEED"), *first = only ? only : getenv("FK_FROM");
    uint64_t from = first ? strtoull(first, NULL, 10) : 1, bad = 0;
    struct tally t = {0};
    uint64_t until = only ? from + 1 : from + fk_test_seeds(300);
    for (uint64_t seed = from; seed < until; seed++) {
        char fault[512];
        if (!run_seed(seed, 0, &t, fault)) {
            print_error("%s (FK_SEED=%llu runs it alone)\n", fault, (unsigned long long)seed);
            bad++;
        }
    }
    print_message("%llu seeds, %llu bad\n", (unsigned long long)(until - from),
                  (unsigned long long)bad);
    print_message("%llu lives, %llu with a fault, %llu ended in the middle of a call; profiles: "
                  "%llu acknowledged, %llu refused, %llu read from packs; %llu seals, %llu blocks "
                  "expired\n",
                  (unsigned long long)t.lives, (unsigned long long)t.struck,
                  (unsigned long long)t.cut, (unsigned long long)t.acked,
                  (unsigned long long)t.refused, (unsigned long long)t.replayed,
                  (unsigned long long)t.sealed, (unsigned long long)t.expired);
    assert_int_equal(bad, 0);
    if (!only) // else the workload has gone tame
        assert_true(t.struck > t.lives / 2 && t.sealed > until - from && t.expired);
}

static void must_be_found(unsigned plant, const char *name)
{
    struct tally t = {0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        char fault[512];
        if (!run_seed(seed, plant, &t, fault)) {
            print_message("%s is found after %llu seeds: %s\n", name, (unsigned long long)seed,
                          fault);
            return;
        }
    }
    fail_msg("%s is not found by 300 seeds", name);
}

static void planted_faults_are_found(void **state)
{
    (void)state;
    if (getenv("FK_SEED"))
        skip();
    must_be_found(FK_PLANT_NO_SYNC, "no fdatasync before the acknowledgement");
    must_be_found(FK_PLANT_NO_FOLDER_SYNC, "no folder sync before the row");
    must_be_found(FK_PLANT_UNLINK_BEFORE_ROW, "pack unlinked before the row");
}

// ---- one operation, every call of it ----

static void nothing(struct world *w)
{
    (void)w;
}

static void some_profiles(struct world *w)
{
    for (int i = 0; i < 3; i++)
        append_batch(w);
}

static void several_blocks(struct world *w)
{
    for (int i = 0; i < 3; i++) {
        some_profiles(w);
        assert_int_equal(fk_store_seal(w->store, NULL), 0);
    }
    some_profiles(w);
}

static void restart(struct world *w)
{
    reopen(w, false);
}

static void rebuild(struct world *w)
{
    reopen(w, true);
}

// Without a power loss between: what the page cache shows may not be durable.
static void seal_and_rebuild(struct world *w)
{
    seal(w);
    rebuild(w);
}

static void expire(struct world *w)
{
    w->retention = true;
    w->opts.retention_bytes = 1;
    reopen(w, false);
    if (w->store)
        fk_store_seal(w->store, NULL);
    if (w->store)
        maintain(w);
}

struct operation {
    const char *name;
    void (*prepare)(struct world *w), (*act)(struct world *w);
};

// The fault at the k-th call (a power loss: that changes something); then, with the machine still
// up, the operation must work; then the power goes, twice. False: the operation has no k-th call.
static bool strike_at(const struct operation *o, enum fk_sim_action action, uint64_t k)
{
    struct tally t = {0};
    struct world w;
    struct fk_sim_fault f = {
        .calls = action == FK_SIM_CRASH ? FK_SIM_CHANGES : FK_SIM_ANY, .at = k, .action = action};
    begin(&w, k, 0);
    w.tally = &t;
    w.retention = false;
    w.opts.retention_age_ns = -1;
    w.opts.retention_bytes = 0;
    reopen(&w, false);
    o->prepare(&w);
    assert_int_equal(fk_simfs_fault(w.sim, &f, NULL), 0);
    o->act(&w);
    bool struck = fk_simfs_struck(w.sim) != 0;
    fk_simfs_clear_faults(w.sim);
    if (!fk_simfs_stopped(w.sim)) {
        if (!w.store)
            reopen(&w, false);
        o->act(&w);
        if (w.store)
            verify(&w);
        else
            VIOLATION(&w, "does not open after the fault is over");
    }
    for (int i = 0; i < 2 && !w.fault[0]; i++) {
        die(&w, true);
        open_again(&w);
    }
    if (w.fault[0])
        fail_msg("%s, action %d at call %u: %s", o->name, (int)action, (unsigned)k, w.fault);
    end(&w);
    return struck;
}

static void every_call_of_an_operation(void **state)
{
    (void)state;
    static const struct operation operations[] = {
        {"first append", nothing, some_profiles},
        {"start", several_blocks, restart},
        {"rebuild", several_blocks, rebuild},
        {"seal", some_profiles, seal},
        {"seal, rebuild", some_profiles, seal_and_rebuild},
        {"retention", several_blocks, expire}};
    static const enum fk_sim_action actions[] = {FK_SIM_CRASH, FK_SIM_EIO, FK_SIM_SHORT,
                                                 FK_SIM_ENOSPC};
    if (getenv("FK_SEED") || getenv("FK_FROM"))
        skip();
    for (size_t i = 0; i < FK_COUNTOF(operations); i++)
        for (size_t a = 0; a < FK_COUNTOF(actions); a++) {
            uint64_t k = 1;
            // many of them only read: each in the long run, every seventh in a normal one
            uint64_t step = actions[a] == FK_SIM_CRASH || fk_test_seeds(1) > 1 ? 1 : 7;
            while (strike_at(&operations[i], actions[a], k))
                k += step;
            print_message("%s, action %d: %u calls\n", operations[i].name, (int)actions[a],
                          (unsigned)k - 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_an_operation),
        cmocka_unit_test(nothing_acknowledged_is_lost),
        cmocka_unit_test(planted_faults_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
