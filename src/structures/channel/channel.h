/* SPDX-License-Identifier: MIT */
/*
 * Channels: messages from one sender to one receiver, each in a cache line of its own.
 * The flag that a line is full is in the line, as in David, Guerraoui, Trigonakis,
 * "Everything you always wanted to know about synchronization but were afraid to ask",
 * SOSP 2013, section 6.2, and in J. Giacomoni, T. Moseley, M. Vachharajani,
 * "FastForward for efficient pipeline parallelism", PPoPP 2008.
 *
 * Idea: messages are numbered, and a line's header holds the number of its message, so
 * the receiver need not write to a line in order to empty it. It announces from time to
 * time how many messages it has taken; the sender reads that only when it has used up
 * all lines that it knows to be free. A message therefore costs the two transfers of
 * its line, the sender does not wait for the first one, and several lines are on their
 * way at the same time.
 *
 *   header     number of the message, and below it its length and flags
 *   taken      number of messages taken, published after each quantum
 *   attention  bits that the other side has to act on: asleep, closed. Rarely written,
 *              so that both sides find it in their caches
 *   bell       a counter on which a side sleeps, and which the other side advances
 *
 * C1. A header's store (release) pairs with its load by the receiver (acquire): the
 *     message is complete.
 * C2. The store of `taken` (release) pairs with its load by the sender (acquire): the
 *     receiver no longer reads the lines that the sender fills again.
 * C3. Before a side sleeps, it sets its bit in `attention`, executes a barrier, looks
 *     again; the other side stores, executes a barrier, reads `attention`. At least
 *     one of them sees the store of the other. The sleeper's barrier is a heavy one and
 *     the other side's is light, so that a message costs no fence; with CHANNEL_FENCED,
 *     both are fences. The side sets the bit before each sleep: that it reads it as
 *     set does not mean that it still is.
 * C4. A sleeper reads its bell before it sets its bit (release). The other side
 *     advances the bell after it has cleared the bit (acquire), so the sleeper cannot
 *     have read the advanced bell.
 * C5. The sender sets its closed bit (release) after its last message. A receiver that
 *     reads the bit (acquire) and then finds no message has received them all.
 *
 * Only channels whose waiters sleep (CHANNEL_PARKS) need the barriers of C3. If a heavy
 * one fails, since a sandbox has forbidden it after the channel was made, the waiter
 * spins. The memory is position-independent: processes may map it at different
 * addresses.
 */
#ifndef HASP_STRUCTURES_CHANNEL_CHANNEL_H
#define HASP_STRUCTURES_CHANNEL_CHANNEL_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "platform/platform.h"

enum { MESSAGE_LINE = 64, MESSAGE_BYTES = 56, CHANNEL_SLOTS_MOST = 1 << 20 };

/* How often a receiver looks for a message before it calls the library to wait: the
 * time of some round trips. */
enum { SPINS_INLINE = MODEL_CHECKED ? 1 : 32 };

/* Flags of a channel. */
enum {
    CHANNEL_PARKS = 1,   /* waiters spin, then sleep */
    CHANNEL_SHARED = 2,  /* by several processes */
    CHANNEL_EAGER = 4,   /* every message that is taken is announced */
    CHANNEL_RING = 8,    /* messages of many lines: ring.h */
    CHANNEL_FENCED = 16, /* do without heavy barriers; implied by CHANNEL_SHARED */
};

/* Bits of `attention`. */
enum {
    RECEIVER_ASLEEP = 1,
    SENDER_ASLEEP = 2,
    RECEIVER_CLOSED = 4,
    SENDER_CLOSED = 8,
};

/* Flags of a message, in its header. */
enum { MESSAGE_LENGTH = 0xffff, MESSAGE_MORE = 1 << 16, MESSAGE_LARGE = 1 << 17 };

struct message_line {
    unsigned char data[MESSAGE_BYTES]; /* comes first to be aligned */
    struct atomic_u64 header;
} __attribute__((aligned(MESSAGE_LINE)));

struct channel {
    uint32_t magic, mask, flags, quantum;
    int64_t bell; /* the receiver's, as a distance from the channel; 0: its own */
    struct atomic_u32 attention;
    struct atomic_u32 bells[2]; /* of the receiver, of the sender */
    struct thread_name receiver, sender;
    struct atomic_u32 taken __attribute__((aligned(CACHE_LINE)));
} __attribute__((aligned(CACHE_LINE)));

/* The sender's side. Only its thread uses it. `next` is the line at the position,
 * computed beforehand, so that the store of an answer has its address at once. */
struct sender {
    struct channel *channel;
    struct message_line *lines, *next;
    uint32_t mask, position, limit; /* limit: the first position that may be in use */
    bool parks, fences;
};

