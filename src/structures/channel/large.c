/* SPDX-License-Identifier: MIT */
#include "structures/channel/large.h"

enum { LENGTH_BYTES = 8, FIRST_BYTES = MESSAGE_BYTES - LENGTH_BYTES };

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Waits for a free line. */
static int next_line(struct sender *sender, struct message_line **line,
                     const struct deadline *deadline)
{
    while (!(*line = sender_reserve(sender))) {
        int result = sender_wait(sender, deadline);
        if (result)
            return result;
    }
    return 0;
}

int sender_send_large(struct sender *sender, const void *data, size_t length,
                      const struct deadline *deadline)
{
    struct message_line *line;
    int result = next_line(sender, &line, deadline);
    if (result)
        return result;
    const uint64_t whole = length;
    const char *from = (const char *)data;
    size_t bytes = lesser(length, FIRST_BYTES);
    memcpy(line->data, &whole, sizeof whole);
    if (bytes)
        memcpy(line->data + LENGTH_BYTES, from, bytes);
    sender_publish(sender, line, MESSAGE_LARGE);
    result = sender_notify(sender);
    for (size_t sent = bytes; !result && sent < length; sent += bytes) {
        result = next_line(sender, &line, NULL);
        if (result)
            return result;
        bytes = lesser(length - sent, MESSAGE_BYTES);
        memcpy(line->data, from + sent, bytes);
        sender_publish(sender, line, (uint32_t)bytes | MESSAGE_MORE);
        result = sender_notify(sender);
    }
    return result;
}

/* Waits for the next line. */
static int await_line(struct receiver *receiver, struct message_line **line,
                      const struct deadline *deadline)
{
    while (!(*line = receiver_peek(receiver))) {
        int result = receiver_wait(receiver, deadline);
        if (result)
            return result;
    }
    return 0;
}

int receiver_receive_large(struct receiver *receiver, void *data, size_t room,
                           size_t *length, const struct deadline *deadline)
{
    struct message_line *line;
    int result = await_line(receiver, &line, deadline);
    if (result)
        return result;
    if (!(message_about(line) & MESSAGE_LARGE))
        return receiver_take(receiver, line, data, room, length);
    uint64_t whole;
    char *to = (char *)data;
    memcpy(&whole, line->data, sizeof whole);
    *length = (size_t)whole;
    if (whole > room)
        return EMSGSIZE;
    size_t bytes = lesser((size_t)whole, FIRST_BYTES);
    if (bytes)
        memcpy(to, line->data + LENGTH_BYTES, bytes);
    receiver_release(receiver);
    for (size_t got = bytes; got < whole; got += bytes) {
        result = await_line(receiver, &line, NULL);
        if (result)
            return result;
        bytes = message_about(line) & MESSAGE_LENGTH;
        memcpy(to + got, line->data, bytes);
        receiver_release(receiver);
    }
    return 0;
}

int senders_broadcast(sender_pointer const *senders, uint32_t count, const void *data,
                      size_t length, const struct deadline *deadline, int *results)
{
    int first = 0;
    for (uint32_t i = 0; i < count; i++) {
        int result = sender_send(senders[i], data, length, deadline);
        if (results)
            results[i] = result;
        if (!first)
            first = result;
    }
    return first;
}
