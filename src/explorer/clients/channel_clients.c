/* SPDX-License-Identifier: MIT */
/* Clients of channels: messages arrive complete, once and in order; a wait ends when
 * there is a message or room, when the other side closes or dies, and at its
 * deadline. */
#include "explorer/clients/clients.h"

#include "explorer/base/variables.h"
#include "explorer/clients/channel_state.h"
#include "explorer/clients/suitable.h"
#include "explorer/execution/services.h"

#include "structures/channel/receivers.h"

static void send_all(unsigned index, uint32_t messages)
{
    struct sender sender;
    open_sender(&sender, index);
    for (uint32_t value = 1; value <= messages; value++)
        expect(send_value(&sender, value, NULL) == 0, "a message is refused");
    close_sender(&sender);
}

static void receive_all(unsigned index, uint32_t messages)
{
    struct receiver receiver;
    uint32_t value = 0;
    open_receiver(&receiver, index, NULL);
    for (uint32_t wanted = 1; wanted <= messages; wanted++) {
        expect(receive_value(&receiver, &value, NULL) == 0, "a message is lost");
        expect(value == wanted, "a message is out of order");
    }
    expect(receive_value(&receiver, &value, NULL) == EPIPE, "the end is not reported");
}

static void stream(unsigned thread)
{
    if (thread == 0)
        send_all(0, 3);
    else
        receive_all(0, 3);
}

static void long_stream(unsigned thread)
{
    if (thread == 0)
        send_all(LONG, LONG_SLOTS + 1);
    else
        receive_all(LONG, LONG_SLOTS + 1);
}

static void stream_announced_in_twos(unsigned thread)
{
    if (thread == 0)
        send_all(IN_TWOS, 3);
    else
        receive_all(IN_TWOS, 3);
}

/* A receiver that never calls a wait. */
static void poll_all(unsigned index, uint32_t messages)
{
    struct receiver receiver;
    uint32_t wanted = 1;
    open_receiver(&receiver, index, NULL);
    begin_operation();
    for (;;) {
        struct message_line *line = receiver_peek(&receiver);
        if (line)
            expect(take_value(&receiver, line) == wanted++,
                   "a message is out of order");
        else if (receiver_end(&receiver))
            break;
        else
            relax();
    }
    expect(wanted == messages + 1, "a message is lost");
}

static void polled(unsigned thread)
{
    if (thread == 0)
        send_all(0, 3);
    else
        poll_all(0, 3);
}

/* A request, its answer, and another one: two channels. */
static void round_trip(unsigned thread)
{
    struct sender sender;
    struct receiver receiver;
    uint32_t value = 0;
    open_sender(&sender, thread);
    open_receiver(&receiver, 1 - thread, NULL);
    for (uint32_t turn = 1; turn <= 2; turn++) {
        if (thread == 0)
            expect(send_value(&sender, turn, NULL) == 0, "a request is refused");
        expect(receive_value(&receiver, &value, NULL) == 0 && value == turn,
               "a message of a round trip is wrong");
        if (thread == 1)
            expect(send_value(&sender, turn, NULL) == 0, "an answer is refused");
    }
}

/* The receiver closes after the first message: the sender must get to know it. */
static void receiver_ends(unsigned thread)
{
    if (thread == 0) {
        struct sender sender;
        open_sender(&sender, 0);
        int result = 0;
        for (uint32_t value = 1; value <= 4 && !result; value++)
            result = send_value(&sender, value, NULL);
        expect(result == EPIPE, "a closed receiver is not reported");
    } else {
        struct receiver receiver;
        uint32_t value = 0;
        open_receiver(&receiver, 0, NULL);
        expect(receive_value(&receiver, &value, NULL) == 0 && value == 1,
               "the first message is wrong");
        begin_operation();
        receiver_close(&receiver);
    }
}

