/* SPDX-License-Identifier: MIT */
/*
 * Rings: messages of different lengths that both sides use in place. A ring is a
 * channel (channel.h) whose messages may have many lines, one after the other;
 * waiting, closing and the death of a side are those of channels.
 *
 * Idea: the number of the message in its first line tells the receiver that it is
 * complete, so no index has to be read: a message costs the transfers of its own lines.
 * That line has no part of the contents: the receiver polls it while the sender writes
 * them. Each message is announced when it has been released.
 *
 *   header   of a message's first line: the number of the line, counted from 1 and
 *            never reset, and the length of the contents in bytes
 *   RING_SKIP  instead of a length: the message did not fit between this line and the
 *            end of the ring, and is at the beginning
 *
 * R1. The lines of a message hold arbitrary bytes where other messages have their
 *     header. Before the sender publishes a message, it stores a header without a
 *     message into the line that follows it, so the receiver, which has acquired the
 *     message (C1), finds that header there or the next message's.
 * R2. The message at the beginning of the ring is published before the header that
 *     skips to it (release; pairs with the load of receiver_peek()). Whoever finds the
 *     one finds the other.
 * R3. The sender needs the lines that it skips, those of the message, and the one after
 *     it (R1). A message has at most half of the lines, so an empty ring has room.
 */
#ifndef HASP_STRUCTURES_CHANNEL_RING_H
#define HASP_STRUCTURES_CHANNEL_RING_H

#include "structures/channel/receivers.h"

enum {
    RING_HEADER = MESSAGE_LINE, /* bytes in front of a message */
    RING_AHEAD = 64,            /* lines that a sender fetches when it reserves them */
};

static const uint32_t RING_SKIP = UINT32_MAX;

/* The sender's side. Only its thread uses it. */
struct ring_sender {
    struct sender sender;
    struct message_line *reserved; /* NULL: none */
    uint32_t skipped;              /* lines, from the sender's position */
    uint32_t last;                 /* lines of the last message */
    size_t room;                   /* bytes reserved */
};

/* The receiver's side. Only its thread uses it. */
struct ring_receiver {
    struct receiver receiver;
    uint32_t held; /* lines of the message that it has looked at; 0: none */
};

/* These return as those of channels. Rings cannot be opened as channels, nor vice
 * versa. `bytes`: a power of two from 256 to 64 MiB. */
size_t ring_size(size_t bytes);
int ring_init(struct channel *channel, size_t bytes, uint32_t flags);
int ring_sender_open(struct ring_sender *ring, struct channel *channel);
int ring_receiver_open(struct ring_receiver *ring, struct channel *channel,
                       struct atomic_u32 *bell);

static inline uint32_t ring_lines(size_t length)
{
    return (uint32_t)((length + RING_HEADER + MESSAGE_LINE - 1) / MESSAGE_LINE);
}

/* Returns the length of the longest message in a ring of so many lines. */
static inline size_t ring_longest(size_t lines)
{
    return lines / 2 * MESSAGE_LINE - RING_HEADER;
}

static inline bool ring_has_room(const struct sender *sender, uint32_t lines)
{
    return sender->limit - sender->position >= lines;
}

/* The receiver's CPU has the lines. Fetches as many as the last message had, together:
 * that takes less time than one after the other as they are written. */
static inline void ring_fetch(const struct ring_sender *ring, uint32_t lines)
{
    const uint32_t wanted = ring->last < RING_AHEAD ? ring->last : RING_AHEAD;
    for (uint32_t i = 0; i < lines && i < wanted; i++)
        prefetch_for_write(&ring->reserved[i].header);
}

/* Reserves consecutive lines for a message, in place of what was reserved before, and
 * stores where to write it. Returns 0, EAGAIN, EPIPE or EMSGSIZE. */
