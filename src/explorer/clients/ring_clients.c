/* SPDX-License-Identifier: MIT */
/* Clients of rings: messages of two and of three lines arrive complete, once and in
 * order, also those that skip the end of the ring; nothing that a message holds is
 * mistaken for another message. */
#include "explorer/clients/clients.h"

#include "explorer/base/variables.h"
#include "explorer/clients/suitable.h"
#include "explorer/execution/services.h"

#include "structures/channel/ring.h"

enum { LINES = 8, MOST_MESSAGES = 4 };
enum { SHORT = 12, LONG = 2 * MESSAGE_LINE }; /* the contents of one line and of two */

static struct {
    struct channel channel;
    struct message_line lines[LINES];
} ring;

/* The lengths of messages: the third one skips two lines; the fourth one skips a line,
 * and the line after it was part of the first one; the third one would fill the ring.
 * */
static const size_t around[] = {LONG, LONG, LONG};
static const size_t within[] = {LONG, SHORT, SHORT, SHORT};
static const size_t filling[] = {LONG, LONG, SHORT};

struct lock_descriptor ring_client_uses(unsigned policy)
{
    struct lock_descriptor about = channel_client_uses(policy);
    ring_init(&ring.channel, sizeof ring.lines, channel_policy_flags(policy));
    return about;
}

/* The second line of the contents looks like the message that begins there later. */
static struct message_line *second_line(const void *data)
{
    return (struct message_line *)(uintptr_t)data + 1;
}

static uint64_t likeness(const void *data)
{
    return ring_header((uint32_t)(second_line(data) - ring.lines) + LINES, SHORT);
}

/* The value is not where the header of another message can be. */
static uint32_t *value_in(const void *data)
{
    return (uint32_t *)(uintptr_t)data + 2;
}

static int send(struct ring_sender *sender, uint32_t value, size_t length,
                const struct deadline *deadline)
{
    void *data = NULL;
    begin_operation();
    int result = ring_reserve(sender, length, &data, deadline);
    if (result)
        return result;
    *value_in(data) = value;
    if (length == LONG)
        store_relaxed(&second_line(data)->header, likeness(data));
    return ring_commit(sender, length);
}

static int receive(struct ring_receiver *receiver, uint32_t *value, size_t wanted,
                   const struct deadline *deadline)
{
    const void *data = NULL;
    size_t length = 0;
    begin_operation();
    int result = ring_peek(receiver, &data, &length, deadline);
    if (result)
        return result;
    expect(length == wanted, "a message has another length");
    *value = *value_in(data);
    if (length == LONG)
        expect(load_relaxed(&second_line(data)->header) == likeness(data),
               "a message is damaged");
    ring_release(receiver);
    return 0;
}

static void open_sender(struct ring_sender *sender)
{
    begin_operation();
    expect(ring_sender_open(sender, &ring.channel) == 0, "a sender is refused");
}

static void open_receiver(struct ring_receiver *receiver)
{
    begin_operation();
    expect(ring_receiver_open(receiver, &ring.channel, NULL) == 0,
           "a receiver is refused");
}

static void send_all(const size_t *lengths, uint32_t count)
{
    struct ring_sender sender;
    open_sender(&sender);
    for (uint32_t i = 0; i < count; i++)
        expect(send(&sender, i, lengths[i], NULL) == 0, "a message is refused");
    begin_operation();
    sender_close(&sender.sender);
}

static void receive_all(const size_t *lengths, uint32_t count)
{
    struct ring_receiver receiver;
    uint32_t value = MOST_MESSAGES;
    open_receiver(&receiver);
    for (uint32_t i = 0; i < count; i++) {
        expect(receive(&receiver, &value, lengths[i], NULL) == 0, "a message is lost");
        expect(value == i, "a message is out of order");
    }
    expect(receive(&receiver, &value, 0, NULL) == EPIPE, "the end is not reported");
}

static void wrap(unsigned thread)
{
    if (thread == 0)
        send_all(around, 3);
    else
        receive_all(around, 3);
}

static void likeness_of_header(unsigned thread)
{
    if (thread == 0)
        send_all(within, MOST_MESSAGES);
    else
        receive_all(within, MOST_MESSAGES);
}

static void full(unsigned thread)
{
    if (thread == 0)
        send_all(filling, 3);
    else
        receive_all(filling, 3);
}

/* A receiver that never calls a wait. */
static void polled(unsigned thread)
{
    if (thread == 0) {
        send_all(around, 3);
        return;
    }
    struct ring_receiver receiver;
    open_receiver(&receiver);
    begin_operation();
    for (uint32_t wanted = 0;;) {
        const void *data;
        size_t length;
        int result = ring_try_peek(&receiver, &data, &length);
        if (result == EPIPE) {
            expect(wanted == 3, "a message is lost");
            break;
        }
        if (result == EAGAIN) {
            relax();
            continue;
        }
        expect(length == around[wanted] && *value_in(data) == wanted,
               "a message is out of order");
        ring_release(&receiver);
        wanted++;
    }
}