/* Both sides may time out, and then go on. */
static void with_deadlines(unsigned thread)
{
    if (thread == 0) {
        struct sender sender;
        open_sender(&sender, 0);
        for (uint32_t value = 1; value <= 3; value++) {
            int result = send_value(&sender, value, new_deadline());
            if (result == ETIMEDOUT)
                result = send_value(&sender, value, NULL);
            expect(result == 0, "a message is refused");
        }
    } else {
        struct receiver receiver;
        uint32_t value = 0;
        open_receiver(&receiver, 0, NULL);
        for (uint32_t wanted = 1; wanted <= 3; wanted++) {
            int result = receive_value(&receiver, &value, new_deadline());
            if (result == ETIMEDOUT)
                result = receive_value(&receiver, &value, NULL);
            expect(result == 0 && value == wanted, "a message is lost");
        }
    }
}

/* The sender ends without closing: its message arrives, and its end is reported. */
static void sender_dies(unsigned thread)
{
    if (thread == 0) {
        struct sender sender;
        open_sender(&sender, 0);
        send_value(&sender, 1, NULL);
        thread_dies();
    } else {
        struct receiver receiver;
        uint32_t value = 0;
        open_receiver(&receiver, 0, NULL);
        expect(receive_value(&receiver, &value, NULL) == 0 && value == 1,
               "the message of a dead sender is lost");
        expect(receive_value(&receiver, &value, NULL) == EOWNERDEAD,
               "the death of the sender is not reported");
    }
}

static void receiver_dies(unsigned thread)
{
    if (thread == 0) {
        struct sender sender;
        int result = 0;
        open_sender(&sender, 0);
        for (uint32_t value = 1; value <= 4 && !result; value++)
            result = send_value(&sender, value, NULL);
        expect(result == EOWNERDEAD, "the death of the receiver is not reported");
    } else {
        struct receiver receiver;
        uint32_t value = 0;
        open_receiver(&receiver, 0, NULL);
        receive_value(&receiver, &value, NULL);
        thread_dies();
    }
}

/* Receives so many messages, and the ends of so many senders, from two channels. */
static void receive_any(unsigned messages, unsigned ends)
{
    struct receiver receivers[SETS];
    receiver_pointer all[SETS];
    struct receivers set = {all, SETS, 0};
    for (unsigned i = 0; i < SETS; i++) {
        open_receiver(&receivers[i], i, &common_bell);
        all[i] = &receivers[i];
    }
    unsigned got = 0, ended = 0;
    while (got < messages || ended < ends) {
        uint32_t from;
        begin_operation();
        int result = receivers_wait(&set, NULL, &from, NULL);
        if (result) {
            expect(result == EPIPE, "a sender is reported as dead");
            all[from] = NULL;
            ended++;
        } else {
            expect(take_value(all[from], receiver_peek(all[from])) == 1,
                   "a wrong message");
            got++;
        }
    }
    expect(got == messages, "a message came twice");
}

/* Both senders end, one of them after a message. */
static void any(unsigned thread)
{
    if (thread == SETS)
        receive_any(1, SETS);
    else
        send_all(thread, thread);
}

/* The senders do not close, which would wake the receiver in any case. */
static void any_open(unsigned thread)
{
    struct sender sender;
    if (thread == SETS) {
        receive_any(SETS, 0);
        return;
    }
    open_sender(&sender, thread);
    expect(send_value(&sender, 1, NULL) == 0, "a message is refused");
}

/* One sender closes, and does nothing else. */
static void any_closed(unsigned thread)
{
    struct sender sender;
    if (thread == SETS) {
        receive_any(1, 1);
        return;
    }
    open_sender(&sender, thread);
    if (thread == 0)
        close_sender(&sender);
    else
        expect(send_value(&sender, 1, NULL) == 0, "a message is refused");
}

/* One thread has both senders. */
static void any_of_one(unsigned thread)
{
    if (thread == 1) {
        receive_any(SETS, SETS);
        return;
    }
    for (unsigned i = 0; i < SETS; i++)
        send_all(i, 1);
}

