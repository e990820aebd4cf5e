/* SPDX-License-Identifier: MIT */
#include "explorer/clients/channel_state.h"

#include "explorer/clients/clients.h"
#include "explorer/execution/services.h"

static struct client_channel {
    struct channel channel;
    struct message_line lines[LONG_SLOTS];
} channels[CHANNELS];

struct atomic_u32 common_bell;

struct channel *channel_of(unsigned index)
{
    return &channels[index].channel;
}

struct lock_descriptor channel_client_uses(unsigned policy)
{
    const uint32_t flags = channel_policy_flags(policy);
    for (unsigned i = 0; i < CHANNELS; i++)
        channel_init(channel_of(i), i == LONG ? LONG_SLOTS : 2, flags);
    channel_of(IN_TWOS)->quantum = 2; /* fewer lines than channel_init() would have */
    return *channel_policy(policy);
}

void open_sender(struct sender *sender, unsigned index)
{
    begin_operation();
    expect(sender_open(sender, channel_of(index)) == 0, "a sender is refused");
}

void open_receiver(struct receiver *receiver, unsigned index, struct atomic_u32 *bell)
{
    begin_operation();
    expect(receiver_open(receiver, channel_of(index), bell) == 0,
           "a receiver is refused");
}

void close_sender(struct sender *sender)
{
    begin_operation();
    sender_close(sender);
}

/* As sender_send(). The copy is a plain store, which the compiler reports. */
int send_value(struct sender *sender, uint32_t value, const struct deadline *deadline)
{
    begin_operation();
    struct message_line *line = sender_reserve(sender);
    if (!line) {
        int result = sender_wait(sender, deadline);
        if (result)
            return result;
        line = sender_reserve(sender);
        expect(line != NULL, "a wait for room ends without any");
    }
    *(uint32_t *)(void *)line->data = value;
    sender_publish(sender, line, sizeof value);
    return sender_notify(sender);
}

uint32_t take_value(struct receiver *receiver, struct message_line *line)
{
    uint32_t value = *(uint32_t *)(void *)line->data;
    receiver_release(receiver);
    return value;
}

/* As receiver_receive(). */
int receive_value(struct receiver *receiver, uint32_t *value,
                  const struct deadline *deadline)
{
    begin_operation();
    struct message_line *line = receiver_peek_soon(receiver);
    if (!line) {
        int result = receiver_wait(receiver, deadline);
        if (result)
            return result;
        line = receiver_peek(receiver);
        expect(line != NULL, "a wait for a message ends without one");
    }
    *value = take_value(receiver, line);
    return 0;
}
