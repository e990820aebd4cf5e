/* SPDX-License-Identifier: MIT */
#include "structures/channel/shared_barrier.h"

#include "barriers/cells.h"
#include "structures/channel/waiting.h"

enum { SHARED_BARRIER_MAGIC = 0x68736231 };

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
    if ((barrier->flags & SHARED_BARRIER_PARKS) && cell_step(&barrier->bell))
        unpark_shared(&barrier->bell, INT32_MAX);
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

/* Returns whether a member that has not arrived in the phase never will: because it has
 * closed or, with `gone`, because its thread has ended. */
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
static int look(void *self)
{
    const struct member *member = self;
    if (has_ended(member))
        return 0;
    if (load_relaxed(&member->barrier->closed) && waits_in_vain(member, false))
        return has_ended(member) ? 0 : EPIPE;
    return EAGAIN;
}

/* Sleeps unless look() finds something. */
static bool sleep_once(void *self, struct wait *wait)
{
    const struct member *member = self;
    struct atomic_u32 *bell = &member->barrier->bell;
    uint32_t seen = fetch_or_acquire(bell, CELL_SLEEPERS) | CELL_SLEEPERS; /* S2 */
    if (look(self) != EAGAIN)
        return true;
    return wait_parks(wait, true, bell, seen);
}

static bool somebody_is_gone(void *self)
{
    return waits_in_vain(self, true);
}

static int spin(struct member *member)
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
static int wait_for_end(struct member *member, const struct deadline *deadline)
{
    const struct awaited end = {member, member->barrier->flags & SHARED_BARRIER_PARKS,
                                look, sleep_once, somebody_is_gone};
    int result = spin(member);
    return result == EAGAIN ? wait_for(&end, deadline) : result;
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
