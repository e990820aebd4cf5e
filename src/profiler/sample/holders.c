/* SPDX-License-Identifier: MIT */
#include "profiler/sample/holders.h"

#include "profiler/sample/blocked_stack.h"
#include "profiler/sample/executed.h"
#include "profiler/sample/futex_owner.h"
#include "profiler/sample/thread_state.h"
#include "profiler/threads/lock_counts.h"

#include <string.h>

enum { STATES_MOST = 4096, SLOTS = 2 * STATES_MOST };

SERIES(states, TRACE_HOLD_STATES, struct trace_hold_state, STATES_MOST);

static uint32_t slots[SLOTS]; /* numbers of records; only the sampler uses them */

void holders_forget(void)
{
    if (load_relaxed(&states.count)) /* otherwise the pages stay untouched */
        memset(slots, 0, sizeof slots);
    series_forget(&states);
}

static bool same(const struct trace_hold_state *a, const struct trace_hold_state *b)
{
    return a->lock == b->lock && a->state == b->state && a->on_cpu == b->on_cpu &&
           a->call == b->call && a->awaits == b->awaits && a->stack == b->stack;
}

/* Returns the record of a state, appended if necessary, or NULL. */
static struct trace_hold_state *record_of(const struct trace_hold_state *like)
{
    uint64_t hash = like->lock;
    hash = (hash ^ like->stack) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (like->awaits + like->state)) * 0x9e3779b97f4a7c15u;
    hash =
        (hash ^ ((uint64_t)(uint32_t)like->call + like->on_cpu)) * 0x9e3779b97f4a7c15u;
    for (uint32_t at = (uint32_t)(hash >> 40) % SLOTS;; at = (at + 1) % SLOTS) {
        struct trace_hold_state *record;
        if (!slots[at])
            return series_append(&states, like, &slots[at]);
        record = series_at(&states, slots[at]);
        if (same(record, like))
            return record;
    }
}

/* Identifies the thread's current hold. */
struct hold_seen {
    uintptr_t key;
    uint64_t acquisitions, got;
};

static struct hold_seen see(const struct recording *thread, uint32_t index)
{
    const struct record_hold *hold = &thread->hold[index];
    return (struct hold_seen){hold->key, lock_counts_seen(thread, hold->key),
                              hold->timed ? hold->got : 0};
}

/* Returns whether the hold lasts. */
static bool lasts(const struct recording *thread, uint32_t index, uint32_t lock,
                  const struct hold_seen *before)
{
    const struct hold_seen now = see(thread, index);
    return thread->shared->depth > index && thread->shared->held[index] == lock &&
           now.key == before->key && now.acquisitions == before->acquisitions &&
           now.got == before->got;
}

/* Returns the recorded object that a thread waits for, or 0. */
static uint32_t awaited_by(const struct trace_thread *shared,
                           const struct procfs_call *call)
{
    uint32_t lock = load_acquire((struct atomic_u32 *)(void *)&shared->waiting_for);
    if (!lock)
        lock = shared->unseen_for;
    return lock ? lock : futex_owner(call);
}

/* Describes the state. Returns false if the thread waits for the lock that it
 * publishes as held. */
static bool describe(const struct trace_thread *shared,
                     const struct thread_state *state, struct trace_hold_state *found)
{
    found->state = (uint8_t)state->letter;
    found->on_cpu = state->on_cpu;
    found->call = (int32_t)state->call.number;
    found->awaits = awaited_by(shared, &state->call);
    if (found->awaits == found->lock)
        return false;
    if (found->state != 'R' && !found->awaits && found->call != TRACE_CALL_UNKNOWN)
        found->stack =
            blocked_stack(state->call.instruction, state->call.stack_pointer);
    return true;
}

enum holder_place holders_inspect(struct recording *thread, uint32_t index,
                                  uint32_t lock, bool waited)
{
    const struct trace_thread *shared = thread->shared;
    const struct hold_seen before = see(thread, index);
    struct trace_hold_state found = {.lock = lock, .call = TRACE_CALL_UNKNOWN};
    struct thread_state state;
    if (!lasts(thread, index, lock, &before))
        return HOLDER_GONE;
    const bool known = thread_state_read(shared->tid, &state);
    if (!lasts(thread, index, lock, &before)) {
        found.state = 'R'; /* to release the lock, the thread ran meanwhile */
        found.on_cpu = true;
    } else if (!known || !describe(shared, &state, &found)) {
        return HOLDER_GONE;
    }
    struct trace_hold_state *record = record_of(&found);
    if (record && waited)
        record->waited++;
    else if (record)
        record->alone++;
    if (waited && found.on_cpu)
        executed_watch(thread, index, lock);
    return found.on_cpu ? HOLDER_ON_CPU : HOLDER_OFF_CPU;
}
