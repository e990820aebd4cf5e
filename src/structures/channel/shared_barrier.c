/* SPDX-License-Identifier: MIT */
#include "structures/channel/shared_barrier.h"

#include "structures/channel/patience.h"

enum { SHARED_BARRIER_MAGIC = 0x68736231, BELL_SLEEPERS = 1 };

size_t shared_barrier_size(uint32_t members)
{
    if (members == 0 || members > SHARED_BARRIER_MOST)
        return 0;
    return sizeof(struct shared_barrier) + members * sizeof(struct member_place);
}

int shared_barrier_init(struct shared_barrier *barrier, uint32_t members,
                        uint32_t flags)
{
    const size_t size = shared_barrier_size(members);
    if (!size || (flags & ~(uint32_t)SHARED_BARRIER_PARKS) ||
        (uintptr_t)barrier % __alignof__(struct shared_barrier))
        return EINVAL;
    memset((void *)barrier, 0, size);
    barrier->members = members;
    barrier->flags = flags;
    barrier->magic = SHARED_BARRIER_MAGIC;
    return 0;
}

int member_open(struct member *member, struct shared_barrier *barrier)
{
    if (barrier->magic != SHARED_BARRIER_MAGIC)
        return EINVAL;
    for (uint32_t i = 0; i < barrier->members; i++)
        if (name_this_thread(&member_places(barrier)[i].name)) {
            *member = (struct member){.barrier = barrier, .index = i, .phase = 1};
            return 0;
        }
    return EBUSY;
}

/* Advances the bell, and wakes all sleepers (S2). */
static void ring(struct shared_barrier *barrier)
{
    struct atomic_u32 *bell = &barrier->bell;
    uint32_t was = load_relaxed(bell);
    if (!(barrier->flags & SHARED_BARRIER_PARKS))
        return;
    while (!compare_exchange_release(bell, &was, (was | BELL_SLEEPERS) + 1)) {
    }
    if (was & BELL_SLEEPERS)
        unpark_shared(bell, INT32_MAX);
}

void member_close(struct member *member)
{
    struct shared_barrier *barrier = member->barrier;
    store_release(&member_places(barrier)[member->index].closed, 1); /* S3 */
    fetch_add_relaxed(&barrier->closed, 1);
    ring(barrier);
}

/* Arrives. Returns whether the caller is the last one of the phase, which ends it. */
static bool arrive(struct member *member)
{
    struct shared_barrier *barrier = member->barrier;
    store_relaxed(&member_places(barrier)[member->index].arrived, member->phase);
    if (fetch_add_acq_rel(&barrier->arrivals, 1) != barrier->members - 1)
        return false;
    store_relaxed(&barrier->arrivals, 0);
    store_release(&barrier->rounds, member->phase);
    ring(barrier);
    return true;
}

/* The member's phase is complete. */
static bool has_ended(const struct member *member)
{
    return load_acquire(&member->barrier->rounds) == member->phase;
}

/* Whether somebody who is closed, or `gone`, will never arrive in the phase. */
static bool waits_in_vain(const struct member *member, bool gone)
{
    struct shared_barrier *barrier = member->barrier;
    for (uint32_t i = 0; i < barrier->members; i++) {
        struct member_place *place = &member_places(barrier)[i];
        bool ended = gone ? thread_is_gone(&place->name) : load_acquire(&place->closed);
        if (ended && load_relaxed(&place->arrived) != member->phase)
            return true;
    }
    return false;
}

/* Returns 0 if the phase is complete, EPIPE if it never will be, else EAGAIN. */
static int look(const struct member *member)
{
    if (has_ended(member))
        return 0;
    if (load_relaxed(&member->barrier->closed) && waits_in_vain(member, false))
        return has_ended(member) ? 0 : EPIPE;
    return EAGAIN;
}

/* Sleeps unless there is something to see. Returns as wait_parks(). */
static bool sleep_once(const struct member *member, const struct wait *wait)
{
    struct atomic_u32 *bell = &member->barrier->bell;
    uint32_t seen = fetch_or_acquire(bell, BELL_SLEEPERS) | BELL_SLEEPERS; /* S2 */
    if (look(member) != EAGAIN)
        return true;
    return wait_parks(wait, true, bell, seen);
}

static int spin(const struct member *member)
{
    const struct shared_barrier *barrier = member->barrier;
    const bool crowded =
        barrier->flags & SHARED_BARRIER_PARKS && barrier->members > cpu_count();
    for (uint32_t left = crowded ? 0 : spin_limit(); left; left -= relax_at_most(left))
        if (has_ended(member))
            return 0;
    return look(member);
}

/* Waits for the end of the phase in which the member has arrived. */
static int wait_for_end(const struct member *member, const struct deadline *deadline)
{
    int result = spin(member);
    if (result != EAGAIN)
        return result;
    struct wait wait;
    if (!wait_begins(&wait, deadline))
        return EINVAL;
    for (;;) {
        bool goes_on = member->barrier->flags & SHARED_BARRIER_PARKS
                           ? sleep_once(member, &wait)
                           : spinner_spin(&wait.spinner, wait.until);
        bool dead = !goes_on && waits_in_vain(member, true);
        bool late = !goes_on && !dead && !wait_goes_on(&wait);
        result = look(member);
        if (result != EAGAIN)
            return result;
        if (dead || late)
            return dead ? EOWNERDEAD : ETIMEDOUT;
    }
}

int member_wait(struct member *member, const struct deadline *deadline)
{
    if (!member->waits)
        member->waits = !arrive(member);
    int result = member->waits ? wait_for_end(member, deadline) : 0;
    if (result)
        return result;
    member->waits = false;
    member->phase++;
    return 0;
}
