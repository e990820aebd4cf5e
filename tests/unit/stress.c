/* SPDX-License-Identifier: MIT */
/*
 * Runs every operation of a lock with many threads on few CPUs, on the perturbed
 * platform.
 *
 *   stress NAME...  runs each lock for STRESS_SECONDS (a tenth of a second by default);
 *                   without names, every lock of the list
 *   stress wrong N  exits with status 1, or that of a sanitizer, if it rejects the N-th
 *                   lock of wrong_locks.h
 *
 * With sanitizers, the accesses of the locks are checked as well. `plain` is
 * deliberately not atomic, so ThreadSanitizer has to derive from the lock that its
 * users exclude each other.
 */
#include "check.h"
#include "wrong_locks.h"

#include "locks/list/descriptor.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 64, SUBJECTS = 2, PATIENCE_SECONDS = 30, DEADLINE_NS_MAX = 300000 };

struct subject {
    struct lock lock;
    long plain; /* guarded by the lock */
    struct atomic_u32 inside;
    struct atomic_u32 to_release; /* 1: the holder leaves the unlock to the deputy */
};

struct worker {
    pthread_t thread;
    uint32_t seed;
    long done[SUBJECTS]; /* number of acquisitions */
};

static struct subject subjects[SUBJECTS];
static struct worker workers[THREADS];
static const struct lock_operations *operations;
static struct atomic_u32 stop, stop_deputy;
static struct atomic_u32 acquisitions; /* of all workers and subjects */
static cpu_set_t all_cpus;
static const char *under_test = "";

/* A random sequence for each thread: G. Marsaglia, "Xorshift RNGs", 2003. */
static uint32_t any(uint32_t *seed, uint32_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return (*seed >> 8) % below;
}

static bool acquire(struct subject *subject, uint32_t *seed)
{
    uint32_t way = any(seed, 8);
    if (way == 0)
        return operations->trylock(&subject->lock);
    if (way < 4) {
        uint64_t at = now_ns() + any(seed, DEADLINE_NS_MAX);
        struct deadline deadline = {
            CLOCK_MONOTONIC, {(time_t)(at / 1000000000u), (long)(at % 1000000000u)}};
        return operations->timedlock(&subject->lock, &deadline);
    }
    operations->lock(&subject->lock);
    return true;
}

static void dawdle(uint32_t *seed)
{
    uint32_t how = any(seed, 64);
    if (how == 0)
        usleep(any(seed, 50));
    else if (how < 8)
        yield();
    else
        pause_for(any(seed, 32));
}

/* Occasionally binds the calling thread to one CPU, or unbinds it. */
static void migrate(uint32_t *seed)
{
    cpu_set_t one;
    uint32_t cpu = any(seed, 2 * CPU_COUNT(&all_cpus));
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (!CPU_ISSET(cpu, &all_cpus) || sched_setaffinity(0, sizeof one, &one) != 0)
        sched_setaffinity(0, sizeof all_cpus, &all_cpus);
}

static void enter(struct subject *subject)
{
    CHECK_EQUAL(fetch_add_relaxed(&subject->inside, 1), 0);
    uint32_t owner = load_relaxed(&subject->lock.owner);
    CHECK(owner == current_thread() || owner == OWNER_IN_NODE);
    CHECK(load_relaxed(&subject->lock.word) != 0);
    subject->plain++;
}

static void leave_and_release(struct subject *subject)
{
    CHECK_EQUAL(fetch_add_relaxed(&subject->inside, UINT32_MAX), 1);
    operations->unlock(&subject->lock);
}

static void use(struct worker *worker, int which)
{
    enter(&subjects[which]);
    worker->done[which]++;
    fetch_add_relaxed(&acquisitions, 1);
    dawdle(&worker->seed);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    uint32_t *seed = &worker->seed;
    while (!load_relaxed(&stop)) {
        dawdle(seed);
        if (any(seed, 256) == 0)
            migrate(seed);
        if (any(seed, 4) && acquire(&subjects[0], seed)) {
            use(worker, 0);
            if (any(seed, 8) == 0 && acquire(&subjects[1], seed)) {
                use(worker, 1);
                leave_and_release(&subjects[1]);
            }
            if (any(seed, 32) == 0)
                store_release(&subjects[0].to_release, 1);
            else
                leave_and_release(&subjects[0]);
        } else if (acquire(&subjects[1], seed)) {
            use(worker, 1);
            leave_and_release(&subjects[1]);
        }
    }
    return NULL;
}

