/* SPDX-License-Identifier: MIT */
/* Hasp's channels and rings as transports. */
#ifndef HASP_BENCH_MESSAGES_OWN_H
#define HASP_BENCH_MESSAGES_OWN_H

#include "bench/messages/messages.h"
#include "structures/channel/large.h"
#include "structures/channel/ring.h"

struct hasp_lane {
    struct sender sender __attribute__((aligned(CACHE_LINE)));
    struct receiver receiver __attribute__((aligned(CACHE_LINE)));
    struct channel channel;
    struct message_line lines[SLOTS];
    struct large outgoing, incoming;
};

static void hasp_prepare(void *memory)
{
    channel_init(&((struct hasp_lane *)memory)->channel, SLOTS, 0);
}

static void hasp_prepare_park(void *memory)
{
    channel_init(&((struct hasp_lane *)memory)->channel, SLOTS,
                 channel_flags_here(CHANNEL_PARKS));
}

static void hasp_open(void *memory, bool sends)
{
    struct hasp_lane *lane = memory;
    if (sends)
        sender_open(&lane->sender, &lane->channel);
    else
        receiver_open(&lane->receiver, &lane->channel, NULL);
}

static force_inline bool hasp_try_send(void *memory, const struct payload *payload)
{
    struct hasp_lane *lane = memory;
    return sender_try(&lane->sender, payload, sizeof *payload) == 0;
}

static force_inline bool hasp_try_receive(void *memory, struct payload *payload)
{
    struct hasp_lane *lane = memory;
    size_t length;
    return receiver_try(&lane->receiver, payload, sizeof *payload, &length) == 0;
}

static force_inline void hasp_send(void *memory, const struct payload *payload)
{
    struct hasp_lane *lane = memory;
    sender_send(&lane->sender, payload, sizeof *payload, NULL);
}

static force_inline void hasp_receive(void *memory, struct payload *payload)
{
    struct hasp_lane *lane = memory;
    size_t length;
    receiver_receive(&lane->receiver, payload, sizeof *payload, &length, NULL);
}

static force_inline unsigned
hasp_send_batch(void *memory, const struct payload *payload, unsigned count)
{
    struct hasp_lane *lane = memory;
    return (unsigned)sender_try_batch(&lane->sender, payload, sizeof *payload, count);
}

static force_inline unsigned hasp_receive_batch(void *memory, struct payload *payload,
                                                unsigned count)
{
    struct hasp_lane *lane = memory;
    return (unsigned)receiver_try_batch(&lane->receiver, payload, sizeof *payload,
                                        count);
}

static force_inline struct large *hasp_large_room(void *memory)
{
    return &((struct hasp_lane *)memory)->outgoing;
}

static force_inline bool hasp_large_send(void *memory)
{
    struct hasp_lane *lane = memory;
    return sender_send_large(&lane->sender, &lane->outgoing, LARGE_BYTES, NULL) == 0;
}

static force_inline const struct large *hasp_large_next(void *memory)
{
    struct hasp_lane *lane = memory;
    size_t length;
    return receiver_receive_large(&lane->receiver, &lane->incoming, LARGE_BYTES,
                                  &length, NULL)
               ? NULL
               : &lane->incoming;
}

static force_inline void large_stays(void *memory)
{
    (void)memory;
}

#define HASP_TRANSPORT(prepares)                                                       \
    {.bytes = sizeof(struct hasp_lane),                                                \
     .prepare = prepares,                                                              \
     .open = hasp_open,                                                                \
     .try_send = hasp_try_send,                                                        \
     .try_receive = hasp_try_receive,                                                  \
     .try_send_batch = hasp_send_batch,                                                \
     .try_receive_batch = hasp_receive_batch,                                          \
     .send = hasp_send,                                                                \
     .receive = hasp_receive,                                                          \
     .large_room = hasp_large_room,                                                    \
     .large_send = hasp_large_send,                                                    \
     .large_next = hasp_large_next,                                                    \
     .large_done = large_stays}
static const struct transport hasp_transport = HASP_TRANSPORT(hasp_prepare);
static const struct transport hasp_park_transport = HASP_TRANSPORT(hasp_prepare_park);
RUNS(hasp_run, hasp_transport)
RUNS(hasp_park_run, hasp_park_transport)

/* Hasp's ring, for large messages. */
struct ring_lane {
    struct ring_sender sender __attribute__((aligned(CACHE_LINE)));
    struct ring_receiver receiver __attribute__((aligned(CACHE_LINE)));
    struct channel ring;
    struct message_line lines[LARGE_SLOTS * LARGE_BYTES / MESSAGE_LINE];
};

static void ring_prepare(void *memory)
{
    ring_init(&((struct ring_lane *)memory)->ring, LARGE_SLOTS * LARGE_BYTES, 0);
}

static void ring_open(void *memory, bool sends)
{
    struct ring_lane *lane = memory;
    if (sends)
        ring_sender_open(&lane->sender, &lane->ring);
    else
        ring_receiver_open(&lane->receiver, &lane->ring, NULL);
}

static force_inline struct large *ring_large_room(void *memory)
{
    void *data;
    int full =
        ring_try_reserve(&((struct ring_lane *)memory)->sender, LARGE_BYTES, &data);
    return full ? NULL : data;
}

static force_inline bool ring_large_send(void *memory)
{
    return ring_commit(&((struct ring_lane *)memory)->sender, LARGE_BYTES) == 0;
}

static force_inline const struct large *ring_large_next(void *memory)
{
    const void *data;
    size_t length;
    int empty = ring_try_peek(&((struct ring_lane *)memory)->receiver, &data, &length);
    return empty ? NULL : data;
}

static force_inline void ring_large_done(void *memory)
{
    ring_release(&((struct ring_lane *)memory)->receiver);
}

static const struct transport ring_transport = {.bytes = sizeof(struct ring_lane),
                                                .prepare = ring_prepare,
                                                .open = ring_open,
                                                .large_room = ring_large_room,
                                                .large_send = ring_large_send,
                                                .large_next = ring_large_next,
                                                .large_done = ring_large_done};
RUNS(ring_run, ring_transport)

#endif
