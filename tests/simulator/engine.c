/* SPDX-License-Identifier: MIT */
/*
 * Test programs for the simulator:
 *
 *   engine MACHINE_FILE CASE [ARGUMENTS]
 *
 * Exit status 0: success; 1: the simulator detected a deadlock; 3: a check failed, as
 * explained on stderr.
 */
#include "checks.h"
#include "locks/list/descriptor.h"

#include <inttypes.h>
#include <string.h>

enum { THREADS = 1024 };

static const struct lock_operations *operations;
static struct lock *locks[2];
static struct atomic_u64 *word; /* guarded by the lock, in a line of its own */
static struct atomic_u32 *flags[2];
static unsigned inside;
static uint64_t end, turns[THREADS];

static void run(unsigned count, void (*body)(unsigned index, void *argument))
{
    run_on(count, NULL, body);
}

/* --- exclusion LOCK|all THREADS: each lock ensures mutual exclusion, and loses no
 * update --- */

static void take_turns(unsigned index, void *argument)
{
    (void)argument;
    pause_cycles(index * 977 % 20000);
    while (ticks() < end) {
        operations->lock(locks[0]);
        expect(inside++ == 0, "two threads are in the critical section");
        store_relaxed(word, load_relaxed(word) + 1);
        inside--;
        operations->unlock(locks[0]);
        turns[index]++;
        full_fence();
        pause_cycles(200);
    }
}

static void exclude(const char *name, unsigned threads)
{
    const uint64_t start = ticks(), before = load_relaxed(word);
    memset(turns, 0, sizeof turns);
    locks[0] = shared_pages(sizeof *locks[0], 0);
    end = start + cycles_per_second() / 10000; /* 100 us */
    run(threads, take_turns);
    uint64_t sum = 0;
    for (unsigned i = 0; i < threads; i++)
        sum += turns[i];
    printf("%s: %" PRIu64 " turns, %" PRIu64 " cycles\n", name, sum, ticks() - start);
    expect(load_relaxed(word) - before == sum, "an update was lost");
    expect(operations->trylock(locks[0]), "the lock is not free at the end");
    operations->unlock(locks[0]);
}

static void exclusion(char **arguments)
{
    const bool all = strcmp(arguments[0], "all") == 0;
    const int only = all ? 0 : lock_find(arguments[0]);
    expect(only >= 0, "no such lock");
    for (unsigned i = 1; i < lock_list_length; i++)
        if (all || i == (unsigned)only) {
            operations = lock_operations_at(i);
            exclude(lock_list[i].name, (unsigned)atoi(arguments[1]));
        }
}

static int no_lock(struct lock *lock)
{
    (void)lock;
    return 0;
}

static bool no_trylock(struct lock *lock)
{
    (void)lock;
    return true;
}

/* A lock without mutual exclusion, which must be detected. */
static void no_exclusion(char **arguments)
{
    static const struct lock_operations none = {
        .lock = no_lock, .trylock = no_trylock, .unlock = no_lock};
    (void)arguments;
    operations = &none;
    exclude("none", 8);
}

/* --- deadlock LOCK: two threads acquire two locks in opposite orders --- */

static void embrace(unsigned index, void *argument)
{
    (void)argument;
    operations->lock(locks[index]);
    pause_cycles(10000);
    operations->lock(locks[1 - index]);
}

static void deadlock(char **arguments)
{
    int found = lock_find(arguments[0]);
    expect(found > 0, "no such lock");
    operations = lock_operations_at((unsigned)found);
    for (int i = 0; i < 2; i++)
        locks[i] = shared_pages(sizeof *locks[i], 0);
    run(2, embrace);
}

/* --- order: effects of store buffers, and fences that prevent them --- */

static uint32_t saw[2];
static bool fenced;

static void store_then_load(unsigned index, void *argument)
{
    (void)argument;
    (void)load_relaxed(flags[1 - index]); /* a hit below */
    full_fence();
    pause_cycles(5000 - ticks() % 5000);
    store_relaxed(flags[index], 1);
    if (fenced)
        fence_seq_cst();
    saw[index] = load_relaxed(flags[1 - index]);
}

static void order(char **arguments)
{
    const int in_two_cores[] = {0, (int)cpu_count() - 1};
    (void)arguments;
    for (int i = 0; i < 2; i++) {
        fenced = i == 1;
        store_relaxed(flags[0], 0);
        store_relaxed(flags[1], 0);
        run_on(2, in_two_cores, store_then_load);
        expect(fenced || (!saw[0] && !saw[1]), "a store was not buffered");
        expect(!fenced || saw[0] || saw[1], "a fence did not empty the store buffer");
    }
}

