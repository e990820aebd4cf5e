/* SPDX-License-Identifier: MIT */
/* Waiting for room or for messages: a waiter spins for as long as a sleep would cost,
 * and then sleeps if the channel's waiters park. From time to time it checks that the
 * other side's thread still exists. */
#include "structures/channel/receivers.h"
#include "structures/channel/waiting.h"

static bool wait_sleeps(const struct wait *wait, const struct channel *channel,
                        struct atomic_u32 *bell, uint32_t seen)
{
    return wait_parks(wait, channel->flags & CHANNEL_SHARED, bell, seen);
}

/* Returns whether the receiver has taken a message since the last sender_refill(). */
static bool sender_gains(struct sender *sender)
{
    uint32_t limit = sender->limit;
    sender_refill(sender);
    return sender->limit != limit;
}

/* Returns 0 if there is room, EPIPE if there never will be, else EAGAIN. */
static int sender_look(void *self)
{
    struct sender *sender = self;
    if (sender_gains(sender))
        return 0;
    bool closed = load_relaxed(&sender->channel->attention) & RECEIVER_CLOSED;
    return closed ? EPIPE : EAGAIN;
}

/* The barrier of a side that is about to sleep (C3). Returns false if it must not. */
static bool sleeper_barrier(bool fences)
{
    if (!fences)
        return heavy_barrier();
    fence_seq_cst();
    return true;
}

static bool sender_sleeps(void *self, struct wait *wait)
{
    struct sender *sender = self;
    struct channel *channel = sender->channel;
    struct atomic_u32 *bell = &channel->bells[1];
    uint32_t seen = load_relaxed(bell);
    uint32_t limit = sender->limit;
    fetch_or_release(&channel->attention, SENDER_ASLEEP);
    bool may_sleep = sleeper_barrier(sender->fences);
    int result = sender_look(sender);
    sender->limit = limit;
    if (result != EAGAIN)
        return true;
    return may_sleep ? wait_sleeps(wait, channel, bell, seen)
                     : spinner_spin(&wait->spinner, wait->until);
}

/* Spins for as long as a sleep would cost. Returns as sender_look(). */
static int sender_spins(struct sender *sender)
{
    for (uint32_t left = spin_limit(); left; left -= relax_at_most(left))
        if (sender_gains(sender))
            return 0;
    return sender_look(sender);
}

static bool sender_is_lost(void *self)
{
    return thread_is_gone(&((struct sender *)self)->channel->receiver);
}

int sender_wait(struct sender *sender, const struct deadline *deadline)
{
    const struct awaited room = {sender, sender->parks, sender_look, sender_sleeps,
                                 sender_is_lost};
    int result = sender_spins(sender);
    return result == EAGAIN ? wait_for(&room, deadline) : result;
}

static bool takes_part(const struct receivers *set, const uint64_t *subset,
                       uint32_t index)
{
    return set->all[index] && in_subset(subset, index);
}

/* Returns 0 if a channel has a message, EPIPE if one has ended, EAGAIN if neither. */
static int receivers_look(const struct receivers *set, const uint64_t *subset,
                          uint32_t *from)
{
    *from = receivers_ready(set, subset);
    if (*from != NO_RECEIVER)
        return 0;
    for (uint32_t i = 0; i < set->count; i++)
        if (takes_part(set, subset, i)) {
            bool closed =
                load_acquire(&set->all[i]->channel->attention) & SENDER_CLOSED;
            if (!closed)
                continue;
            *from = i;
            return receiver_peek(set->all[i]) ? 0 : EPIPE;
        }
    return EAGAIN;
}

/* Announces the sleep in each channel. Returns false if the caller must not sleep. */
static bool receivers_announce(const struct receivers *set, const uint64_t *subset)
{
    bool fences = true;
    for (uint32_t i = 0; i < set->count; i++)
        if (takes_part(set, subset, i)) {
            fetch_or_release(&set->all[i]->channel->attention, RECEIVER_ASLEEP);
            fences &= set->all[i]->fences;
        }
    return sleeper_barrier(fences);
}

static struct receiver *first_of(const struct receivers *set, const uint64_t *subset)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (takes_part(set, subset, i))
            return set->all[i];
    return NULL;
}

/* A wait for a message from any of a set. */
struct any_message {
    const struct receivers *set;
    const uint64_t *subset;
    const struct receiver *first; /* of those that take part */
    uint32_t from, lost; /* the channel that was found; whose sender has ended */
};

static int look_at_all(void *self)
{
    struct any_message *any = self;
    return receivers_look(any->set, any->subset, &any->from);
}

/* Sleeps, unless a message arrives meanwhile. */
static bool sleep_for_all(void *self, struct wait *wait)
{
    const struct any_message *any = self;
    struct channel *channel = any->first->channel;
    struct atomic_u32 *bell = channel_bell(channel);
    uint32_t seen = load_relaxed(bell);
    bool may_sleep = receivers_announce(any->set, any->subset);
    if (look_at_all(self) != EAGAIN)
        return true;
    return may_sleep ? wait_sleeps(wait, channel, bell, seen)
                     : spinner_spin(&wait->spinner, wait->until);
}

/* Whether the thread of a sender has ended. */
static bool one_is_lost(void *self)
{
    struct any_message *any = self;
    const struct receivers *set = any->set;
    for (uint32_t i = 0; i < set->count; i++)
        if (takes_part(set, any->subset, i) &&
            thread_is_gone(&set->all[i]->channel->sender)) {
            any->lost = i;
            return true;
        }
    return false;
}

static int receivers_spin(const struct receivers *set, const uint64_t *subset,
                          uint32_t *from)
{
    for (uint32_t left = spin_limit(); left; left -= relax_at_most(left)) {
        *from = receivers_ready(set, subset);
        if (*from != NO_RECEIVER)
            return 0;
    }
    return receivers_look(set, subset, from);
}

int receivers_wait(struct receivers *set, const uint64_t *subset, uint32_t *from,
                   const struct deadline *deadline)
{
    const struct receiver *first = first_of(set, subset);
    *from = NO_RECEIVER;
    if (!first)
        return EINVAL;
    int result = receivers_spin(set, subset, from);
    if (result != EAGAIN)
        return result;
    struct any_message any = {set, subset, first, NO_RECEIVER, NO_RECEIVER};
    const struct awaited message = {&any, first->parks, look_at_all, sleep_for_all,
                                    one_is_lost};
    result = wait_for(&message, deadline);
    *from = result == EOWNERDEAD ? any.lost : any.from;
    return result;
}

int receiver_wait(struct receiver *receiver, const struct deadline *deadline)
{
    receiver_pointer all[1] = {receiver};
    struct receivers set = {all, 1, 0};
    uint32_t from;
    return receivers_wait(&set, NULL, &from, deadline);
}
