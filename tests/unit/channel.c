/* SPDX-License-Identifier: MIT */
/* Channels between threads: order, every way in which a message can be refused, and the
 * ends of the other side. */
#include "check.h"

#include "locks/waiting/policies.h"
#include "structures/channel/receivers.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_CHANNELS = 4, MESSAGES = 2000 };

static struct channel *new_channel(uint32_t slots, uint32_t flags)
{
    struct channel *channel = map_pages(channel_size(slots));
    CHECK(channel);
    CHECK_EQUAL(channel_init(channel, slots, flags), 0);
    return channel;
}

struct ends {
    struct channel *channel;
    struct sender sender;
    struct receiver receiver;
};

static void open_both(struct ends *ends, uint32_t slots, uint32_t flags)
{
    ends->channel = new_channel(slots, flags);
    CHECK_EQUAL(sender_open(&ends->sender, ends->channel), 0);
    CHECK_EQUAL(receiver_open(&ends->receiver, ends->channel, NULL), 0);
}

static size_t length_of(uint32_t number)
{
    return number % (MESSAGE_BYTES + 1);
}

static void *send_numbers(void *argument)
{
    struct sender sender;
    CHECK_EQUAL(sender_open(&sender, argument), 0);
    for (uint32_t number = 0; number < MESSAGES; number++) {
        unsigned char data[MESSAGE_BYTES];
        memset(data, (int)(number & 0xff), sizeof data);
        CHECK_EQUAL(sender_send(&sender, data, length_of(number), NULL), 0);
    }
    sender_close(&sender);
    return NULL;
}

/* All messages arrive, in order and complete, and then the end. */
static void test_order(uint32_t slots, uint32_t flags)
{
    struct channel *channel = new_channel(slots, flags);
    struct receiver receiver;
    CHECK_EQUAL(receiver_open(&receiver, channel, NULL), 0);
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, send_numbers, channel), 0);
    unsigned char data[MESSAGE_BYTES];
    size_t length = 0;
    for (uint32_t number = 0; number < MESSAGES; number++) {
        CHECK_EQUAL(receiver_receive(&receiver, data, sizeof data, &length, NULL), 0);
        CHECK_EQUAL(length, length_of(number));
        for (size_t i = 0; i < length; i++)
            CHECK_EQUAL(data[i], number & 0xff);
    }
    CHECK_EQUAL(receiver_receive(&receiver, data, sizeof data, &length, NULL), EPIPE);
    CHECK_EQUAL(receiver_try(&receiver, data, sizeof data, &length), EPIPE);
    pthread_join(thread, NULL);
}

