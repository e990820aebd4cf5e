/* SPDX-License-Identifier: MIT */
/* Hasp's channels and SSYNC's messages as transports. */
#ifndef HASP_BENCH_MESSAGES_OWN_H
#define HASP_BENCH_MESSAGES_OWN_H

#include "bench/messages/messages.h"
#include "structures/channel/large.h"

struct hasp_lane {
    struct sender sender __attribute__((aligned(CACHE_LINE)));
    struct receiver receiver __attribute__((aligned(CACHE_LINE)));
    struct channel channel;
    struct message_line lines[SLOTS];
};

static void hasp_prepare(void *memory)
{
    channel_init(&((struct hasp_lane *)memory)->channel, SLOTS, 0);
}

static void hasp_prepare_park(void *memory)
{
    channel_init(&((struct hasp_lane *)memory)->channel, SLOTS, CHANNEL_PARKS);
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

#define HASP_TRANSPORT(prepares)                                                       \
    {                                                                                  \
        .bytes = sizeof(struct hasp_lane), .prepare = prepares, .open = hasp_open,     \
        .try_send = hasp_try_send, .try_receive = hasp_try_receive,                    \
        .try_send_batch = hasp_send_batch, .try_receive_batch = hasp_receive_batch,    \
        .send = hasp_send, .receive = hasp_receive                                     \
    }
static const struct transport hasp_transport = HASP_TRANSPORT(hasp_prepare);
static const struct transport hasp_park_transport = HASP_TRANSPORT(hasp_prepare_park);
RUNS(hasp_run, hasp_transport)
RUNS(hasp_park_run, hasp_park_transport)

/* SSYNC's libssmp: one line, whose flag both sides write. */
struct ssmp_lane {
    struct payload payload __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 full;
};

static void ssmp_prepare(void *memory)
{
    (void)memory;
}

static force_inline bool ssmp_try_send(void *memory, const struct payload *payload)
{
    struct ssmp_lane *lane = memory;
    if (load_acquire(&lane->full))
        return false;
    lane->payload = *payload;
    store_release(&lane->full, 1);
    return true;
}

static force_inline bool ssmp_try_receive(void *memory, struct payload *payload)
{
    struct ssmp_lane *lane = memory;
    if (!load_acquire(&lane->full))
        return false;
    *payload = lane->payload;
    store_release(&lane->full, 0);
    return true;
}

static const struct transport ssmp_transport = {.bytes = sizeof(struct ssmp_lane),
                                                .prepare = ssmp_prepare,
                                                .try_send = ssmp_try_send,
                                                .try_receive = ssmp_try_receive};
RUNS(ssmp_run, ssmp_transport)

#endif
