/* SPDX-License-Identifier: MIT */
/*
 * Test programs for threads that share CPUs in the simulator:
 *
 *   sharing MACHINE_FILE CASE
 *
 * Exit status 0: success; 3: a check failed, as explained on stderr.
 */
#include "checks.h"

#include <string.h>

static struct atomic_u32 *flags[2];

/* --- yields: waiters yield their CPU now and then, which takes them some time --- */

static uint64_t changes_at, seen_at, woken_at;

/* Thread 0 changes what thread 1 waits for; thread 2 comes to the CPU of thread 1. */
static void change_or_wait(unsigned index, void *argument)
{
    uint32_t since_yield = 0;
    (void)argument;
    if (index == 0) {
        pause_cycles(changes_at - ticks());
        store_release(flags[0], 1);
    } else if (index == 1) {
        while (!load_acquire(flags[0]))
            relax_or_yield(&since_yield);
        seen_at = ticks();
    } else {
        const struct deadline deadline = at_ns(now_ns() + 100000);
        while (park(flags[1], 0, &deadline))
            continue;
        woken_at = ticks();
    }
}

static void yields(void)
{
    enum { MOMENTS = 400, STEP = 293, LATE = 500 };
    const int cpus[] = {0, 1, 1};
    unsigned late = 0;
    for (unsigned i = 0; i < MOMENTS; i++) {
        store_relaxed(flags[0], 0);
        changes_at = ticks() + i * STEP + 1000;
        run_on(2, cpus, change_or_wait);
        late += seen_at - changes_at > LATE;
    }
    fprintf(stderr, "%u of %u changes were seen late\n", late, MOMENTS);
    expect(late > 0, "no change came during a yield");
    expect(late < MOMENTS / 20, "changes were seen late");
    store_relaxed(flags[0], 0);
    changes_at = ticks() + cycles_per_second() / 500; /* 2 ms: less than a slice */
    run_on(3, cpus, change_or_wait);
    expect(woken_at < changes_at, "a waiter kept its CPU from a thread that woke up");
}

/* --- preempts: a thread that wakes up preempts one that computes on its CPU, but not
 * one that has had less of it --- */

enum { SLEEPS = 20, MS = 1000000 };
static uint64_t latest_ns;
static bool greedy;

static void compute_or_sleep(unsigned index, void *argument)
{
    (void)argument;
    const uint64_t ends = now_ns() + SLEEPS * 3 * MS;
    while (index == 0 && now_ns() < ends)
        pause_cycles(1000);
    for (unsigned i = 0; index == 1 && i < SLEEPS; i++) {
        const uint64_t until = now_ns() + (i ? MS / 4 : 5 * MS);
        const struct deadline deadline = at_ns(until);
        while (park(flags[1], 0, &deadline))
            continue;
        if (now_ns() > until + latest_ns)
            latest_ns = now_ns() - until;
        for (const uint64_t begun = now_ns(); greedy && now_ns() < begun + MS;)
            pause_cycles(1000);
    }
}

static void preempts(void)
{
    const int cpus[] = {0, 0};
    for (int i = 0; i < 2; i++) {
        greedy = i == 1;
        latest_ns = 0;
        run_on(2, cpus, compute_or_sleep);
        expect(greedy || latest_ns < MS / 10, "a thread that woke up had to wait");
        expect(!greedy || latest_ns > MS / 2, "a greedy thread was preferred");
    }
}

/* --- nearby: a thread that is woken by one of its own CPU needs no interrupt --- */

enum { INTERRUPT = 5000 }; /* cycles: scheduler.futex_wake of the Opteron's file */
static uint64_t called_at, ran_at;

static void wake_or_sleep(unsigned index, void *argument)
{
    (void)argument;
    if (index == 1) {
        while (!load_acquire(flags[1]))
            park(flags[1], 0, NULL);
        ran_at = ticks();
        return;
    }
    const uint64_t asleep_at = now_ns() + 10 * MS; /* the other had its slice */
    while (now_ns() < asleep_at)
        pause_cycles(1000);
    called_at = ticks();
    store_release(flags[1], 1);
    unpark(flags[1], 1);
    pause_cycles(cycles_per_second() / 500); /* unless it is preempted */
}

