/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Messages between threads, or between processes that share memory.
 *
 * A channel leads from one sender to one receiver. Each message has a cache line of its
 * own and at most HASP_CHANNEL_BYTES bytes; longer ones are sent in pieces by
 * hasp_send_large(), or without copies through a ring (hasp/ring.h). A client and a
 * server use two channels, one in each direction; a server that has many clients
 * receives from any of them by struct hasp_receivers.
 *
 * Compile and link with `pkg-config --cflags --libs hasp`. C11 and C++17.
 *
 * MEMORY. The program provides it: hasp_channel_size() bytes, aligned to
 * HASP_CHANNEL_ALIGNMENT, in which hasp_channel_init() makes a channel. It holds no
 * pointers, so processes may map it at different addresses. It must stay mapped until
 * both sides have returned from their last call.
 *
 * THREADS. One thread at a time uses a struct hasp_sender or a struct hasp_receiver.
 * The thread that opened it is its owner: if that thread ends without closing it, the
 * other side gets EOWNERDEAD. Not for signal handlers. After fork(), the child must not
 * use what its parent has opened; it may open the sides that nobody has opened yet.
 *
 * MEMORY ORDER. What the sender did before it sent a message happens before everything
 * that the receiver does after it has received that message.
 *
 * WAITING. A waiter spins; in a channel with HASP_CHANNEL_PARK it sleeps after it has
 * spun for about as long as a sleep costs. Choose HASP_CHANNEL_SPIN only if each thread
 * has a CPU of its own.
 *
 * RESULTS. Functions return 0 or an error number; they do not set errno:
 *   EAGAIN      the channel is full, or empty (only functions called try)
 *   EPIPE       the other side has closed. A receiver first gets all messages
 *   EOWNERDEAD  the other side's thread or process has ended without closing. A
 *               receiver first gets all messages. Waiting functions notice it within
 *               about a third of a second; hasp_sender_peer() and hasp_receiver_peer()
 *               check at once. Needs /proc, and both processes in one PID namespace
 *   EMSGSIZE    the message is too long for a line, and has not been sent; or it is too
 *               long for the receiver's buffer, and remains the next message
 *   ETIMEDOUT   the time `until`, which is absolute, has come (NULL: wait for ever). A
 *               waiter notices it once it has spun
 *   EBUSY       this side of the channel has been opened before
 *   EINVAL      an argument is wrong, or the memory holds no channel. Functions that
 *               have to wait return it for a clock other than CLOCK_REALTIME and
 *               CLOCK_MONOTONIC, or for an `until` whose nanoseconds are out of range
 *
 * CLOCKS. Each function with an `until` exists in two forms, as in POSIX: one whose
 * name has `clock` takes the clock as an argument; the other one is the same with
 * CLOCK_MONOTONIC.
 */
#ifndef HASP_CHANNEL_H
#define HASP_CHANNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "platform/linkage.h"
#include "structures/channel/channel.h"
#include "structures/channel/large.h"
#include "structures/channel/receivers.h"

enum {
    HASP_CHANNEL_BYTES = 56,      /**< longest message in one line */
    HASP_CHANNEL_ALIGNMENT = 128, /**< of a channel's memory */
    HASP_CHANNEL_SPIN = 0,        /**< flag: waiters spin */
    /** flag: waiters spin, then sleep; they use membarrier(2) if that is allowed when
     * the channel is made, unless it has HASP_CHANNEL_SHARED */
    HASP_CHANNEL_PARK = 1,
    HASP_CHANNEL_SHARED = 2, /**< flag: for several processes */
};

/** A channel, in memory of hasp_channel_size() bytes. */
struct hasp_channel;

/** The sending side. The members are private. */
struct hasp_sender {
    struct sender sender;
};

/** The receiving side. The members are private. */
struct hasp_receiver {
    struct receiver receiver;
};

/** What a receiver of several channels sleeps on; zeroed memory is a bell. For channels
 * between processes it must be in the same mapping as they are. */
