/* SPDX-License-Identifier: MIT */
#include "structures/channel/channel.h"

enum { CHANNEL_MAGIC = 0x68636831, SLOTS_LEAST = 2, QUANTA = 4 };

static bool are_slots(uint32_t slots)
{
    return slots >= SLOTS_LEAST && slots <= CHANNEL_SLOTS_MOST &&
           !(slots & (slots - 1));
}

size_t channel_size(uint32_t slots)
{
    return are_slots(slots)
               ? sizeof(struct channel) + (size_t)slots * sizeof(struct message_line)
               : 0;
}

int channel_init(struct channel *channel, uint32_t slots, uint32_t flags)
{
    const uint32_t known =
        CHANNEL_PARKS | CHANNEL_SHARED | CHANNEL_EAGER | CHANNEL_RING | CHANNEL_FENCED;
    if (!are_slots(slots) || (flags & ~known) ||
        (uintptr_t)channel % __alignof__(struct channel))
        return EINVAL;
    /* The sender of a ring clears each line before the receiver looks at it. */
    memset((void *)channel, 0,
           channel_size(flags & CHANNEL_RING ? SLOTS_LEAST : slots));
    bool eager = (flags & CHANNEL_EAGER) || slots < QUANTA;
    channel->mask = slots - 1;
    channel->flags = flags;
    channel->quantum = eager ? 1 : slots / QUANTA;
    channel->magic = CHANNEL_MAGIC;
    return 0;
}

static bool needs_fences(const struct channel *channel)
{
    return (channel->flags & CHANNEL_PARKS) &&
           (channel->flags & (CHANNEL_SHARED | CHANNEL_FENCED));
}

/* Makes the calling thread the owner of one side. */
static int claim(struct channel *channel, struct thread_name *owner, uint32_t kind)
{
    if (channel->magic != CHANNEL_MAGIC || (channel->flags & CHANNEL_RING) != kind)
        return EINVAL;
    return name_this_thread(owner) ? 0 : EBUSY;
}

int sender_open_as(struct sender *sender, struct channel *channel, uint32_t kind)
{
    int result = claim(channel, &channel->sender, kind);
    if (result)
        return result;
    sender->channel = channel;
    sender->lines = channel_lines(channel);
    sender->mask = channel->mask;
    sender_move(sender, 0);
    sender->limit = channel->mask + 1;
    sender->parks = channel->flags & CHANNEL_PARKS;
    sender->fences = needs_fences(channel);
    return 0;
}

int sender_open(struct sender *sender, struct channel *channel)
{
    return sender_open_as(sender, channel, 0);
}

int receiver_open_as(struct receiver *receiver, struct channel *channel,
                     struct atomic_u32 *bell, uint32_t kind)
{
    int result = claim(channel, &channel->receiver, kind);
    if (result)
        return result;
    /* The sender reads it after it has read RECEIVER_ASLEEP. */
    channel->bell = bell ? (char *)bell - (char *)channel : 0;
    receiver->channel = channel;
    receiver->lines = channel_lines(channel);
    receiver->mask = channel->mask;
    receiver->quantum = channel->quantum;
    receiver_move(receiver, 0);
    receiver->parks = channel->flags & CHANNEL_PARKS;
    receiver->fences = needs_fences(channel);
    return 0;
}

int receiver_open(struct receiver *receiver, struct channel *channel,
                  struct atomic_u32 *bell)
{
    return receiver_open_as(receiver, channel, bell, 0);
}

static void ring(const struct channel *channel, struct atomic_u32 *bell)
{
    fetch_add_relaxed(bell, 1);
    if (channel->flags & CHANNEL_SHARED)
        unpark_shared(bell, 1);
    else
        unpark(bell, 1);
}

/* Clears a bit; returns whether it was set. Pairs with the release of C4. */
static bool take_bit(struct channel *channel, uint32_t bit)
{
    return fetch_and_acquire(&channel->attention, ~bit) & bit;
}

void channel_wake_receiver(struct channel *channel)
{
    if (take_bit(channel, RECEIVER_ASLEEP))
        ring(channel, channel_bell(channel));
}

void channel_wake_sender(struct channel *channel)
{
    if (take_bit(channel, SENDER_ASLEEP))
        ring(channel, &channel->bells[1]);
}

void sender_close(struct sender *sender)
{
    struct channel *channel = sender->channel;
    if (fetch_or_release(&channel->attention, SENDER_CLOSED) & RECEIVER_ASLEEP)
        channel_wake_receiver(channel);
}

void receiver_close(struct receiver *receiver)
{
    struct channel *channel = receiver->channel;
    if (fetch_or_relaxed(&channel->attention, RECEIVER_CLOSED) & SENDER_ASLEEP)
        channel_wake_sender(channel);
}

int sender_peer(const struct sender *sender)
{
    struct channel *channel = sender->channel;
    if (load_relaxed(&channel->attention) & RECEIVER_CLOSED)
        return EPIPE;
    return thread_is_gone(&channel->receiver) ? EOWNERDEAD : 0;
}

int receiver_peer(const struct receiver *receiver)
{
    struct channel *channel = receiver->channel;
    if (load_relaxed(&channel->attention) & SENDER_CLOSED)
        return EPIPE;
    return thread_is_gone(&channel->sender) ? EOWNERDEAD : 0;
}