static void nearby(void)
{
    const int same[] = {0, 0}, two[] = {0, 1};
    store_relaxed(flags[1], 0);
    run_on(2, same, wake_or_sleep);
    expect(ran_at < called_at + INTERRUPT, "a CPU was interrupted by itself");
    store_relaxed(flags[1], 0);
    run_on(2, two, wake_or_sleep);
    expect(ran_at >= called_at + INTERRUPT, "no CPU was interrupted");
}

/* --- idle: what it costs to wake a thread depends on how long its CPU has been idle.
 * The Opteron's file got 8000 and 500 cycles, and 60000 and 2500 from 100 us on. --- */

enum { SHORT = 8000, LONG = 60000, SHORT_CALL = 500, LONG_CALL = 2500 };
enum { CALL = 1500, SWITCH = 3000, SPIN = 8, TRANSFERS = 1000, US = 1000 };
static uint64_t idle_ns, call_took;
static bool timed;

/* Worker 1 sleeps, until a time or a call; worker 0 calls when that has been idle. */
static void sleep_or_call(unsigned index, void *argument)
{
    (void)argument;
    if (index == 1) {
        const uint64_t until = ticks() + idle_ns * (cycles_per_second() / MS) / US;
        const struct deadline deadline = at_ns(now_ns() + idle_ns);
        while (!load_acquire(flags[1]) && park(flags[1], 0, timed ? &deadline : NULL))
            continue;
        ran_at = ticks();
        if (timed)
            called_at = until;
        return;
    }
    if (timed)
        return;
    for (const uint64_t begun = now_ns(); now_ns() < begun + idle_ns;)
        pause_cycles(100);
    store_release(flags[1], 1);
    const uint64_t called = called_at = ticks();
    unpark(flags[1], 1);
    call_took = ticks() - called;
}

static uint64_t latency_after(uint64_t ns)
{
    const int cpus[] = {0, 1};
    idle_ns = ns;
    store_relaxed(flags[1], 0);
    run_on(2, cpus, sleep_or_call);
    return ran_at - called_at - (timed ? 0 : CALL);
}

/* With transfers of the flag's line. */
static bool about(uint64_t cycles, uint64_t expected)
{
    return cycles >= expected && cycles < expected + TRANSFERS;
}

/* Worker 0 computes where worker 1 sleeps; worker 2 wakes that, from another CPU. */
static void preempt_or_sleep(unsigned index, void *argument)
{
    const uint64_t asleep_at = now_ns() + 10 * MS;
    (void)argument;
    while (index == 1 && !load_acquire(flags[1]))
        park(flags[1], 0, NULL);
    if (index == 1) {
        ran_at = ticks();
        return;
    }
    while (now_ns() < asleep_at)
        pause_cycles(100);
    if (index == 2) {
        called_at = ticks();
        store_release(flags[1], 1);
        unpark(flags[1], 1);
    }
    for (const uint64_t until = now_ns() + MS; now_ns() < until;)
        pause_cycles(100);
}

static void idle(void)
{
    expect(about(latency_after(20 * US), SHORT), "a CPU idle for a short time");
    expect(about(latency_after(80 * US), SHORT), "a CPU before the next row's time");
    expect(about(call_took - CALL, SHORT_CALL), "the call that woke it");
    expect(about(latency_after(200 * US), LONG), "a CPU that was idle for long");
    expect(about(call_took - CALL, LONG_CALL), "the call that woke it after long");
    timed = true;
    expect(about(latency_after(20 * US), SHORT), "the end of a short sleep");
    expect(about(latency_after(200 * US), LONG), "the end of a long sleep");
    expect(spin_limit() == (2 * CALL + SHORT) / SPIN, "the cost of parking");
    const int two[] = {1, 1, 0};
    store_relaxed(flags[1], 0);
    run_on(3, two, preempt_or_sleep);
    expect(about(ran_at - called_at - CALL, SHORT + SWITCH), "a busy CPU");
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"yields", yields}, {"preempts", preempts}, {"nearby", nearby}, {"idle", idle}};
    if (count != 3 || !use_machine(arguments[1])) {
        fprintf(stderr, "%s\n", count != 3 ? "sharing FILE CASE" : workers_error());
        return 2;
    }
    for (int i = 0; i < 2; i++)
        flags[i] = shared_pages(sizeof *flags[i], 0);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i].name, arguments[2]) == 0) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "there is no such case\n");
    return 2;
}