struct hasp_bell {
    struct atomic_u32 bell;
};

/** Receivers that one thread waits for together. `all[i]` may be set to NULL when a
 * channel has ended. If their waiters sleep, they must have been opened with one bell.
 * Initialise `next` with 0. */
struct hasp_receivers {
    struct hasp_receiver **all;
    uint32_t count; /**< of pointers in `all` */
    uint32_t next;  /**< where the next search begins: channels take turns */
};

/** @return the size of a channel of `lines` messages in bytes, or 0 unless that is a
 * power of two from 2 to 1048576. A line has 64 bytes. */
static inline size_t hasp_channel_size(uint32_t lines)
{
    return channel_size(lines);
}

/** Makes a channel in the memory. Nobody may use the memory meanwhile.
 * @param flags HASP_CHANNEL_SPIN or HASP_CHANNEL_PARK, or-ed with HASP_CHANNEL_SHARED
 * @return 0 or EINVAL */
static inline int hasp_channel_init(struct hasp_channel *channel, uint32_t lines,
                                    uint32_t flags)
{
    return flags > 3 ? EINVAL
                     : channel_init((struct channel *)channel, lines,
                                    channel_flags_here(flags));
}

/** Makes the calling thread the sender, for good: a channel has one.
 * @return 0, EBUSY or EINVAL */
MUST_CHECK static inline int hasp_sender_open(struct hasp_sender *sender,
                                              struct hasp_channel *channel)
{
    return sender_open(&sender->sender, (struct channel *)channel);
}

/** Makes the calling thread the receiver, for good: a channel has one.
 * @param bell NULL, or the one that all receivers of a set share
 * @return 0, EBUSY or EINVAL */
MUST_CHECK static inline int hasp_receiver_open(struct hasp_receiver *receiver,
                                                struct hasp_channel *channel,
                                                struct hasp_bell *bell)
{
    return receiver_open(&receiver->receiver, (struct channel *)channel,
                         bell ? &bell->bell : NULL);
}

/** Closes the sending side. The receiver still gets the messages that were sent. */
static inline void hasp_sender_close(struct hasp_sender *sender)
{
    sender_close(&sender->sender);
}

/** Closes the receiving side. Messages that were not received are lost. */
static inline void hasp_receiver_close(struct hasp_receiver *receiver)
{
    receiver_close(&receiver->receiver);
}

/** Checks the other side by a system call.
 * @return 0 while it is alive or has not opened yet, EPIPE or EOWNERDEAD */
static inline int hasp_sender_peer(const struct hasp_sender *sender)
{
    return sender_peer(&sender->sender);
}

/** Does the same for a receiver. There may still be messages to receive. */
static inline int hasp_receiver_peer(const struct hasp_receiver *receiver)
{
    return receiver_peer(&receiver->receiver);
}

static inline const struct deadline *hasp_channel_deadline(struct deadline *deadline,
                                                           clockid_t clock,
                                                           const struct timespec *until)
{
    if (!until)
        return NULL;
    deadline->clock = clock;
    deadline->at = *until;
    return deadline;
}

/** Sends a message of at most HASP_CHANNEL_BYTES bytes if a line is free. A full
 * channel may be reported until a quarter of its lines is free again.
 * @return 0, EAGAIN, EPIPE or EMSGSIZE */
MUST_CHECK static inline int hasp_try_send(struct hasp_sender *sender, const void *data,
                                           size_t length)
{
    return sender_try(&sender->sender, data, length);
}

/** Sends a message of at most HASP_CHANNEL_BYTES bytes; waits for a free line.
 * @return 0, EPIPE, EOWNERDEAD, EMSGSIZE or ETIMEDOUT */
static inline int hasp_clocksend(struct hasp_sender *sender, const void *data,
                                 size_t length, clockid_t clock,
                                 const struct timespec *until)
{
    struct deadline deadline;
    return sender_send(&sender->sender, data, length,
                       hasp_channel_deadline(&deadline, clock, until));
}

