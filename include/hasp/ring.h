/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Long messages between threads, or between processes, that are not copied.
 *
 * A ring leads from one sender to one receiver. The sender reserves space in the ring,
 * writes the message there and commits it; the receiver reads it there and then
 * releases it. A message is never split, not even at the end of the ring. For messages
 * of at most 56 bytes, a channel (hasp/channel.h) is faster.
 *
 * Compile and link with `pkg-config --cflags --libs hasp`. C11 and C++17.
 *
 * MEMORY. The program provides it: hasp_ring_size() bytes, aligned to
 * HASP_CHANNEL_ALIGNMENT, in which hasp_ring_init() makes a ring. It holds no
 * pointers, so processes may map it at different addresses. It must stay mapped until
 * both sides have returned from their last call, and the receiver has finished with
 * its message.
 *
 * THREADS, MEMORY ORDER, WAITING. As for channels. What the receiver did with a message
 * before it released it happens before everything that the sender does in the space
 * when it is reserved again.
 *
 * RESULTS. Functions return 0 or an error number; they do not set errno:
 *   EAGAIN      the ring is full, or empty (only functions called try)
 *   EPIPE       the other side has closed. A receiver first gets all messages
 *   EOWNERDEAD  the other side's thread or process has ended without closing. A
 *               receiver first gets all messages. Functions that wait return it, and
 *               hasp_ring_sender_peer() and hasp_ring_receiver_peer(), as for channels
 *   EMSGSIZE    the message is longer than hasp_ring_longest(), or than was reserved
 *   ETIMEDOUT   the time `until` has come (NULL: wait for ever). A waiter notices it
 *               once it has spun
 *   EBUSY       this side of the ring has been opened before
 *   EINVAL      an argument is wrong, or the memory holds no ring. Functions that wait
 *               return it for a clock other than CLOCK_REALTIME and CLOCK_MONOTONIC, or
 *               for an `until` whose nanoseconds are out of range
 */
#ifndef HASP_RING_H
#define HASP_RING_H

#include <hasp/channel.h>

#include "structures/channel/ring.h"

enum {
    HASP_RING_ALIGNMENT = 64, /**< of each message */
};

/** A ring, in memory of hasp_ring_size() bytes. */
struct hasp_ring;

/** The sending side. The members are private. */
struct hasp_ring_sender {
    struct ring_sender sender;
};

/** The receiving side. The members are private. */
struct hasp_ring_receiver {
    struct ring_receiver receiver;
};

/** @return the size in bytes of a ring with room for `bytes`, or 0 unless that is a
 * power of two from 256 to 67108864 (64 MiB). A message takes a line of 64 bytes, and
 * the lines of its contents */
static inline size_t hasp_ring_size(size_t bytes)
{
    return ring_size(bytes);
}

/** @return the length in bytes of the longest message for such a ring: half of it, less
 * 64 bytes. 0 unless `bytes` is as for hasp_ring_size() */
static inline size_t hasp_ring_longest(size_t bytes)
{
    return ring_size(bytes) ? ring_longest(bytes / MESSAGE_LINE) : 0;
}

/** Makes a ring in the memory. Nobody may use the memory meanwhile. Writes to its first
 * lines only, so that the system provides the other pages as they are used.
 * @param flags HASP_CHANNEL_SPIN or HASP_CHANNEL_PARK, or-ed with HASP_CHANNEL_SHARED
 * @return 0 or EINVAL */
static inline int hasp_ring_init(struct hasp_ring *ring, size_t bytes, uint32_t flags)
{
    return flags > 3
               ? EINVAL
               : ring_init((struct channel *)ring, bytes, channel_flags_here(flags));
}

/** Makes the calling thread the sender, for good: a ring has one.
 * @return 0, EBUSY or EINVAL */
MUST_CHECK static inline int hasp_ring_sender_open(struct hasp_ring_sender *sender,
                                                   struct hasp_ring *ring)
{
    return ring_sender_open(&sender->sender, (struct channel *)ring);
}

/** Makes the calling thread the receiver, for good: a ring has one.
 * @return 0, EBUSY or EINVAL */
MUST_CHECK static inline int
hasp_ring_receiver_open(struct hasp_ring_receiver *receiver, struct hasp_ring *ring)
{
    return ring_receiver_open(&receiver->receiver, (struct channel *)ring, NULL);
}

