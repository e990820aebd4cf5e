/* SPDX-License-Identifier: MIT */
#include "structures/channel/ring.h"

enum { LINES_LEAST = 4 }; /* one of contents in half of them */

/* Returns 0 for a size that no ring has. */
static uint32_t lines_of(size_t bytes)
{
    const size_t lines = bytes / MESSAGE_LINE;
    return bytes % MESSAGE_LINE || lines < LINES_LEAST || lines > CHANNEL_SLOTS_MOST
               ? 0
               : (uint32_t)lines;
}

size_t ring_size(size_t bytes)
{
    return channel_size(lines_of(bytes));
}

int ring_init(struct channel *channel, size_t bytes, uint32_t flags)
{
    return channel_init(channel, lines_of(bytes), flags | CHANNEL_RING);
}

int ring_sender_open(struct ring_sender *ring, struct channel *channel)
{
    memset((void *)ring, 0, sizeof *ring);
    return sender_open_as(&ring->sender, channel, CHANNEL_RING);
}

int ring_receiver_open(struct ring_receiver *ring, struct channel *channel,
                       struct atomic_u32 *bell)
{
    ring->held = 0;
    return receiver_open_as(&ring->receiver, channel, bell, CHANNEL_RING);
}