static inline int hasp_send(struct hasp_sender *sender, const void *data, size_t length,
                            const struct timespec *until)
{
    return hasp_clocksend(sender, data, length, CLOCK_MONOTONIC, until);
}

/** Receives a message if there is one. Stores its length, even with EMSGSIZE. What is
 * in the buffer behind a shorter message is undefined afterwards, in all such
 * functions.
 * @param room size of the buffer in bytes
 * @return 0, EAGAIN, EPIPE or EMSGSIZE */
MUST_CHECK static inline int hasp_try_receive(struct hasp_receiver *receiver,
                                              void *data, size_t room, size_t *length)
{
    return receiver_try(&receiver->receiver, data, room, length);
}

/** Receives a message; waits for one. Stores its length, even with EMSGSIZE.
 * @param room size of the buffer in bytes
 * @return 0, EPIPE, EOWNERDEAD, EMSGSIZE or ETIMEDOUT */
static inline int hasp_clockreceive(struct hasp_receiver *receiver, void *data,
                                    size_t room, size_t *length, clockid_t clock,
                                    const struct timespec *until)
{
    struct deadline deadline;
    return receiver_receive(&receiver->receiver, data, room, length,
                            hasp_channel_deadline(&deadline, clock, until));
}

static inline int hasp_receive(struct hasp_receiver *receiver, void *data, size_t room,
                               size_t *length, const struct timespec *until)
{
    return hasp_clockreceive(receiver, data, room, length, CLOCK_MONOTONIC, until);
}

/** Receives a message from any channel of the set, or of a subset; the channels take
 * turns. Stores the index of the channel in `from`, even with EPIPE and EOWNERDEAD:
 * remove that channel then, or it is reported again when no other has a message.
 * @param subset NULL for all, or an array of bits, 64 in a word
 * @return 0, EPIPE, EOWNERDEAD, EMSGSIZE, ETIMEDOUT, or EINVAL if no channel is left */
static inline int hasp_clockreceive_any(struct hasp_receivers *set,
                                        const uint64_t *subset, uint32_t *from,
                                        void *data, size_t room, size_t *length,
                                        clockid_t clock, const struct timespec *until)
{
    struct deadline deadline;
    struct receivers inner;
    inner.all = (receiver_pointer const *)(void *)set->all;
    inner.count = set->count;
    inner.next = set->next;
    int result = receivers_receive(&inner, subset, from, data, room, length,
                                   hasp_channel_deadline(&deadline, clock, until));
    set->next = inner.next;
    return result;
}

static inline int hasp_receive_any(struct hasp_receivers *set, const uint64_t *subset,
                                   uint32_t *from, void *data, size_t room,
                                   size_t *length, const struct timespec *until)
{
    return hasp_clockreceive_any(set, subset, from, data, room, length, CLOCK_MONOTONIC,
                                 until);
}

/** Sends up to `count` messages of `each` bytes that stand one after the other; the
 * receiver is woken once.
 * @return how many were sent: fewer than `count` if the channel became full, none if
 * `each` is more than HASP_CHANNEL_BYTES */
static inline size_t hasp_try_send_batch(struct hasp_sender *sender, const void *data,
                                         size_t each, size_t count)
{
    if (each > HASP_CHANNEL_BYTES)
        return 0;
    return sender_try_batch(&sender->sender, data, each, count);
}

/** Receives up to `count` messages of exactly `each` bytes.
 * @return how many: fewer if there are no more, or if the next one has another
 * length */
static inline size_t hasp_try_receive_batch(struct hasp_receiver *receiver, void *data,
                                            size_t each, size_t count)
{
    if (each > HASP_CHANNEL_BYTES)
        return 0;
    return receiver_try_batch(&receiver->receiver, data, each, count);
}