/* Both sides may time out, and then go on. */
static void with_deadlines(unsigned thread)
{
    if (thread == 0) {
        struct ring_sender sender;
        open_sender(&sender);
        for (uint32_t i = 0; i < 3; i++) {
            int result = send(&sender, i, around[i], new_deadline());
            if (result == ETIMEDOUT)
                result = send(&sender, i, around[i], NULL);
            expect(result == 0, "a message is refused");
        }
    } else {
        struct ring_receiver receiver;
        uint32_t value = 0;
        open_receiver(&receiver);
        for (uint32_t i = 0; i < 3; i++) {
            int result = receive(&receiver, &value, around[i], new_deadline());
            if (result == ETIMEDOUT)
                result = receive(&receiver, &value, around[i], NULL);
            expect(result == 0 && value == i, "a message is lost");
        }
    }
}

/* The receiver takes one message, and ends. */
static void until_refused(int reason)
{
    struct ring_sender sender;
    int result = 0;
    open_sender(&sender);
    for (uint32_t i = 0; i < MOST_MESSAGES && !result; i++)
        result = send(&sender, i, LONG, NULL);
    expect(result == reason, "the end of the receiver is not reported");
}

static void receiver_ends(unsigned thread)
{
    if (thread == 0) {
        until_refused(EPIPE);
        return;
    }
    struct ring_receiver receiver;
    uint32_t value = MOST_MESSAGES;
    open_receiver(&receiver);
    expect(receive(&receiver, &value, LONG, NULL) == 0 && value == 0,
           "the first message is wrong");
    begin_operation();
    receiver_close(&receiver.receiver);
}

static void receiver_dies(unsigned thread)
{
    if (thread == 0) {
        until_refused(EOWNERDEAD);
        return;
    }
    struct ring_receiver receiver;
    uint32_t value;
    open_receiver(&receiver);
    receive(&receiver, &value, LONG, NULL);
    thread_dies();
}

/* The sender dies with a message that it has not committed. */
static void sender_dies(unsigned thread)
{
    if (thread == 0) {
        struct ring_sender sender;
        void *data;
        open_sender(&sender);
        send(&sender, 0, LONG, NULL);
        begin_operation();
        ring_try_reserve(&sender, SHORT, &data);
        thread_dies();
    } else {
        struct ring_receiver receiver;
        uint32_t value = MOST_MESSAGES;
        open_receiver(&receiver);
        expect(receive(&receiver, &value, LONG, NULL) == 0 && value == 0,
               "the message of a dead sender is lost");
        expect(receive(&receiver, &value, SHORT, NULL) == EOWNERDEAD,
               "the death of the sender is not reported");
    }
}

static void finish_nothing(void)
{
}

const struct client ring_clients[] = {
    {.name = "wrap",
     .summary = "three messages, of which the last one skips the end of the ring",
     .threads = 2,
     .body = wrap,
     .finish = finish_nothing},
    {.name = "likeness",
     .summary = "a message whose contents look like messages, and three after it",
     .threads = 2,
     .body = likeness_of_header,
     .finish = finish_nothing},
    {.name = "full",
     .summary = "three messages that would fill the ring",
     .threads = 2,
     .body = full,
     .finish = finish_nothing},
    {.name = "polled",
     .summary = "the messages that wrap, with a receiver that polls",
     .threads = 2,
     .body = polled,
     .finish = finish_nothing},
    {.name = "deadlines",
     .summary = "both sides may time out, and then go on",
     .threads = 2,
     .body = with_deadlines,
     .finish = finish_nothing},
    {.name = "receiver-ends",
     .summary = "the receiver closes while the sender may wait for room",
     .threads = 2,
     .body = receiver_ends,
     .finish = finish_nothing},
    {.name = "receiver-dies",
     .summary = "the receiver ends without closing",
     .threads = 2,
     .body = receiver_dies,
     .finish = finish_nothing,
     .dies = true},
    {.name = "sender-dies",
     .summary = "the sender ends with a message that it has not committed",
     .threads = 2,
     .body = sender_dies,
     .finish = finish_nothing,
     .dies = true},
    {.name = "spurious",
     .summary = "the messages that wrap; each thread may wake up spuriously once",
     .threads = 2,
     .suits = parks,
     .body = wrap,
     .finish = finish_nothing,
     .spurious_wakeups = 1},
};
const unsigned ring_client_count = sizeof ring_clients / sizeof ring_clients[0];
