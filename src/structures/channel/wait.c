/* SPDX-License-Identifier: MIT */
/* Waiting for room or for messages: a waiter spins for as long as a sleep would cost,
 * and then sleeps if the channel's waiters park. From time to time it checks that the
 * other side's thread still exists. */
#include "structures/channel/patience.h"
#include "structures/channel/receivers.h"

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
static int sender_look(struct sender *sender)
{
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

static bool sender_sleeps(struct sender *sender, struct wait *wait)
{
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

int sender_wait(struct sender *sender, const struct deadline *deadline)
{
    int result = sender_spins(sender);
    if (result != EAGAIN)
        return result;
    struct wait wait;
    if (!wait_begins(&wait, deadline))
        return EINVAL;
    for (;;) {
        bool goes_on = sender->parks ? sender_sleeps(sender, &wait)
                                     : spinner_spin(&wait.spinner, wait.until);
        bool dead = !goes_on && thread_is_gone(&sender->channel->receiver);
        bool late = !goes_on && !dead && !wait_goes_on(&wait);
        result = sender_look(sender);
        if (result != EAGAIN)
            return result;
        if (dead || late)
            return dead ? EOWNERDEAD : ETIMEDOUT;
    }
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

/* Returns the index of a channel whose sender's thread has ended, or NO_RECEIVER. */
static uint32_t receivers_dead(const struct receivers *set, const uint64_t *subset)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (takes_part(set, subset, i) && thread_is_gone(&set->all[i]->channel->sender))
            return i;
    return NO_RECEIVER;
}

static struct receiver *first_of(const struct receivers *set, const uint64_t *subset)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (takes_part(set, subset, i))
            return set->all[i];
    return NULL;
}

static struct atomic_u32 *bell_of(const struct receiver *receiver)
{
    struct channel *channel = receiver->channel;
    if (!channel->bell)
        return &channel->bells[0];
    return (struct atomic_u32 *)(void *)((char *)channel + channel->bell);
}

/* Sleeps, unless a message arrives meanwhile. Returns as wait_sleeps(). */
static bool receivers_sleep(const struct receivers *set, const uint64_t *subset,
                            struct wait *wait, const struct receiver *first)
{
    uint32_t from;
    struct atomic_u32 *bell = bell_of(first);
    uint32_t seen = load_relaxed(bell);
    bool may_sleep = receivers_announce(set, subset);
    if (receivers_look(set, subset, &from) != EAGAIN)
        return true;
    return may_sleep ? wait_sleeps(wait, first->channel, bell, seen)
                     : spinner_spin(&wait->spinner, wait->until);
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
    struct receiver *first = first_of(set, subset);
    *from = NO_RECEIVER;
    if (!first)
        return EINVAL;
    int result = receivers_spin(set, subset, from);
    if (result != EAGAIN)
        return result;
    struct wait wait;
    if (!wait_begins(&wait, deadline))
        return EINVAL;
    for (;;) {
        bool goes_on = first->parks ? receivers_sleep(set, subset, &wait, first)
                                    : spinner_spin(&wait.spinner, wait.until);
        uint32_t dead = goes_on ? NO_RECEIVER : receivers_dead(set, subset);
        bool late = !goes_on && dead == NO_RECEIVER && !wait_goes_on(&wait);
        result = receivers_look(set, subset, from);
        if (result != EAGAIN)
            return result;
        if (dead != NO_RECEIVER) {
            *from = dead;
            return EOWNERDEAD;
        }
        if (late)
            return ETIMEDOUT;
    }
}

int receiver_wait(struct receiver *receiver, const struct deadline *deadline)
{
    receiver_pointer all[1] = {receiver};
    struct receivers set = {all, 1, 0};
    uint32_t from;
    return receivers_wait(&set, NULL, &from, deadline);
}
