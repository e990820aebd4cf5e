/* SPDX-License-Identifier: MIT */
#include "bench/locks/bench.h"
#include "platform/platform.h"

static unsigned two(void)
{
    return 2;
}

static unsigned four(void)
{
    return 4;
}

static unsigned one(void)
{
    return 1;
}

/* Enough threads that most have no CPU on any machine. */
static unsigned four_for_each_cpu(void)
{
    unsigned threads = 4 * cpu_count();
    return threads > 8 ? threads : 8;
}

static unsigned sixteen_for_each_cpu(void)
{
    return 4 * four_for_each_cpu();
}

static unsigned sixty_four(void)
{
    return 64;
}

static bool is_one(unsigned threads)
{
    return threads == 1;
}

static bool is_one_or_two(unsigned threads)
{
    return threads == 1 || threads == 2;
}

static bool is_two(unsigned threads)
{
    return threads == 2;
}

static bool is_even(unsigned threads)
{
    return threads % 2 == 0;
}

static bool is_over_two(unsigned threads)
{
    return threads > 2;
}

static bool is_any(unsigned threads)
{
    return threads > 0;
}

static const unsigned think_times_ns[] = {0, 100, 1000, 10000};
/* A section is a third as long. */
static const unsigned section_think_times_ns[] = {300, 3000};

enum {
    THINK_TIMES = sizeof think_times_ns / sizeof think_times_ns[0],
    SECTION_TIMES = sizeof section_think_times_ns / sizeof section_think_times_ns[0]
};

