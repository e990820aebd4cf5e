/* SPDX-License-Identifier: MIT */
#include "simulator/thread.h"
#include "simulator/memory.h"

struct thread *running;
struct thread *thread_table;
uint16_t core_of_thread[THREADS_MAX];
unsigned thread_count;
uint64_t time_outside = 1000000; /* not 0, which locks may take for "never" */
uint64_t run_started;
uint64_t progress_at;

void threads_prepare(unsigned count)
{
    if (!thread_table)
        thread_table = memory_host_table(THREADS_MAX * sizeof *thread_table);
    if (count >= MANY_THREADS)
        memory_use_huge_pages(thread_table, count * sizeof *thread_table);
    thread_count = count;
}

struct yielding yielding_of(const struct thread *thread, uint64_t time)
{
    if (!thread->yields_at || time < thread->yields_at)
        return (struct yielding){0, time - thread->since, 0};
    const uint64_t since = time - thread->yields_at, one = thread->yield_cycles;
    const uint64_t into = since % thread->yields_every;
    const uint64_t before = since / thread->yields_every * one;
    if (into >= one)
        return (struct yielding){before + one, into - one, 0};
    const uint64_t left = one - into;
    return (struct yielding){before + into, 0,
                             left > thread->reload_cycles ? left - thread->reload_cycles
                                                          : left};
}

uint64_t next_yield(const struct thread *thread, uint64_t time)
{
    const uint64_t first = thread->yields_at, every = thread->yields_every;
    return time < first ? first : first + ((time - first) / every + 1) * every;
}

void set_timeout(struct thread *thread, uint64_t time)
{
    thread->timeout_at = time;
    if (time < thread->timeout_due) {
        thread->timeout_due = time;
        event_push(time, EVENT_TIMEOUT, thread->index);
    }
}