/** Sends a message of any length, in pieces of a line. `until` limits the wait for the
 * first line only. Receive it by hasp_receive_large(); hasp_receive() returns EMSGSIZE.
 * @return 0, EPIPE, EOWNERDEAD or ETIMEDOUT */
static inline int hasp_clocksend_large(struct hasp_sender *sender, const void *data,
                                       size_t length, clockid_t clock,
                                       const struct timespec *until)
{
    struct deadline deadline;
    return sender_send_large(&sender->sender, data, length,
                             hasp_channel_deadline(&deadline, clock, until));
}

static inline int hasp_send_large(struct hasp_sender *sender, const void *data,
                                  size_t length, const struct timespec *until)
{
    return hasp_clocksend_large(sender, data, length, CLOCK_MONOTONIC, until);
}

/** Receives a message of any length, sent by either function. `until` limits the wait
 * for its first line only.
 * @return 0, EPIPE, EOWNERDEAD, ETIMEDOUT, or EMSGSIZE with the length that is
 * needed */
static inline int hasp_clockreceive_large(struct hasp_receiver *receiver, void *data,
                                          size_t room, size_t *length, clockid_t clock,
                                          const struct timespec *until)
{
    struct deadline deadline;
    return receiver_receive_large(&receiver->receiver, data, room, length,
                                  hasp_channel_deadline(&deadline, clock, until));
}

static inline int hasp_receive_large(struct hasp_receiver *receiver, void *data,
                                     size_t room, size_t *length,
                                     const struct timespec *until)
{
    return hasp_clockreceive_large(receiver, data, room, length, CLOCK_MONOTONIC,
                                   until);
}

/** Sends a message to each of `count` channels, one after the other.
 * @param results NULL, or receives the result of each channel
 * @return 0, or the first error; the message has still been sent to the others */
static inline int hasp_clockbroadcast(struct hasp_sender **senders, uint32_t count,
                                      const void *data, size_t length, clockid_t clock,
                                      const struct timespec *until, int *results)
{
    struct deadline deadline;
    return senders_broadcast((sender_pointer const *)(void *)senders, count, data,
                             length, hasp_channel_deadline(&deadline, clock, until),
                             results);
}

static inline int hasp_broadcast(struct hasp_sender **senders, uint32_t count,
                                 const void *data, size_t length,
                                 const struct timespec *until, int *results)
{
    return hasp_clockbroadcast(senders, count, data, length, CLOCK_MONOTONIC, until,
                               results);
}

/** Reserves a line, in order to write a message in place.
 * @return HASP_CHANNEL_BYTES bytes to write to, or NULL if the channel is full. The
 * message is sent by hasp_send_reserved(); until then, nothing has been sent */
static inline void *hasp_reserve(struct hasp_sender *sender)
{
    struct message_line *line = sender_reserve(&sender->sender);
    return line ? line->data : NULL;
}

/** Sends the reserved line.
 * @return 0, EPIPE, EMSGSIZE, or EINVAL if no line can have been reserved */
static inline int hasp_send_reserved(struct hasp_sender *sender, size_t length)
{
    if (length > HASP_CHANNEL_BYTES)
        return EMSGSIZE;
    struct message_line *line = sender_reserve(&sender->sender);
    if (!line)
        return EINVAL;
    sender_publish(&sender->sender, line, (uint32_t)length);
    return sender_notify(&sender->sender);
}

/** @return the next message in place, or NULL if there is none or if it is one of
 * hasp_send_large(). It stays until hasp_release(). */
static inline const void *hasp_peek(struct hasp_receiver *receiver, size_t *length)
{
    struct message_line *line = receiver_peek(&receiver->receiver);
    if (!line || message_about(line) & MESSAGE_LARGE)
        return NULL;
    *length = message_about(line) & MESSAGE_LENGTH;
    return line->data;
}

/** Removes the message that hasp_peek() has returned. */
static inline void hasp_release(struct hasp_receiver *receiver)
{
    receiver_release(&receiver->receiver);
}

#endif