/** Closes the sending side. The receiver still gets what has been committed. */
static inline void hasp_ring_sender_close(struct hasp_ring_sender *sender)
{
    sender_close(&sender->sender.sender);
}

/** Closes the receiving side. Messages that were not received are lost. */
static inline void hasp_ring_receiver_close(struct hasp_ring_receiver *receiver)
{
    receiver_close(&receiver->receiver.receiver);
}

/** Checks the other side by a system call.
 * @return 0 while it is alive or has not opened yet, EPIPE or EOWNERDEAD */
static inline int hasp_ring_sender_peer(const struct hasp_ring_sender *sender)
{
    return sender_peer(&sender->sender.sender);
}

/** Does the same for a receiver. There may still be messages to receive. */
static inline int hasp_ring_receiver_peer(const struct hasp_ring_receiver *receiver)
{
    return receiver_peer(&receiver->receiver.receiver);
}

/** Reserves space for a message if there is enough. Nothing is sent before
 * hasp_ring_commit(); another reservation replaces this one.
 * @param length in bytes, at most hasp_ring_longest(); 0 is allowed
 * @param data receives the address of the space, aligned to HASP_RING_ALIGNMENT, or
 * NULL
 * @return 0, EAGAIN, EPIPE or EMSGSIZE */
MUST_CHECK static inline int hasp_ring_try_reserve(struct hasp_ring_sender *sender,
                                                   size_t length, void **data)
{
    return ring_try_reserve(&sender->sender, length, data);
}

/** Reserves space for a message; waits until there is enough, at most until the clock
 * reaches `until`, an absolute time.
 * @param clock CLOCK_REALTIME or CLOCK_MONOTONIC
 * @return 0, EPIPE, EOWNERDEAD, EMSGSIZE, ETIMEDOUT or EINVAL */
static inline int hasp_ring_clockreserve(struct hasp_ring_sender *sender, size_t length,
                                         void **data, clockid_t clock,
                                         const struct timespec *until)
{
    struct deadline deadline;
    return ring_reserve(&sender->sender, length, data,
                        hasp_channel_deadline(&deadline, clock, until));
}

/** hasp_ring_clockreserve() with CLOCK_MONOTONIC. */
static inline int hasp_ring_reserve(struct hasp_ring_sender *sender, size_t length,
                                    void **data, const struct timespec *until)
{
    return hasp_ring_clockreserve(sender, length, data, CLOCK_MONOTONIC, until);
}

/** Sends what has been written to the reserved space, or its first `length` bytes. The
 * sender must not touch the space afterwards.
 * @return 0, EPIPE, EMSGSIZE if that is more than was reserved, or EINVAL if nothing is
 * reserved */
static inline int hasp_ring_commit(struct hasp_ring_sender *sender, size_t length)
{
    return ring_commit(&sender->sender, length);
}

/** Finds the next message if there is one. It stays where it is until
 * hasp_ring_release(); until then, this function finds it again.
 * @param data receives its address, aligned to HASP_RING_ALIGNMENT
 * @param length receives its length in bytes
 * @return 0, EAGAIN or EPIPE */
MUST_CHECK static inline int hasp_ring_try_peek(struct hasp_ring_receiver *receiver,
                                                const void **data, size_t *length)
{
    return ring_try_peek(&receiver->receiver, data, length);
}

/** Finds the next message; waits for one, at most until the clock reaches `until`, an
 * absolute time.
 * @param clock CLOCK_REALTIME or CLOCK_MONOTONIC
 * @return 0, EPIPE, EOWNERDEAD, ETIMEDOUT or EINVAL */
static inline int hasp_ring_clockpeek(struct hasp_ring_receiver *receiver,
                                      const void **data, size_t *length,
                                      clockid_t clock, const struct timespec *until)
{
    struct deadline deadline;
    return ring_peek(&receiver->receiver, data, length,
                     hasp_channel_deadline(&deadline, clock, until));
}

/** hasp_ring_clockpeek() with CLOCK_MONOTONIC. */
static inline int hasp_ring_peek(struct hasp_ring_receiver *receiver, const void **data,
                                 size_t *length, const struct timespec *until)
{
    return hasp_ring_clockpeek(receiver, data, length, CLOCK_MONOTONIC, until);
}

/** Gives the space of the message that was found back to the sender. Does nothing if
 * none was found since the last call. */
static inline void hasp_ring_release(struct hasp_ring_receiver *receiver)
{
    ring_release(&receiver->receiver);
}

#endif