static void test_refusals(void)
{
    struct ends ends;
    char data[64] = "text";
    size_t length = 0;
    open_both(&ends, 4, 0);
    CHECK_EQUAL(sender_try(&ends.sender, data, MESSAGE_BYTES + 1), EMSGSIZE);
    CHECK_EQUAL(receiver_try(&ends.receiver, data, sizeof data, &length), EAGAIN);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(sender_try(&ends.sender, data, 5), 0);
    CHECK_EQUAL(sender_try(&ends.sender, data, 5), EAGAIN);
    CHECK_EQUAL(receiver_try(&ends.receiver, data, 4, &length), EMSGSIZE);
    CHECK_EQUAL(length, 5);
    CHECK_EQUAL(receiver_try(&ends.receiver, data, sizeof data, &length), 0);
    CHECK_EQUAL(strcmp(data, "text"), 0);
    CHECK_EQUAL(sender_try(&ends.sender, NULL, 0), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(receiver_try(&ends.receiver, data, sizeof data, &length), 0);
    CHECK_EQUAL(length, 0);
    receiver_close(&ends.receiver);
    CHECK_EQUAL(sender_try(&ends.sender, data, 5), EPIPE);
    CHECK_EQUAL(sender_peer(&ends.sender), EPIPE);
}

static void test_opening(void)
{
    struct ends ends;
    struct sender sender;
    struct receiver receiver;
    char none[sizeof(struct channel)] __attribute__((aligned(CACHE_LINE))) = {0};
    struct channel *no_channel = (void *)none;
    open_both(&ends, 8, 0);
    CHECK_EQUAL(sender_open(&sender, ends.channel), EBUSY);
    CHECK_EQUAL(receiver_open(&receiver, ends.channel, NULL), EBUSY);
    CHECK_EQUAL(sender_open(&sender, no_channel), EINVAL);
    CHECK_EQUAL(receiver_open(&receiver, no_channel, NULL), EINVAL);
    CHECK_EQUAL(channel_size(0), 0);
    CHECK_EQUAL(channel_size(1), 0);
    CHECK_EQUAL(channel_size(12), 0);
    CHECK_EQUAL(channel_size(2u * CHANNEL_SLOTS_MOST), 0);
    CHECK_EQUAL(channel_init(no_channel, 3, 0), EINVAL);
    CHECK_EQUAL(channel_init(no_channel, 4, 64), EINVAL);
    CHECK_EQUAL(channel_init((void *)(none + 8), 4, 0), EINVAL);
}

static void test_deadlines(uint32_t flags)
{
    struct ends ends;
    char data[MESSAGE_BYTES];
    size_t length;
    open_both(&ends, 2, flags);
    struct deadline soon = deadline_after(2000000);
    CHECK_EQUAL(receiver_receive(&ends.receiver, data, 8, &length, &soon), ETIMEDOUT);
    CHECK(deadline_passed(&soon));
    CHECK_EQUAL(sender_send(&ends.sender, "1", 1, &soon), 0);
    CHECK_EQUAL(sender_send(&ends.sender, "2", 1, &soon), 0);
    soon = deadline_after(2000000);
    CHECK_EQUAL(sender_send(&ends.sender, "3", 1, &soon), ETIMEDOUT);
    CHECK(deadline_passed(&soon));
    CHECK_EQUAL(receiver_receive(&ends.receiver, data, 8, &length, &soon), 0);
    CHECK_EQUAL(sender_send(&ends.sender, "3", 1, &soon), 0);
}

/* Numbers wrap around. */
static void test_wrap(void)
{
    struct ends ends;
    size_t length;
    open_both(&ends, 4, 0);
    uint32_t start = UINT32_MAX - 5;
    sender_move(&ends.sender, start);
    receiver_move(&ends.receiver, start);
    ends.sender.limit = start + 4;
    store_relaxed(&ends.channel->taken, start);
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t got = 0;
        CHECK_EQUAL(receiver_try(&ends.receiver, &got, sizeof got, &length), EAGAIN);
        CHECK_EQUAL(sender_try(&ends.sender, &i, sizeof i), 0);
        CHECK_EQUAL(receiver_try(&ends.receiver, &got, sizeof got, &length), 0);
        CHECK_EQUAL(got, i);
    }
}

static void *end_as_sender(void *argument)
{
    struct sender sender;
    CHECK_EQUAL(sender_open(&sender, argument), 0);
    CHECK_EQUAL(sender_send(&sender, "last", 5, NULL), 0);
    return NULL;
}

static void *end_as_receiver(void *argument)
{
    struct receiver receiver;
    CHECK_EQUAL(receiver_open(&receiver, argument, NULL), 0);
    return NULL;
}

/* A thread that ends without closing its side is reported, after its messages. */
static void test_dead_threads(uint32_t flags)
{
    struct channel *channel = new_channel(2, flags);
    struct receiver receiver;
    char data[8] = "";
    size_t length;
    pthread_t thread;
    CHECK_EQUAL(receiver_open(&receiver, channel, NULL), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, end_as_sender, channel), 0);
    CHECK_EQUAL(receiver_receive(&receiver, data, sizeof data, &length, NULL), 0);
    CHECK_EQUAL(receiver_receive(&receiver, data, sizeof data, &length, NULL),
                EOWNERDEAD);
    pthread_join(thread, NULL);
    CHECK_EQUAL(receiver_peer(&receiver), EOWNERDEAD);

    struct sender sender;
    channel = new_channel(2, flags);
    CHECK_EQUAL(sender_open(&sender, channel), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, end_as_receiver, channel), 0);
    int result = 0;
    for (int i = 0; i < 3 && result == 0; i++)
        result = sender_send(&sender, data, sizeof data, NULL);
    CHECK_EQUAL(result, EOWNERDEAD);
    pthread_join(thread, NULL);
}