/* Two receivers of one channel: one is refused. */
static void two_receivers(unsigned thread)
{
    if (thread == 0) {
        send_all(0, 1);
        return;
    }
    struct receiver receiver;
    uint32_t value = 0;
    begin_operation();
    int result = receiver_open(&receiver, channel_of(0), NULL);
    expect(result == 0 || result == EBUSY, "opening fails for another reason");
    if (result == 0) {
        expect(fetch_add_relaxed(&served, 1) == 0, "two receivers of one channel");
        expect(receive_value(&receiver, &value, NULL) == 0 && value == 1,
               "a lost message");
    }
}

static void finish_nothing(void)
{
}

static void finish_one_receiver(void)
{
    expect(load_relaxed(&served) == 1, "both receivers are refused");
}

const struct client channel_clients[] = {
    {.name = "stream",
     .summary = "three messages through two lines, and the end",
     .threads = 2,
     .body = stream,
     .finish = finish_nothing},
    {.name = "polled",
     .summary = "the stream, with a receiver that polls",
     .threads = 2,
     .body = polled,
     .finish = finish_nothing},
    {.name = "round-trip",
     .summary = "two requests, each with its answer",
     .threads = 2,
     .body = round_trip,
     .finish = finish_nothing},
    {.name = "receiver-ends",
     .summary = "the receiver closes while the sender may wait for room",
     .threads = 2,
     .body = receiver_ends,
     .finish = finish_nothing},
    {.name = "deadlines",
     .summary = "both sides may time out, and then go on",
     .threads = 2,
     .body = with_deadlines,
     .finish = finish_nothing},
    {.name = "sender-dies",
     .summary = "the sender ends without closing",
     .threads = 2,
     .body = sender_dies,
     .finish = finish_nothing,
     .dies = true},
    {.name = "receiver-dies",
     .summary = "the receiver ends without closing",
     .threads = 2,
     .body = receiver_dies,
     .finish = finish_nothing,
     .dies = true},
    {.name = "any",
     .summary = "one receiver of two channels: a message, and the ends of both senders",
     .threads = 3,
     .body = any,
     .finish = finish_nothing},
    {.name = "any-open",
     .summary = "the same with two senders that send and do not close",
     .threads = 3,
     .body = any_open,
     .finish = finish_nothing,
     .alike = BIT(0) | BIT(1)},
    {.name = "any-closed",
     .summary = "the same; one sender sends, the other one only closes",
     .threads = 3,
     .body = any_closed,
     .finish = finish_nothing},
    {.name = "any-of-one",
     .summary = "one receiver of two channels, whose senders are in one thread",
     .threads = 2,
     .body = any_of_one,
     .finish = finish_nothing},
    {.name = "two-receivers",
     .summary = "two receivers of one channel: one is refused",
     .threads = 3,
     .body = two_receivers,
     .finish = finish_one_receiver},
    {.name = "long-stream",
     .summary = "nine messages through eight lines, announced in twos",
     .threads = 2,
     .body = long_stream,
     .finish = finish_nothing},
    {.name = "in-twos",
     .summary = "three messages through two lines, announced in twos",
     .threads = 2,
     .body = stream_announced_in_twos,
     .finish = finish_nothing},
    {.name = "spurious",
     .summary = "the stream; each thread may wake up spuriously once",
     .threads = 2,
     .suits = parks,
     .body = stream,
     .finish = finish_nothing,
     .spurious_wakeups = 1},
    {.name = "no-barrier",
     .summary = "the stream, where heavy barriers fail: waiters spin",
     .threads = 2,
     .suits = parks,
     .body = stream,
     .finish = finish_nothing,
     .without_barrier = true},
};
const unsigned channel_client_count =
    sizeof channel_clients / sizeof channel_clients[0];
