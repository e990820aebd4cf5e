/* SPDX-License-Identifier: MIT */
#include "profiler/sample/sample_holds.h"

#include "profiler/sample/holders.h"
#include "profiler/sample/sample_waiters.h"
#include "profiler/threads/lock_counts.h"
#include "profiler/store/lock_registry.h"
#include "profiler/threads/recordings.h"

#include <fcntl.h>

enum {
    ASKED_MOST = 64,    /* mutexes per sample */
    INSPECTED_MOST = 4, /* holders per sample */
    LONG_NS = 10000000, /* a hold that is inspected although nobody waits */
};

/* The first fields of a pthread_mutex_t: the same for glibc and all algorithms. */
struct mutex_state {
    uint32_t word; /* 0: free */
    uint32_t count;
    uint32_t owner;
};

/* Reads through the kernel, because the memory may have been unmapped. */
static bool read_mutex(const struct trace_lock *lock, struct mutex_state *state)
{
    long memory = raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/mem",
                              O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (memory < 0)
        return false;
    long length = raw_syscall(SYS_pread64, memory, (long)state, sizeof *state,
                              (long)lock->address, 0, 0);
    raw_syscall(SYS_close, memory, 0, 0, 0, 0, 0);
    return length == (long)sizeof *state;
}

/* Returns a lower bound of when the thread's current hold began. The thread runs
 * meanwhile; the next sample corrects a torn result. */
static uint64_t since(struct recording *thread, struct record_seen *seen,
                      uint32_t depth, uint64_t now)
{
    const struct record_hold *hold = &thread->hold[depth];
    const uintptr_t key = hold->key;
    if (hold->timed)
        return hold->got;
    const uint64_t acquisitions = lock_counts_seen(thread, key);
    if (seen->key != key || seen->depth != depth || seen->acquisitions != acquisitions)
        *seen = (struct record_seen){key, acquisitions, now, depth};
    return seen->since;
}

/* Returns whether another thread holds the mutex. */
static bool waits_for(const struct recording *thread, uint32_t number)
{
    struct mutex_state state;
    const struct trace_lock *lock = number ? registry_record(number) : NULL;
    return lock && lock->kind == TRACE_MUTEX && !(lock->flags & TRACE_SHARED) &&
           read_mutex(lock, &state) && state.word && state.owner &&
           state.owner != thread->shared->tid;
}

static void withdraw(struct trace_thread *shared)
{
    if (shared->unseen_for)
        shared->unseen_for = 0;
}

/* Checks the innermost hold if it is as old as the previous check. */
static void check_for_wait(struct recording *thread, uint32_t depth, uint64_t now,
                           uint32_t *asked)
{
    struct trace_thread *shared = thread->shared;
    const uint64_t before = thread->seen_inner.since;
    const uint64_t began = since(thread, &thread->seen_inner, depth - 1, now);
    const uint32_t number = shared->held[depth - 1];
    shared->inner_since = depth > 1 ? began : 0;
    if (thread->hold[depth - 1].timed || began != before || *asked == ASKED_MOST) {
        withdraw(shared);
        return;
    }
    ++*asked;
    if (!waits_for(thread, number)) {
        withdraw(shared);
        return;
    }
    shared->unseen_since = began;
    /* For whoever reads the file meanwhile. */
    store_release((struct atomic_u32 *)(void *)&shared->unseen_for, number);
}

static void publish_stacks(const struct recording *thread, uint32_t depth)
{
    const struct record_hold *outer = &thread->hold[0],
                             *inner = &thread->hold[depth - 1];
    thread->shared->outer_stack = outer->timed ? outer->stack : 0;
    thread->shared->inner_stack = inner->timed ? inner->stack : 0;
}

void sample_holds(bool ask)
{
    const uint64_t now = ticks();
    uint32_t asked = 0;
    for (struct recording *thread = recordings_first(); thread; thread = thread->next) {
        struct trace_thread *shared = thread->shared;
        const uint32_t depth = thread->ended ? 0 : shared->depth;
        if (!depth || depth > TRACE_HELD) {
            if (shared->holding_since)
                shared->holding_since = shared->inner_since = 0;
            withdraw(shared);
            continue;
        }
        shared->holding_timed = thread->hold[0].timed;
        shared->holding_since = since(thread, &thread->seen_outer, 0, now);
        publish_stacks(thread, depth);
        if (ask && !shared->waiting_for)
            check_for_wait(thread, depth, now, &asked);
        else if (shared->waiting_for)
            withdraw(shared);
    }
}

static bool is_long(const struct trace_thread *shared, uint64_t now)
{
    const uint64_t began = shared->holding_since;
    return shared->depth && began && began < now && ticks_to_ns(now - began) >= LONG_NS;
}

void sample_long_holds(void)
{
    static uint32_t below = UINT32_MAX; /* thread number, for the next sample */
    const uint64_t now = ticks();
    uint32_t inspected = 0;
    for (struct recording *thread = recordings_first(); thread; thread = thread->next) {
        const struct trace_thread *shared = thread->shared;
        if (thread->ended || thread->thread >= below || !is_long(shared, now) ||
            sample_waiters_include(shared->held[0]))
            continue;
        if (inspected++ == INSPECTED_MOST) {
            below = thread->thread + 1;
            return;
        }
        holders_inspect(thread, 0, shared->held[0], false);
    }
    below = UINT32_MAX;
}