const struct bench_case bench_cases[] = {
    {
        .name = "uncontended",
        .also_threads = {one},
        .unit = "ns",
        .better = "lower",
        .has_floor = true,
        .uses_lock = true,
        .default_threads = two,
        .threads_allowed = is_one_or_two,
        .threads_words = "1 (alone in the process) or 2 (the second one sleeps)",
        .default_seconds = 0.1,
        .measure = measure_uncontended,
        .summary = "lock and unlock of an uncontended mutex",
    },
    {
        .name = "contended",
        .unit = "acquisitions/s",
        .better = "higher",
        .has_floor = true,
        .uses_lock = true,
        .default_threads = two,
        .threads_allowed = is_any,
        .threads_words = "any number",
        .default_seconds = 0.1,
        .measure = measure_contended,
        .summary = "one short critical section, each thread on its own CPU",
    },
    {
        .name = "think_time",
        .unit = "acquisitions/s",
        .better = "higher",
        .has_floor = true,
        .uses_lock = true,
        .think_times_ns = think_times_ns,
        .think_time_count = THINK_TIMES,
        .default_threads = two,
        .also_threads = {four_for_each_cpu, sixteen_for_each_cpu},
        .threads_allowed = is_any,
        .threads_words = "any number",
        .default_seconds = 0.1,
        .measure = measure_think_time,
        .summary = "a short critical section, then work outside it",
    },
    {
        .name = "section_time",
        .unit = "acquisitions/s",
        .better = "higher",
        .has_floor = true,
        .uses_lock = true,
        .think_times_ns = section_think_times_ns,
        .think_time_count = SECTION_TIMES,
        .default_threads = four_for_each_cpu,
        .also_threads = {sixteen_for_each_cpu},
        .threads_allowed = is_any,
        .threads_words = "any number",
        .default_seconds = 0.1,
        .measure = measure_section_time,
        .summary = "work in the section, then three times as long outside it",
    },
    {
        .name = "oversubscribed",
        .unit = "acquisitions/s",
        .better = "higher",
        .has_floor = true,
        .uses_lock = true,
        .default_threads = four_for_each_cpu,
        .also_threads = {sixteen_for_each_cpu},
        .threads_allowed = is_any,
        .threads_words = "any number",
        .default_seconds = 0.2,
        .measure = measure_oversubscribed,
        .summary = "one short critical section, more threads than CPUs",
    },
    {
        .name = "load_change",
        .unit = "%",
        .better = "higher",
        .has_floor = true,
        .uses_lock = true,
        .default_threads = sixty_four,
        .threads_allowed = is_over_two,
        .threads_words = "3 or more",
        .default_seconds = 0.24,
        .measure = measure_load_change,
        .summary = "throughput in the 10 ms after a change of load, over that later",
    },
    {
        .name = "trylock",
        .unit = "acquisitions/s",
        .better = "higher",
        .has_floor = true,
        .uses_lock = true,
        .default_threads = two,
        .threads_allowed = is_any,
        .threads_words = "any number",
        .default_seconds = 0.1,
        .measure = measure_trylock,
        .summary = "threads that call trylock without a pause",
    },
    {
        .name = "try_first",
        .unit = "acquisitions/s",
        .better = "higher",
        .has_floor = true,
        .uses_lock = true,
        .default_threads = two,
        .also_threads = {four_for_each_cpu},
        .threads_allowed = is_any,
        .threads_words = "any number",
        .default_seconds = 0.1,
        .measure = measure_try_first,
        .summary = "threads that try an error-checking mutex before they wait",
    },
    {
        .name = "trylock_hammer",
        .unit = "acquisitions/s",
        .better = "higher",
        .has_floor = true,
        .uses_lock = true,
        .default_threads = two,
        .threads_allowed = is_even,
        .threads_words = "an even number",
        .default_seconds = 0.1,
        .measure = measure_trylock_hammer,
        .summary = "threads that lock, beside as many that call trylock",
    },
    {
        .name = "condvar_ping_pong",
        .unit = "us",
        .better = "lower",
        .uses_lock = true,
        .default_threads = two,
        .threads_allowed = is_two,
        .threads_words = "2",
        .default_seconds = 0.1,
        .measure = measure_condvar_ping_pong,
        .summary = "a round trip: two signals, two wake-ups",
    },
    {
        .name = "broadcast_queue",
        .unit = "us",
        .better = "lower",
        .uses_lock = true,
        .default_threads = four,
        .threads_allowed = is_even,
        .threads_words = "an even number",
        .default_seconds = 0.1,
        .measure = measure_broadcast_queue,
        .summary = "an item through a queue of 8 that broadcasts each change",
    },
    {
        .name = "bytes_per_mutex",
        .unit = "bytes",
        .better = "lower",
        .uses_lock = true,
        .default_threads = two,
        .threads_allowed = is_any,
        .threads_words = "any number",
        .default_seconds = 5,
        .measure = measure_bytes_per_mutex,
        .summary = "resident memory of each mutex, used by all threads",
    },
    {
        .name = "create_destroy",
        .unit = "ns",
        .better = "lower",
        .has_floor = true,
        .uses_lock = true,
        .default_threads = two,
        .also_threads = {one},
        .threads_allowed = is_one_or_two,
        .threads_words = "1 (alone in the process) or 2 (the second one sleeps)",
        .default_seconds = 0.1,
        .measure = measure_create_destroy,
        .summary = "init, lock, unlock, destroy",
    },
    {
        .name = "startup",
        .unit = "ms",
        .better = "lower",
        .uses_lock = true,
        .default_threads = one,
        .threads_allowed = is_one,
        .threads_words = "1",
        .default_seconds = 0.1,
        .measure = measure_startup,
        .summary = "start `true` and wait until it ends",
    },
    {
        .name = "baton_ring",
        .unit = "handovers/s",
        .better = "higher",
        .default_threads = four_for_each_cpu,
        .also_threads = {sixteen_for_each_cpu},
        .threads_allowed = is_any,
        .threads_words = "any number",
        .default_seconds = 0.1,
        .measure = measure_baton_ring,
        .summary = "reference: parked threads pass a baton, without a lock",
    },
};

const unsigned bench_case_count = sizeof bench_cases / sizeof bench_cases[0];
