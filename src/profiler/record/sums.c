/* SPDX-License-Identifier: MIT */
#include "profiler/record/sums.h"

#include "profiler/threads/overhead.h"
#include "profiler/threads/preemption.h"

/* One in so many short holds is added to the stack profile, and every long one. With
 * many locks, each addition would access a different line of the file. */
enum { HOLDS_WEIGHED = 8 };

static void add_to_profile(struct recording *me, const struct record_hold *hold,
                           uint64_t held)
{
    uint64_t weight = hold->weight;
    if (held <= preemption_long_ticks) {
        if (me->random % HOLDS_WEIGHED != 0)
            return;
        weight *= HOLDS_WEIGHED;
    }
    stack_profile_add_hold(me->weight, hold->lock, hold->stack, weight, held * weight);
}

static void most(uint64_t *seen, uint64_t value)
{
    if (value > *seen)
        *seen = value;
}

void sum_wait(struct recording *me, const struct record_hold *hold)
{
    struct trace_site_stats *use = hold->use;
    uint64_t waited = hold->got - hold->asked;
    me->shared->wait_ticks += waited;
    me->shared->timed++;
    use->wait_ticks += waited;
    most(&use->wait_most, waited);
    use->wait.bucket[trace_bucket(waited)]++;
    if (hold->count)
        hold->count->wait_ticks += waited;
    if (hold->handover) {
        use->handovers++;
        use->handover_ticks += hold->handover;
        most(&use->handover_most, hold->handover);
        use->handover.bucket[trace_bucket(hold->handover)]++;
    }
    stack_profile_add_wait(me->weight, hold->lock, hold->stack, waited);
}

uint64_t hold_duration(const struct record_release *release)
{
    return calibrated_ticks(release->released - release->hold.got,
                            calibrated.hold_ticks);
}

/* Handles an acquisition that looked free but took long: another thread was faster, or
 * the lock was in a handover. That may recur, so the next acquisitions are inspected
 * more closely. The acquisitions that it represents were made since the last timed
 * one. */
static void sum_unseen(struct recording *me, const struct record_hold *hold)
{
    const uint64_t waited = hold->got - hold->asked;
    if (waited < RECORD_AT_ONCE) {
        hold->use->taking_ticks += waited;
        return;
    }
    record_here.careful = RECORD_CAREFUL;
    const uint64_t others = waited * (hold->weight - 1);
    const uint64_t since = sum_since_sampled(me, hold);
    const bool fits = others <= since;
    hold->use->unseen_waits += fits ? hold->weight : 1 + since / waited;
    hold->use->unseen_wait_ticks += waited + (fits ? others : since);
}

void sum_hold(struct recording *me, const struct record_release *release)
{
    const struct record_hold *hold = &release->hold;
    struct trace_site_stats *use = hold->use;
    const uint64_t held = hold_duration(release), weight = hold->weight;
    me->shared->timed += !hold->contended;
    if (hold->sampled)
        sum_unseen(me, hold);
    use->timed++;
    use->hold_ticks += held * weight;
    most(&use->hold_most, held);
    use->hold.bucket[trace_bucket(held)] += hold->weight;
    use->owner_changes += release->owner_changed ? weight : 0;
    use->node_changes += release->node_changed ? weight : 0;
    add_to_profile(me, hold, held);
    if (hold->count) {
        hold->count->timed++;
        hold->count->hold_ticks += held * weight;
        hold->count->owner_changes += release->owner_changed ? hold->weight : 0;
        hold->count->node_changes += release->node_changed ? hold->weight : 0;
    }
}

uint64_t sum_since_sampled(const struct recording *me, const struct record_hold *hold)
{
    return hold->asked > me->timed_until ? hold->asked - me->timed_until : 0;
}

/* Overlapping sections, as in hand-over-hand locking, count once. The sections that
 * this one represents were made since the last timed one. */
void sum_section(struct recording *me, const struct record_hold *hold, uint64_t now)
{
    uint64_t from = hold->asked;
    if (from < me->section_ended)
        from = me->section_ended;
    uint64_t took = calibrated_ticks(now - from, calibrated.section_ticks);
    uint64_t others = took * (hold->weight - 1);
    uint64_t since = sum_since_sampled(me, hold);
    me->shared->section_ticks += took + (others < since ? others : since);
    me->section_ended = now;
}
