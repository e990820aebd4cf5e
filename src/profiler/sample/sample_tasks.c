/* SPDX-License-Identifier: MIT */
#include "profiler/sample/sample_tasks.h"

#include "profiler/sample/blocked_stack.h"
#include "profiler/sample/futex_owner.h"
#include "profiler/sample/thread_state.h"
#include "profiler/threads/recordings.h"

#include <string.h>
#include <sys/syscall.h>

enum {
    TASKS = 24,        /* inspected in a sample */
    WAITS_MOST = 2048, /* different stacks */
    KNOWN = 1024,      /* threads whose CPU time is remembered */
};

SERIES(waits, TRACE_FOREIGN_WAITS, struct trace_foreign_wait, WAITS_MOST);

static uint32_t numbers[WAITS_MOST * 2]; /* of records, by stack */

/* The CPU times of threads when they were last inspected. */
static struct known {
    uint32_t tid;
    uint64_t cpu_ns;
} known[KNOWN];

static uint32_t skipped; /* tasks, in the next sample */
static uint32_t all;     /* threads, at the end of the latest round */
static bool brief;       /* in the latest sample, a thread waited that had run before */

void sample_tasks_forget(void)
{
    if (load_relaxed(&waits.count)) { /* otherwise the pages stay untouched */
        memset(numbers, 0, sizeof numbers);
        memset(known, 0, sizeof known);
    }
    skipped = 0;
    series_forget(&waits);
}

static struct trace_foreign_wait *record_of(uint32_t stack)
{
    enum { SLOTS = WAITS_MOST * 2 };
    const struct trace_foreign_wait new = {.stack = stack};
    for (uint32_t at = stack * 2654435761u % SLOTS;; at = (at + 1) % SLOTS) {
        if (!numbers[at])
            return series_append(&waits, &new, &numbers[at]);
        struct trace_foreign_wait *record = series_at(&waits, numbers[at]);
        if (record->stack == stack)
            return record;
    }
}

/* Returns whether the thread has run since it was last inspected. */
static bool has_run(uint32_t tid)
{
    struct known *last = &known[tid % KNOWN];
    const uint64_t cpu_ns = thread_cpu_ns(tid);
    const bool ran = last->tid == tid && last->cpu_ns != cpu_ns;
    *last = (struct known){tid, cpu_ns};
    return ran;
}

/* Returns whether the thread waits for the end of another one: the futex that
 * pthread_join waits for contains that thread's id. */
static bool joins(const struct procfs_call *call)
{
    const uint32_t awaited = (uint32_t)call->argument[2];
    return awaited > 2 && procfs_state(awaited);
}

static void inspect_blocked(uint32_t tid, const struct procfs_call *call)
{
    if (call->number != SYS_futex || futex_owner(call) || joins(call))
        return;
    struct trace_foreign_wait *record =
        record_of(blocked_stack(call->instruction, call->stack_pointer));
    if (!record)
        return;
    record->samples++;
    if (has_run(tid)) {
        record->brief++;
        brief = true;
    }
}

/* Clears the ids of the threads that wait for a recorded object, which need no closer
 * inspection. */
static void mark_waiting(uint32_t *tids, bool *waiting, uint32_t count)
{
    for (struct recording *thread = recordings_first(); thread; thread = thread->next) {
        const struct trace_thread *shared = thread->shared;
        if (thread->ended || !(shared->waiting_for || shared->unseen_for))
            continue;
        for (uint32_t i = 0; i < count; i++)
            waiting[i] |= tids[i] == shared->tid;
    }
}

/* Inspects one thread. Returns whether it is running or ready. */
static bool inspect(uint32_t tid, bool waits_for_object)
{
    struct procfs_call call;
    bool readable;
    const char letter = procfs_state(tid);
    if (letter == 'R')
        return true;
    if (!letter || waits_for_object)
        return false;
    if (procfs_call(tid, &call, &readable))
        inspect_blocked(tid, &call);
    else if (!readable && procfs_state(tid))
        trace->unread |= TRACE_NO_CALLS;
    return false;
}

uint32_t sample_tasks(void)
{
    uint32_t tids[TASKS], inspected = 0, running = 0;
    bool waiting[TASKS] = {false};
    brief = false;
    const uint32_t count = procfs_tasks(tids, TASKS, skipped);
    mark_waiting(tids, waiting, count);
    for (uint32_t i = 0; i < count; i++) {
        if (tids[i] == current_thread())
            continue;
        inspected++;
        running += inspect(tids[i], waiting[i]);
    }
    if (skipped + count > all)
        all = skipped + count;
    if (count < TASKS)
        all = skipped + count;
    skipped = count == TASKS ? skipped + TASKS : 0;
    trace->tasks_inspected += inspected;
    if (!inspected)
        return 0;
    return (running * (all > 1 ? all - 1 : 1) + inspected / 2) / inspected;
}

bool sample_tasks_often(void)
{
    enum { FEW = 10 }; /* threads, so that inspecting them takes some 50 us */
    if (!all || all > FEW)
        return false;
    sample_tasks();
    return brief;
}
