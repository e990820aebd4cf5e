/* SPDX-License-Identifier: MIT */
/* What the library answers to arguments and calls that make no sense. */
#include "expect.h"

#include <hasp/barrier.h>
#include <hasp/channel.h>
#include <hasp/ring.h>
#include <hasp/rwlock.h>

#include <stdio.h>
#include <stdlib.h>

/* A second destroy does not give the barrier's memory to two others. */
static void barriers(void)
{
    struct hasp_barrier barrier, other;
    EXPECT(hasp_barrier_init(&barrier, "central", 1), 0);
    EXPECT(hasp_barrier_destroy(&barrier), 0);
    EXPECT(hasp_barrier_destroy(&barrier), 0);
    EXPECT(hasp_barrier_init(&barrier, "dissemination", 1), 0);
    EXPECT(hasp_barrier_init(&other, "dissemination", 1), 0);
    EXPECT(hasp_barrier_wait(&barrier), true);
    EXPECT(hasp_barrier_wait(&other), true);
    EXPECT(hasp_barrier_destroy(&barrier), 0);
    EXPECT(hasp_barrier_destroy(&other), 0);
}

/* A batch whose messages are longer than a line gets none; no other message is taken
 * for one of them. */
static void batches(void)
{
    static _Alignas(HASP_CHANNEL_ALIGNMENT) char memory[1024];
    static char buffer[1 << 18];
    struct hasp_channel *channel = (struct hasp_channel *)(void *)memory;
    struct hasp_sender sender;
    struct hasp_receiver receiver;
    size_t length;
    EXPECT(hasp_channel_size(4) <= sizeof memory, true);
    EXPECT(hasp_channel_init(channel, 4, HASP_CHANNEL_PARK), 0);
    EXPECT(hasp_sender_open(&sender, channel), 0);
    EXPECT(hasp_receiver_open(&receiver, channel, NULL), 0);
    EXPECT(hasp_try_send_batch(&sender, buffer, HASP_CHANNEL_BYTES + 1, 2), 0);
    EXPECT(hasp_try_send_batch(&sender, NULL, 0, 2), 2);
    EXPECT(hasp_try_receive_batch(&receiver, NULL, 0, 3), 2);
    EXPECT(hasp_send_large(&sender, buffer, 0, NULL), 0);
    for (size_t each = 1; each <= sizeof buffer; each *= 2)
        EXPECT(hasp_try_receive_batch(&receiver, buffer, each, 1), 0);
    EXPECT(hasp_receive_large(&receiver, buffer, 0, &length, NULL), 0);
}

/* A time that is none ends a wait, however the channel's waiters wait. */
static void deadlines(uint32_t flags)
{
    static _Alignas(HASP_CHANNEL_ALIGNMENT) char memory[1024];
    struct hasp_channel *channel = (struct hasp_channel *)(void *)memory;
    struct hasp_sender sender;
    struct hasp_receiver receiver;
    struct hasp_receiver *all = &receiver;
    struct hasp_receivers set = {&all, 1, 0};
    const struct timespec past = {-1, 0}, none[] = {{0, -1}, {0, 1000000000}};
    char data[8];
    uint32_t from;
    size_t length;
    EXPECT(hasp_channel_init(channel, 2, flags), 0);
    EXPECT(hasp_sender_open(&sender, channel), 0);
    EXPECT(hasp_receiver_open(&receiver, channel, NULL), 0);
    EXPECT(hasp_receive(&receiver, data, sizeof data, &length, &past), ETIMEDOUT);
    for (int i = 0; i < 2; i++) {
        const struct timespec *at = &none[i];
        EXPECT(hasp_receive(&receiver, data, sizeof data, &length, at), EINVAL);
        EXPECT(hasp_receive_large(&receiver, data, sizeof data, &length, at), EINVAL);
        int result =
            hasp_receive_any(&set, NULL, &from, data, sizeof data, &length, at);
        EXPECT(result, EINVAL);
        EXPECT(hasp_send(&sender, NULL, 0, at), 0);
        EXPECT(hasp_receive(&receiver, data, sizeof data, &length, at), 0);
    }
    EXPECT(hasp_try_send_batch(&sender, NULL, 0, 2), 2);
    EXPECT(hasp_send(&sender, NULL, 0, &none[0]), EINVAL);
    EXPECT(hasp_send_large(&sender, NULL, 0, &none[1]), EINVAL);
}

/* Each timed function accepts both clocks, and refuses others. */
static void clocks(void)
{
    static _Alignas(HASP_CHANNEL_ALIGNMENT) char memory[1024];
    struct hasp_ring *ring = (struct hasp_ring *)(void *)memory;
    struct hasp_ring_sender sender;
    struct hasp_ring_receiver receiver;
    struct hasp_rwlock lock;
    const struct timespec past = {1, 0};
    const clockid_t wrong = CLOCK_PROCESS_CPUTIME_ID;
    const void *found;
    void *space;
    size_t length;
    EXPECT(hasp_ring_size(256) <= sizeof memory, true);
    EXPECT(hasp_ring_longest(256), 64);
    EXPECT(hasp_ring_longest(100), 0);
    EXPECT(hasp_ring_init(ring, 256, 4), EINVAL);
    EXPECT(hasp_ring_init(ring, 256, HASP_CHANNEL_PARK), 0);
    EXPECT(hasp_ring_sender_open(&sender, ring), 0);
    EXPECT(hasp_ring_receiver_open(&receiver, ring), 0);
    const clockid_t right[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
    for (int i = 0; i < 2; i++)
        EXPECT(hasp_ring_clockpeek(&receiver, &found, &length, right[i], &past),
               ETIMEDOUT);
    EXPECT(hasp_ring_clockpeek(&receiver, &found, &length, wrong, &past), EINVAL);
    EXPECT(hasp_ring_reserve(&sender, 64, &space, NULL), 0);
    EXPECT(hasp_ring_commit(&sender, 64), 0);
    for (int i = 0; i < 2; i++)
        EXPECT(hasp_ring_clockreserve(&sender, 64, &space, right[i], &past), ETIMEDOUT);
    EXPECT(hasp_ring_clockreserve(&sender, 64, &space, wrong, &past), EINVAL);
    EXPECT(hasp_rwlock_init(&lock, "rw-futex"), 0);
    EXPECT(hasp_rwlock_write_lock(&lock), 0);
    EXPECT(hasp_rwlock_write_clocklock(&lock, wrong, &past), EINVAL);
    EXPECT(hasp_rwlock_unlock(&lock), 0);
    EXPECT(hasp_rwlock_read_timedlock(&lock, &past), 0);
    EXPECT(hasp_rwlock_unlock(&lock), 0);
    EXPECT(hasp_rwlock_write_timedlock(&lock, &past), 0);
    EXPECT(hasp_rwlock_unlock(&lock), 0);
}

int main(void)
{
    clocks();
    deadlines(HASP_CHANNEL_SPIN);
    deadlines(HASP_CHANNEL_PARK);
    batches();
    barriers();
    puts("all answered");
    return 0;
}