/* So is a process that has been killed. */
static void test_dead_process(uint32_t flags)
{
    struct channel *channel = mmap(NULL, channel_size(2), PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct receiver receiver;
    char data[8];
    size_t length;
    int status;
    CHECK(channel != MAP_FAILED);
    CHECK_EQUAL(channel_init(channel, 2, flags), 0);
    CHECK_EQUAL(receiver_open(&receiver, channel, NULL), 0);
    pid_t child = fork();
    if (child == 0) {
        struct sender sender;
        if (sender_open(&sender, channel) || sender_send(&sender, "last", 5, NULL))
            _exit(1);
        raise(SIGKILL);
    }
    CHECK(child > 0);
    CHECK_EQUAL(receiver_receive(&receiver, data, sizeof data, &length, NULL), 0);
    CHECK_EQUAL(strcmp(data, "last"), 0);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    CHECK_EQUAL(receiver_peer(&receiver), EOWNERDEAD);
    CHECK_EQUAL(receiver_receive(&receiver, data, sizeof data, &length, NULL),
                EOWNERDEAD);
}

struct set {
    struct channel *channels[MOST_CHANNELS];
    struct receiver receivers[MOST_CHANNELS];
    receiver_pointer all[MOST_CHANNELS];
    struct atomic_u32 bell;
    struct receivers set;
};

static void open_set(struct set *set, uint32_t flags)
{
    memset((void *)set, 0, sizeof *set);
    for (uint32_t i = 0; i < MOST_CHANNELS; i++) {
        set->channels[i] = new_channel(8, flags);
        CHECK_EQUAL(receiver_open(&set->receivers[i], set->channels[i], &set->bell), 0);
        set->all[i] = &set->receivers[i];
    }
    set->set.all = set->all;
    set->set.count = MOST_CHANNELS;
}

/* Channels that have messages take turns; others are left out. */
static void test_turns(void)
{
    static struct set set;
    struct sender senders[MOST_CHANNELS];
    uint32_t from, got;
    size_t length;
    open_set(&set, 0);
    for (uint32_t i = 0; i < MOST_CHANNELS; i++) {
        CHECK_EQUAL(sender_open(&senders[i], set.channels[i]), 0);
        for (uint32_t k = 0; k < 4; k++)
            CHECK_EQUAL(sender_try(&senders[i], &i, sizeof i), 0);
    }
    for (uint32_t k = 0; k < 2 * MOST_CHANNELS; k++) {
        CHECK_EQUAL(
            receivers_receive(&set.set, NULL, &from, &got, sizeof got, &length, NULL),
            0);
        CHECK_EQUAL(from, k % MOST_CHANNELS);
        CHECK_EQUAL(got, from);
    }
    uint64_t subset = 1 << 1 | 1 << 3;
    for (uint32_t k = 0; k < 4; k++) {
        CHECK_EQUAL(receivers_receive(&set.set, &subset, &from, &got, sizeof got,
                                      &length, NULL),
                    0);
        CHECK_EQUAL(from, k % 2 ? 3 : 1);
    }
    struct deadline now = deadline_after(0);
    CHECK_EQUAL(receivers_receive(&set.set, &subset, &from, &got, 4, &length, &now),
                ETIMEDOUT);
    sender_close(&senders[3]);
    CHECK_EQUAL(receivers_receive(&set.set, &subset, &from, &got, 4, &length, NULL),
                EPIPE);
    CHECK_EQUAL(from, 3);
    set.all[3] = NULL;
    uint64_t nothing = 1 << 3;
    CHECK_EQUAL(receivers_receive(&set.set, &nothing, &from, &got, 4, &length, NULL),
                EINVAL);
}

/* A receiver of several channels is woken by each, until all have closed. */
static void test_any(uint32_t flags)
{
    static struct set set;
    pthread_t threads[MOST_CHANNELS];
    unsigned char data[MESSAGE_BYTES];
    uint32_t from, open = MOST_CHANNELS, got = 0;
    size_t length;
    open_set(&set, flags);
    for (int i = 0; i < MOST_CHANNELS; i++)
        CHECK(!pthread_create(&threads[i], NULL, send_numbers, set.channels[i]));
    while (open) {
        int result =
            receivers_receive(&set.set, NULL, &from, data, sizeof data, &length, NULL);
        if (result == EPIPE) {
            set.all[from] = NULL;
            open--;
            continue;
        }
        CHECK_EQUAL(result, 0);
        got++;
    }
    CHECK_EQUAL(got, MOST_CHANNELS * MESSAGES);
    for (int i = 0; i < MOST_CHANNELS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    test_refusals();
    test_opening();
    test_wrap();
    test_turns();
    for (uint32_t flags = 0; flags <= (CHANNEL_PARKS | CHANNEL_SHARED); flags++) {
        test_order(2, flags);
        test_order(64, flags);
        test_deadlines(flags);
        test_dead_threads(flags);
        test_any(flags);
    }
    test_dead_process(CHANNEL_SHARED);
    test_dead_process(CHANNEL_SHARED | CHANNEL_PARKS);
    return 0;
}
