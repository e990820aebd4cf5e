/* SPDX-License-Identifier: MIT */
/*
 * Batches, messages longer than a line, and the same message to several receivers.
 *
 * A large message is sent in pieces. The first line holds the whole length and the
 * first bytes, so the receiver can refuse the message before it takes any of it.
 */
#ifndef HASP_STRUCTURES_CHANNEL_LARGE_H
#define HASP_STRUCTURES_CHANNEL_LARGE_H

#include "structures/channel/channel.h"

/* Sends up to `count` messages of `each` bytes that stand one after the other, and
 * wakes the receiver once. Returns how many; fewer if no more lines are free. */
static inline size_t sender_try_batch(struct sender *sender, const void *data,
                                      size_t each, size_t count)
{
    const char *from = (const char *)data;
    size_t sent = 0;
    for (; sent < count; sent++, from += each) {
        struct message_line *line = sender_reserve(sender);
        if (unlikely(!line))
            break;
        message_write(line, from, each);
        sender_publish(sender, line, (uint32_t)each);
    }
    if (likely(sent != 0))
        (void)sender_notify(sender);
    return sent;
}

/* Receives up to `count` messages of exactly `each` bytes. Returns how many; fewer if
 * there are no more, or if the next one has another length. `each`: at most
 * MESSAGE_BYTES, as for sender_try_batch(). */
static inline size_t receiver_try_batch(struct receiver *receiver, void *data,
                                        size_t each, size_t count)
{
    char *to = (char *)data;
    size_t got = 0;
    for (; got < count; got++, to += each) {
        struct message_line *line = receiver_peek(receiver);
        if (unlikely(!line) || unlikely(message_about(line) != each))
            break;
        message_read(line, to, each, each);
        receiver_release(receiver);
    }
    return got;
}

/* These return as sender_send() and receiver_receive(). The deadline limits the wait
 * for the first piece. A message longer than `room` is left, and *length is its
 * length. */
int sender_send_large(struct sender *sender, const void *data, size_t length,
                      const struct deadline *deadline);
int receiver_receive_large(struct receiver *receiver, void *data, size_t room,
                           size_t *length, const struct deadline *deadline);

/* Sends the message to one after the other, whatever happens at others. Returns 0 or
 * the first error; `results`, unless NULL, receives the result of each. */
typedef struct sender *sender_pointer __attribute__((may_alias));

int senders_broadcast(sender_pointer const *senders, uint32_t count, const void *data,
                      size_t length, const struct deadline *deadline, int *results);

#endif