/* The receiver's side. Only its thread uses it. */
struct receiver {
    struct channel *channel;
    struct message_line *lines, *next;
    uint32_t mask, position, quantum;
    bool parks, fences;
};

size_t channel_size(uint32_t slots);
int channel_init(struct channel *channel, uint32_t slots, uint32_t flags);

/* Returns the flags, with CHANNEL_FENCED unless heavy barriers work in this process. */
uint32_t channel_flags_here(uint32_t flags);

/* Both return 0, EINVAL for memory that holds no channel, or EBUSY if the channel has
 * or had another sender or receiver. `bell`: NULL, or one in the same mapping, on which
 * the receiver sleeps. */
int sender_open(struct sender *sender, struct channel *channel);
int receiver_open(struct receiver *receiver, struct channel *channel,
                  struct atomic_u32 *bell);
/* The same for a channel (`kind` 0) or a ring (CHANNEL_RING). */
int sender_open_as(struct sender *sender, struct channel *channel, uint32_t kind);
int receiver_open_as(struct receiver *receiver, struct channel *channel,
                     struct atomic_u32 *bell, uint32_t kind);
void sender_close(struct sender *sender);
void receiver_close(struct receiver *receiver);

/* These wait until a line is free, or until the channel has a message. They return 0,
 * EPIPE once the other side has closed, EOWNERDEAD if its thread has ended without
 * closing, ETIMEDOUT, or EINVAL for another clock or nanoseconds out of range.
 * `deadline`: NULL, or by CLOCK_MONOTONIC or CLOCK_REALTIME. */
int sender_wait(struct sender *sender, const struct deadline *deadline);
int receiver_wait(struct receiver *receiver, const struct deadline *deadline);

/* Return 0, EPIPE or EOWNERDEAD. */
int sender_peer(const struct sender *sender);
int receiver_peer(const struct receiver *receiver);

/* Wake the other side. */
void channel_wake_receiver(struct channel *channel);
void channel_wake_sender(struct channel *channel);

static inline struct message_line *channel_lines(struct channel *channel)
{
    return (struct message_line *)(void *)(channel + 1);
}

/* Returns what the receiver sleeps on. */
static inline struct atomic_u32 *channel_bell(struct channel *channel)
{
    if (!channel->bell)
        return &channel->bells[0];
    return (struct atomic_u32 *)(void *)((char *)channel + channel->bell);
}

static inline void sender_move(struct sender *sender, uint32_t position)
{
    sender->position = position;
    sender->next = &sender->lines[position & sender->mask];
}

static inline void receiver_move(struct receiver *receiver, uint32_t position)
{
    receiver->position = position;
    receiver->next = &receiver->lines[position & receiver->mask];
}

/* Reads how many messages have been taken; returns whether there is a free line. */
static inline bool sender_refill(struct sender *sender)
{
    uint32_t limit = load_acquire(&sender->channel->taken) + sender->mask + 1;
    sender->limit = limit;
    return limit != sender->position;
}

/* Returns the next free line, or NULL. */
static inline struct message_line *sender_reserve(struct sender *sender)
{
    if (unlikely(sender->position == sender->limit) && !sender_refill(sender))
        return NULL;
    return sender->next;
}

/* Publishes the reserved line. */
static inline void sender_publish(struct sender *sender, struct message_line *line,
                                  uint32_t length_and_flags)
{
    const uint32_t number = sender->position + 1;
    store_release(&line->header, (uint64_t)number << 32 | length_and_flags);
    sender_move(sender, number);
}

/* Between a store and the look at `attention` (C3). */
static inline void channel_barrier(bool fences)
{
    if (fences)
        fence_seq_cst();
    else
        light_barrier();
}

/* Wakes the receiver if it sleeps. Returns 0, or EPIPE if it has closed. */
static inline int sender_notify(struct sender *sender)
{
    channel_barrier(sender->fences);
    uint32_t attention = load_relaxed(&sender->channel->attention);
    if (likely(!(attention & (RECEIVER_ASLEEP | RECEIVER_CLOSED))))
        return 0;
    if (attention & RECEIVER_ASLEEP)
        channel_wake_receiver(sender->channel);
    return attention & RECEIVER_CLOSED ? EPIPE : 0;
}

/* Copies a message into the reserved line. */
static inline void message_write(struct message_line *line, const void *data,
                                 size_t length)
{
    if (length)
        memcpy(line->data, data, length);
}

/* Copies a message out of its line into a buffer of `room` bytes. Where that is a
 * constant, the whole buffer is filled: by a few moves, without a call, so that the
 * compiler may even keep the message in registers. */
static inline void message_read(const struct message_line *line, void *data,
                                size_t length, size_t room)
{
    if (__builtin_constant_p(room) && room <= MESSAGE_BYTES)
        memcpy(data, line->data, room);
    else if (length)
        memcpy(data, line->data, length);
}