/* Unlocks a mutex that another thread has locked. */
static void *deputy(void *unused)
{
    while (!load_relaxed(&stop_deputy)) {
        if (load_acquire(&subjects[0].to_release)) {
            store_relaxed(&subjects[0].to_release, 0);
            leave_and_release(&subjects[0]);
        }
        yield();
    }
    return unused;
}

/* Called every PATIENCE_SECONDS: threads are stuck if none has acquired a lock in two
 * such periods, the first of which the process may have spent stopped. How long all of
 * them take depends on the machine's other load: in the order of a queue, 64 threads
 * need a turn of the CPU each. */
static void stuck(int signal_number)
{
    static uint32_t before, idle_periods;
    uint32_t now = load_relaxed(&acquisitions);
    (void)signal_number;
    idle_periods = now == before ? idle_periods + 1 : 0;
    before = now;
    if (idle_periods < 2) {
        alarm(PATIENCE_SECONDS);
        return;
    }
    static const char words[] = ": threads are stuck\n";
    if (write(STDERR_FILENO, under_test, strlen(under_test)) > 0 &&
        write(STDERR_FILENO, words, sizeof words - 1) > 0)
        abort();
    abort();
}

static void stress(const struct lock_operations *chosen, double seconds)
{
    pthread_t helper;
    memset(subjects, 0, sizeof subjects);
    memset(workers, 0, sizeof workers);
    operations = chosen;
    store_relaxed(&stop, 0);
    store_relaxed(&stop_deputy, 0);
    alarm((unsigned)seconds + PATIENCE_SECONDS);
    CHECK_EQUAL(pthread_create(&helper, NULL, deputy, NULL), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].seed = ((uint32_t)ticks() ^ i * 2654435761u) | 1;
        CHECK_EQUAL(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    usleep((useconds_t)(seconds * 1e6));
    store_relaxed(&stop, 1);
    long done[SUBJECTS] = {0};
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        for (int which = 0; which < SUBJECTS; which++)
            done[which] += workers[i].done[which];
    }
    store_relaxed(&stop_deputy, 1);
    pthread_join(helper, NULL);
    alarm(0);
    for (int i = 0; i < SUBJECTS; i++) {
        if (load_acquire(&subjects[i].to_release))
            leave_and_release(&subjects[i]);
        CHECK(operations->trylock(&subjects[i].lock));
        CHECK_EQUAL(subjects[i].plain, done[i]);
        operations->unlock(&subjects[i].lock);
        CHECK_EQUAL(load_relaxed(&subjects[i].lock.word), 0);
        operations->destroy(&subjects[i].lock);
    }
}

static void stress_lock(const struct lock_descriptor *descriptor, double seconds)
{
    under_test = descriptor->name;
    stress(&descriptor->operations, seconds);
}

int main(int count, char **words)
{
    const char *text = getenv("STRESS_SECONDS");
    double seconds = text ? strtod(text, NULL) : 0.1;
    barrier_register();
    sched_getaffinity(0, sizeof all_cpus, &all_cpus);
    signal(SIGALRM, stuck);
    CHECK(topology_read(getenv("HASP_TOPOLOGY")));
    if (count == 3 && strcmp(words[1], "wrong") == 0) {
        stress(&wrong_locks[atoi(words[2])], 1);
        return 0;
    }
    for (int i = 1; i < count; i++) {
        int found = lock_find(words[i]);
        CHECK(found > 0);
        const struct lock_descriptor lock = lock_at((unsigned)found);
        stress_lock(&lock, seconds);
    }
    for (unsigned i = 1; count == 1 && i < lock_list_length; i++)
        stress_lock(&lock_list[i], seconds);
    return 0;
}