/* --- timeout LOCK: a timed lock on a held lock ends at its deadline --- */

static void wait_in_vain(unsigned index, void *argument)
{
    enum { US = 1000, WAIT = 200 * US, HOLD = 4 };
    (void)argument;
    if (index == 0) {
        operations->lock(locks[0]);
        pause_cycles(cycles_per_second() / 1000 * HOLD);
        operations->unlock(locks[0]);
        return;
    }
    pause_cycles(20000);
    const uint64_t at = now_ns() + WAIT;
    const struct deadline deadline = at_ns(at);
    expect(!operations->timedlock(locks[0], &deadline), "a held lock was acquired");
    expect(now_ns() >= at, "it timed out early");
    expect(now_ns() - at < 1000 * US, "the lock timed out 1 ms late");
}

static void timeout(char **arguments)
{
    (void)arguments;
    for (unsigned i = 1; i < lock_list_length; i++) {
        operations = lock_operations_at(i);
        locks[0] = shared_pages(sizeof *locks[0], 0);
        fprintf(stderr, "%s\n", lock_list[i].name);
        run(3, wait_in_vain);
    }
}

/* --- watching: no thread waits forever --- */

static void ping_pong(unsigned index, void *argument)
{
    enum { ROUNDS = 2000 };
    (void)argument;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (index == 0)
            store_release(flags[0], i + 1);
        /* The other thread stores at about this time, so the second load may see a
         * store that the first one missed. */
        pause_cycles(index == 0 ? i % 701 : 0);
        for (; load_acquire(flags[index == 0]) != i + 1; relax())
            (void)load_relaxed(flags[index == 0]);
        if (index == 1)
            store_release(flags[1], i + 1);
    }
}

static void watching(char **arguments)
{
    (void)arguments;
    run(2, ping_pong);
}

/* --- arrival: a thread cannot read a line before it arrives at its core --- */

static uint64_t read_at[3];

static void read_together(unsigned index, void *argument)
{
    enum { SOON = 5 }; /* cycles: less than any line takes */
    (void)argument;
    if (index == 2) {
        store_relaxed(word, 1);
        full_fence();
        return;
    }
    pause_cycles(5000 - ticks() % 5000 + (index ? SOON : 0));
    (void)load_relaxed(word);
    read_at[index] = ticks();
}

static void arrival(char **arguments)
{
    const int two_in_a_core[] = {0, 1, (int)cpu_count() - 1};
    (void)arguments;
    run_on(3, two_in_a_core, read_together);
    expect(read_at[1] >= read_at[0], "a line was read before it arrived");
}

/* --- buffered-count: a thread sees its own store, still buffered, to the count of
 * the nodes by which it holds --- */

static void hold_by_node(unsigned index, void *argument)
{
    (void)index, (void)argument;
    expect(current_thread_if_known() != 0, "a thread without nodes has no known id");
    store_relaxed(&held_nodes()->count, 1);
    expect(!current_thread_if_known(), "a thread that holds by a node has a known id");
    store_relaxed(&held_nodes()->count, 0);
    expect(current_thread_if_known() != 0, "a thread has no known id any more");
}

static void buffered_count(char **arguments)
{
    (void)arguments;
    run(2, hold_by_node);
}

static const struct {
    const char *name;
    int arguments;
    void (*run)(char **arguments);
} cases[] = {
    {"exclusion", 2, exclusion}, {"no-exclusion", 0, no_exclusion},
    {"deadlock", 1, deadlock},   {"order", 0, order},
    {"timeout", 0, timeout},     {"watching", 0, watching},
    {"arrival", 0, arrival},     {"buffered-count", 0, buffered_count},
};

int main(int count, char **arguments)
{
    if (count < 3 || !use_machine(arguments[1])) {
        fprintf(stderr, "%s\n", count < 3 ? "engine FILE CASE" : workers_error());
        return 2;
    }
    word = shared_pages(sizeof *word, 0);
    for (int i = 0; i < 2; i++)
        flags[i] = shared_pages(sizeof *flags[i], 0);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i].name, arguments[2]) == 0 &&
            count == 3 + cases[i].arguments) {
            cases[i].run(arguments + 3);
            return 0;
        }
    fprintf(stderr, "there is no such case\n");
    return 2;
}