/* Sends a message of at most MESSAGE_BYTES if a line is free, else returns EAGAIN. */
static inline int sender_try(struct sender *sender, const void *data, size_t length)
{
    if (unlikely(length > MESSAGE_BYTES))
        return EMSGSIZE;
    struct message_line *line = sender_reserve(sender);
    if (unlikely(!line))
        return load_relaxed(&sender->channel->attention) & RECEIVER_CLOSED ? EPIPE
                                                                           : EAGAIN;
    message_write(line, data, length);
    sender_publish(sender, line, (uint32_t)length);
    return sender_notify(sender);
}

static inline int sender_send(struct sender *sender, const void *data, size_t length,
                              const struct deadline *deadline)
{
    int result = sender_try(sender, data, length);
    while (unlikely(result == EAGAIN)) {
        result = sender_wait(sender, deadline);
        if (result == 0)
            result = sender_try(sender, data, length);
    }
    return result;
}

/* Returns the line of the next message, or NULL. */
static inline struct message_line *receiver_peek(struct receiver *receiver)
{
    struct message_line *line = receiver->next;
    uint64_t header = load_acquire(&line->header);
    return (uint32_t)(header >> 32) == receiver->position + 1 ? line : NULL;
}

/* The same, but goes on looking, SPINS_INLINE times. Before that it takes the line from
 * the sender, which then finds it in one cache instead of two. The pause of relax() is
 * long, but without it, round trips took longer: the receiver would ask for the line
 * again as soon as it has lost it, while the sender is still storing to it. */
static inline struct message_line *receiver_peek_soon(struct receiver *receiver)
{
    struct message_line *line = receiver->next;
    const uint32_t number = receiver->position + 1;
    prefetch_for_write(&line->header);
    for (uint32_t left = SPINS_INLINE; left; left -= relax_at_most(left))
        if ((uint32_t)(load_acquire(&line->header) >> 32) == number)
            return line;
    return NULL;
}

/* The length and flags of a message that receiver_peek() has returned. */
static inline uint32_t message_about(const struct message_line *line)
{
    return (uint32_t)load_relaxed(&line->header);
}

static inline void receiver_announce(struct receiver *receiver)
{
    struct channel *channel = receiver->channel;
    store_release(&channel->taken, receiver->position);
    if (!receiver->parks)
        return;
    channel_barrier(receiver->fences);
    if (unlikely(load_relaxed(&channel->attention) & SENDER_ASLEEP))
        channel_wake_sender(channel);
}

/* Frees the line that receiver_peek() has returned. */
static inline void receiver_release(struct receiver *receiver)
{
    receiver_move(receiver, receiver->position + 1);
    if (!(receiver->position & (receiver->quantum - 1)))
        receiver_announce(receiver);
}

/* Returns EPIPE if the sender has closed and no message is left, else 0. */
static inline int receiver_end(struct receiver *receiver)
{
    bool closed = load_acquire(&receiver->channel->attention) & SENDER_CLOSED;
    return closed && !receiver_peek(receiver) ? EPIPE : 0;
}

/* Takes a message from its line. Returns EMSGSIZE, and leaves the message, if it is
 * longer than `room`. A large message's first line gives its length. */
static inline int receiver_take(struct receiver *receiver, struct message_line *line,
                                void *data, size_t room, size_t *length)
{
    uint32_t about = message_about(line);
    size_t bytes = about & MESSAGE_LENGTH;
    if (unlikely(about & MESSAGE_LARGE)) {
        uint64_t whole;
        memcpy(&whole, line->data, sizeof whole);
        *length = (size_t)whole;
        return EMSGSIZE;
    }
    *length = bytes;
    if (unlikely(bytes > room))
        return EMSGSIZE;
    message_read(line, data, bytes, room);
    receiver_release(receiver);
    return 0;
}

/* Receives a message if there is one, else returns EAGAIN or EPIPE. */
static inline int receiver_try(struct receiver *receiver, void *data, size_t room,
                               size_t *length)
{
    struct message_line *line = receiver_peek(receiver);
    if (unlikely(!line)) {
        if (!receiver_end(receiver))
            return EAGAIN;
        return EPIPE;
    }
    return receiver_take(receiver, line, data, room, length);
}

static inline int receiver_receive(struct receiver *receiver, void *data, size_t room,
                                   size_t *length, const struct deadline *deadline)
{
    struct message_line *line = receiver_peek_soon(receiver);
    if (unlikely(!line)) {
        int result = receiver_wait(receiver, deadline);
        if (result)
            return result;
        line = receiver_peek(receiver);
    }
    return receiver_take(receiver, line, data, room, length);
}

#endif