static inline int ring_try_reserve(struct ring_sender *ring, size_t length, void **data)
{
    struct sender *sender = &ring->sender;
    ring->reserved = NULL;
    *data = NULL;
    if (unlikely(length > ring_longest((size_t)sender->mask + 1)))
        return EMSGSIZE;
    const uint32_t at = sender->position & sender->mask;
    const uint32_t lines = ring_lines(length), left = sender->mask + 1 - at;
    const uint32_t skipped = lines > left ? left : 0;
    const uint32_t needed = skipped + lines + 1; /* R3 */
    if (unlikely(!ring_has_room(sender, needed))) {
        sender_refill(sender);
        if (!ring_has_room(sender, needed))
            return load_relaxed(&sender->channel->attention) & RECEIVER_CLOSED ? EPIPE
                                                                               : EAGAIN;
    }
    ring->reserved = &sender->lines[skipped ? 0 : at];
    ring->skipped = skipped;
    ring->room = length;
    ring_fetch(ring, lines);
    *data = (char *)ring->reserved + RING_HEADER;
    return 0;
}

/* Waits for the lines. Returns 0, EPIPE, EOWNERDEAD, EMSGSIZE, ETIMEDOUT or EINVAL. */
static inline int ring_reserve(struct ring_sender *ring, size_t length, void **data,
                               const struct deadline *deadline)
{
    int result = ring_try_reserve(ring, length, data);
    while (unlikely(result == EAGAIN)) {
        result = sender_wait(&ring->sender, deadline);
        if (result == 0)
            result = ring_try_reserve(ring, length, data);
    }
    return result;
}

static inline uint64_t ring_header(uint32_t position, uint32_t about)
{
    return (uint64_t)(position + 1) << 32 | about;
}

/* Sends the message that has been written to the reserved lines. Returns 0, EPIPE,
 * EMSGSIZE if it is longer than that, or EINVAL if none are reserved. */
static inline int ring_commit(struct ring_sender *ring, size_t length)
{
    struct sender *sender = &ring->sender;
    struct message_line *lines = sender->lines;
    const uint32_t skip = sender->position, first = skip + ring->skipped;
    const uint32_t end = first + ring_lines(length);
    if (unlikely(!ring->reserved))
        return EINVAL;
    if (unlikely(length > ring->room))
        return EMSGSIZE;
    store_relaxed(&lines[end & sender->mask].header, (uint64_t)end << 32); /* R1 */
    store_release(&ring->reserved->header, ring_header(first, (uint32_t)length));
    if (unlikely(ring->skipped != 0))
        store_release(&lines[skip & sender->mask].header,
                      ring_header(skip, RING_SKIP)); /* R2 */
    sender_move(sender, end);
    ring->last = end - first;
    ring->reserved = NULL;
    return sender_notify(sender);
}

/* Stores where the next message is, and its length. It stays there until
 * ring_release(). Returns 0, EAGAIN or EPIPE. */
static inline int ring_try_peek(struct ring_receiver *ring, const void **data,
                                size_t *length)
{
    struct receiver *receiver = &ring->receiver;
    const struct message_line *line = receiver_peek(receiver);
    if (unlikely(!line))
        return receiver_end(receiver) ? EPIPE : EAGAIN;
    if (unlikely(message_about(line) == RING_SKIP)) {
        receiver_move(receiver, receiver->position + receiver->mask + 1 -
                                    (receiver->position & receiver->mask));
        line = receiver_peek(receiver); /* R2 */
    }
    *length = message_about(line);
    *data = (const char *)line + RING_HEADER;
    ring->held = ring_lines(*length);
    return 0;
}

/* Waits for a message. Returns 0, EPIPE, EOWNERDEAD, ETIMEDOUT or EINVAL. */
static inline int ring_peek(struct ring_receiver *ring, const void **data,
                            size_t *length, const struct deadline *deadline)
{
    int result = ring_try_peek(ring, data, length);
    if (likely(result != EAGAIN))
        return result;
    result = receiver_wait(&ring->receiver, deadline);
    return result ? result : ring_try_peek(ring, data, length);
}

/* Frees the lines of the message that was looked at. */
static inline void ring_release(struct ring_receiver *ring)
{
    if (unlikely(!ring->held))
        return;
    receiver_move(&ring->receiver, ring->receiver.position + ring->held);
    ring->held = 0;
    receiver_announce(&ring->receiver);
}

#endif
