/* SPDX-License-Identifier: MIT */
/* Messages longer than a line, batches, and broadcasts. */
#include "check.h"

#include "structures/channel/large.h"

enum { LONGEST = 5000 };

static struct channel *new_channel(void)
{
    struct channel *channel = map_pages(channel_size(8));
    CHECK(channel);
    CHECK_EQUAL(channel_init(channel, 8, CHANNEL_PARKS), 0);
    return channel;
}

static void *send_lengths(void *argument)
{
    static unsigned char data[LONGEST];
    struct sender sender;
    CHECK_EQUAL(sender_open(&sender, argument), 0);
    for (size_t length = 0; length <= LONGEST; length = length * 3 + 1) {
        for (size_t i = 0; i < length; i++)
            data[i] = (unsigned char)(i * 7 + length);
        CHECK_EQUAL(sender_send_large(&sender, data, length, NULL), 0);
    }
    CHECK_EQUAL(sender_send(&sender, "short", 6, NULL), 0);
    CHECK_EQUAL(sender_send_large(&sender, data, LONGEST, NULL), 0);
    return NULL;
}

/* Longer ones than the channel holds; the last sender dies after its message. */
static void test_large(void)
{
    static unsigned char data[LONGEST];
    struct channel *channel = new_channel();
    struct receiver receiver;
    pthread_t thread;
    size_t got = 0;
    CHECK_EQUAL(receiver_open(&receiver, channel, NULL), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, send_lengths, channel), 0);
    for (size_t length = 0; length <= LONGEST; length = length * 3 + 1) {
        CHECK_EQUAL(receiver_receive_large(&receiver, data, LONGEST, &got, NULL), 0);
        CHECK_EQUAL(got, length);
        for (size_t i = 0; i < length; i++)
            CHECK_EQUAL(data[i], (unsigned char)(i * 7 + length));
    }
    CHECK_EQUAL(receiver_receive_large(&receiver, data, LONGEST, &got, NULL), 0);
    CHECK_EQUAL(got, 6);
    CHECK_EQUAL(receiver_receive(&receiver, data, 64, &got, NULL), EMSGSIZE);
    CHECK_EQUAL(got, LONGEST);
    CHECK_EQUAL(receiver_receive_large(&receiver, data, LONGEST - 1, &got, NULL),
                EMSGSIZE);
    CHECK_EQUAL(receiver_receive_large(&receiver, data, LONGEST, &got, NULL), 0);
    CHECK_EQUAL(receiver_receive_large(&receiver, data, LONGEST, &got, NULL),
                EOWNERDEAD);
    pthread_join(thread, NULL);
}

static void test_batches(void)
{
    struct channel *channel = new_channel();
    struct sender sender;
    struct receiver receiver;
    uint64_t numbers[12], got[12];
    for (uint64_t i = 0; i < 12; i++)
        numbers[i] = i;
    CHECK_EQUAL(sender_open(&sender, channel), 0);
    CHECK_EQUAL(receiver_open(&receiver, channel, NULL), 0);
    CHECK_EQUAL(receiver_try_batch(&receiver, got, 8, 12), 0);
    CHECK_EQUAL(sender_try_batch(&sender, numbers, 8, 12), 8);
    CHECK_EQUAL(receiver_try_batch(&receiver, got, 8, 3), 3);
    CHECK_EQUAL(got[2], 2);
    CHECK_EQUAL(receiver_try_batch(&receiver, got, 4, 3), 0);
    CHECK_EQUAL(receiver_try_batch(&receiver, got, 8, 12), 5);
    CHECK_EQUAL(got[4], 7);
}

static void test_broadcast(void)
{
    struct sender senders[3];
    struct receiver receivers[3];
    sender_pointer all[3];
    int results[3];
    for (int i = 0; i < 3; i++) {
        struct channel *channel = new_channel();
        CHECK_EQUAL(sender_open(&senders[i], channel), 0);
        CHECK_EQUAL(receiver_open(&receivers[i], channel, NULL), 0);
        all[i] = &senders[i];
    }
    CHECK_EQUAL(senders_broadcast(all, 3, "news", 5, NULL, NULL), 0);
    receiver_close(&receivers[1]);
    CHECK_EQUAL(senders_broadcast(all, 3, "more", 5, NULL, results), EPIPE);
    CHECK_EQUAL(results[0], 0);
    CHECK_EQUAL(results[1], EPIPE);
    CHECK_EQUAL(results[2], 0);
    for (int i = 0; i < 3; i += 2) {
        char data[8];
        size_t length;
        CHECK_EQUAL(receiver_try(&receivers[i], data, sizeof data, &length), 0);
        CHECK_EQUAL(receiver_try(&receivers[i], data, sizeof data, &length), 0);
        CHECK_EQUAL(strcmp(data, "more"), 0);
    }
}

int main(void)
{
    test_large();
    test_batches();
    test_broadcast();
    return 0;
}
