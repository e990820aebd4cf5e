/* SPDX-License-Identifier: MIT */
/* Rings between threads and between processes: order, contents and alignment of
 * messages of all lengths, every way in which one can be refused, and the ends of the
 * other side. */
#include "check.h"

#include "locks/waiting/policies.h"
#include "structures/channel/ring.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 4096, LONGEST = BYTES / 2 - RING_HEADER, MESSAGES = 3000 };
enum { FULL = 64 }; /* the longest message of four lines */

static struct channel *new_ring(size_t bytes, uint32_t flags)
{
    struct channel *ring = mmap(NULL, ring_size(bytes), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(ring != MAP_FAILED);
    memset((void *)ring, 0xff, ring_size(bytes)); /* memory that was used before */
    CHECK_EQUAL(ring_init(ring, bytes, flags), 0);
    return ring;
}

struct ends {
    struct channel *ring;
    struct ring_sender sender;
    struct ring_receiver receiver;
};

static void open_both(struct ends *ends, size_t bytes, uint32_t flags)
{
    ends->ring = new_ring(bytes, flags);
    CHECK_EQUAL(ring_sender_open(&ends->sender, ends->ring), 0);
    CHECK_EQUAL(ring_receiver_open(&ends->receiver, ends->ring, NULL), 0);
}

static size_t length_of(uint32_t number)
{
    static const size_t special[] = {0, 1, 63, 64, 65, LONGEST, 128, LONGEST - 64};
    return number % 3 ? special[number % 8] : number * 7919 % (LONGEST + 1);
}

/* Words that look like the headers of later messages. */
static void fill(uint64_t *to, size_t length, uint32_t number)
{
    for (size_t i = 0; i < length / 8; i++)
        to[i] = ring_header(number * 3 + (uint32_t)i, 8);
    memset((char *)to + length / 8 * 8, (int)(number & 0xff), length % 8);
}

static void send_numbers(struct channel *ring)
{
    struct ring_sender sender;
    CHECK_EQUAL(ring_sender_open(&sender, ring), 0);
    for (uint32_t number = 0; number < MESSAGES; number++) {
        const size_t length = length_of(number), more = number % 5 ? 0 : 100;
        const size_t asked = length + more > LONGEST ? LONGEST : length + more;
        void *data = NULL;
        CHECK_EQUAL(ring_reserve(&sender, asked, &data, NULL), 0);
        CHECK_EQUAL((uintptr_t)data % 64, 0);
        fill(data, length, number);
        CHECK_EQUAL(ring_commit(&sender, length), 0);
    }
    sender_close(&sender.sender);
}

static void receive_numbers(struct channel *ring)
{
    static uint64_t wanted[LONGEST / 8];
    struct ring_receiver receiver;
    const void *data = NULL, *again;
    size_t length;
    CHECK_EQUAL(ring_receiver_open(&receiver, ring, NULL), 0);
    for (uint32_t number = 0; number < MESSAGES; number++) {
        CHECK_EQUAL(ring_peek(&receiver, &data, &length, NULL), 0);
        CHECK_EQUAL(ring_try_peek(&receiver, &again, &length), 0);
        CHECK(again == data);
        CHECK_EQUAL(length, length_of(number));
        fill(wanted, length, number);
        CHECK_EQUAL(memcmp(data, wanted, length), 0);
        ring_release(&receiver);
        ring_release(&receiver); /* does nothing */
    }
    CHECK_EQUAL(ring_peek(&receiver, &data, &length, NULL), EPIPE);
    CHECK_EQUAL(ring_try_peek(&receiver, &data, &length), EPIPE);
}

static void *send_in_thread(void *ring)
{
    send_numbers(ring);
    return NULL;
}

static void test_threads(uint32_t flags)
{
    struct channel *ring = new_ring(BYTES, flags);
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, send_in_thread, ring), 0);
    receive_numbers(ring);
    pthread_join(thread, NULL);
}

static void test_processes(void)
{
    struct channel *ring = new_ring(BYTES, CHANNEL_PARKS | CHANNEL_SHARED);
    int status = 1;
    if (fork() == 0) {
        send_numbers(ring);
        _exit(0);
    }
    receive_numbers(ring);
    CHECK(wait(&status) > 0);
    CHECK_EQUAL(status, 0);
}

static void test_sizes(void)
{
    struct ring_sender sender;
    struct sender other;
    CHECK_EQUAL(ring_size(0), 0);
    CHECK_EQUAL(ring_size(64), 0);
    CHECK_EQUAL(ring_size(100), 0);
    CHECK_EQUAL(ring_size(128), 0);
    CHECK_EQUAL(ring_size(320), 0);
    CHECK_EQUAL(ring_size((size_t)1 << 27), 0);
    CHECK_EQUAL(ring_size((size_t)1 << 38), 0);
    CHECK(ring_size((size_t)1 << 26) > (size_t)1 << 26);
    CHECK_EQUAL(ring_longest(4), FULL);
    struct channel *ring = new_ring(256, 0);
    CHECK_EQUAL(sender_open(&other, ring), EINVAL); /* it is no channel */
    CHECK_EQUAL(ring_sender_open(&sender, ring), 0);
    CHECK_EQUAL(ring_sender_open(&sender, ring), EBUSY);
    CHECK_EQUAL(channel_init(ring, 2, 0), 0);
    CHECK_EQUAL(ring_sender_open(&sender, ring), EINVAL); /* nor a ring */
}

static void test_refusals(void)
{
    struct ends ends;
    const void *found;
    void *data;
    size_t length;
    open_both(&ends, 256, 0); /* four lines */
    CHECK_EQUAL(ring_commit(&ends.sender, 0), EINVAL);
    CHECK_EQUAL(ring_try_peek(&ends.receiver, &found, &length), EAGAIN);
    CHECK_EQUAL(ring_try_reserve(&ends.sender, FULL + 1, &data), EMSGSIZE);
    CHECK_EQUAL(ring_commit(&ends.sender, 0), EINVAL);
    CHECK_EQUAL(ring_try_reserve(&ends.sender, SIZE_MAX, &data), EMSGSIZE);
    CHECK_EQUAL(ring_try_reserve(&ends.sender, FULL, &data), 0);
    CHECK_EQUAL(ring_commit(&ends.sender, FULL + 1), EMSGSIZE);
    CHECK_EQUAL(ring_try_peek(&ends.receiver, &found, &length), EAGAIN);
    CHECK_EQUAL(ring_commit(&ends.sender, FULL), 0);
    CHECK_EQUAL(ring_commit(&ends.sender, FULL), EINVAL);
    CHECK_EQUAL(ring_try_reserve(&ends.sender, FULL, &data),
                EAGAIN); /* needs a third */
    CHECK_EQUAL(ring_try_reserve(&ends.sender, 0, &data), 0);
    CHECK_EQUAL(ring_commit(&ends.sender, 0), 0);
    CHECK_EQUAL(ring_try_reserve(&ends.sender, 0, &data), EAGAIN);
    CHECK_EQUAL(ring_try_peek(&ends.receiver, &found, &length), 0);
    CHECK_EQUAL(length, FULL);
    ring_release(&ends.receiver);
    CHECK_EQUAL(ring_try_peek(&ends.receiver, &found, &length), 0);
    CHECK_EQUAL(length, 0);
    CHECK_EQUAL(ring_try_reserve(&ends.sender, FULL, &data),
                EAGAIN); /* it would skip */
    ring_release(&ends.receiver);
    CHECK_EQUAL(ring_try_reserve(&ends.sender, FULL, &data), 0);
}

static void test_deadlines(uint32_t flags, clockid_t clock)
{
    struct ends ends;
    const void *found;
    void *data;
    size_t length;
    open_both(&ends, 256, flags);
    struct deadline soon = deadline_after_by(clock, 2000000);
    CHECK_EQUAL(ring_peek(&ends.receiver, &found, &length, &soon), ETIMEDOUT);
    CHECK(deadline_passed(&soon));
    CHECK_EQUAL(ring_reserve(&ends.sender, FULL, &data, NULL), 0);
    CHECK_EQUAL(ring_commit(&ends.sender, FULL), 0);
    soon = deadline_after_by(clock, 2000000);
    CHECK_EQUAL(ring_reserve(&ends.sender, FULL, &data, &soon), ETIMEDOUT);
    CHECK(deadline_passed(&soon));
    soon.clock = CLOCK_PROCESS_CPUTIME_ID;
    CHECK_EQUAL(ring_reserve(&ends.sender, FULL, &data, &soon), EINVAL);
}

static void test_closing(void)
{
    struct ends ends;
    const void *found;
    void *data;
    size_t length;
    open_both(&ends, 256, CHANNEL_PARKS);
    CHECK_EQUAL(ring_reserve(&ends.sender, 8, &data, NULL), 0);
    CHECK_EQUAL(ring_commit(&ends.sender, 8), 0);
    sender_close(&ends.sender.sender);
    CHECK_EQUAL(ring_peek(&ends.receiver, &found, &length, NULL), 0);
    ring_release(&ends.receiver);
    CHECK_EQUAL(ring_peek(&ends.receiver, &found, &length, NULL), EPIPE);
    open_both(&ends, 256, CHANNEL_PARKS);
    CHECK_EQUAL(ring_reserve(&ends.sender, FULL, &data, NULL), 0);
    CHECK_EQUAL(ring_commit(&ends.sender, FULL), 0);
    receiver_close(&ends.receiver.receiver);
    CHECK_EQUAL(ring_try_reserve(&ends.sender, FULL, &data), EPIPE);
    CHECK_EQUAL(ring_reserve(&ends.sender, FULL, &data, NULL), EPIPE);
}

static void *receive_one(void *ring)
{
    struct ring_receiver receiver;
    const void *data;
    size_t length;
    CHECK_EQUAL(ring_receiver_open(&receiver, ring, NULL), 0);
    CHECK_EQUAL(ring_peek(&receiver, &data, &length, NULL), 0);
    return NULL;
}

/* The receiver ends with a message that it has not released. */
static void test_death(uint32_t flags)
{
    struct channel *ring = new_ring(256, flags);
    struct ring_sender sender;
    pthread_t thread;
    void *data;
    CHECK_EQUAL(ring_sender_open(&sender, ring), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, receive_one, ring), 0);
    CHECK_EQUAL(ring_reserve(&sender, FULL, &data, NULL), 0);
    CHECK_EQUAL(ring_commit(&sender, FULL), 0);
    CHECK_EQUAL(ring_reserve(&sender, FULL, &data, NULL), EOWNERDEAD);
    pthread_join(thread, NULL);
}

/* The numbers of lines wrap around. */
static void test_overflow(void)
{
    struct ends ends;
    open_both(&ends, 256, 0);
    const uint32_t start = UINT32_MAX - 3;
    sender_move(&ends.sender.sender, start);
    receiver_move(&ends.receiver.receiver, start);
    ends.sender.sender.limit = start + 4;
    store_relaxed(&ends.ring->taken, start);
    store_relaxed(&channel_lines(ends.ring)->header, 0);
    for (uint64_t number = 0; number < 20; number++) {
        const void *found;
        void *data;
        size_t length, sent = number % 2 ? FULL : 8;
        CHECK_EQUAL(ring_try_peek(&ends.receiver, &found, &length), EAGAIN);
        CHECK_EQUAL(ring_try_reserve(&ends.sender, sent, &data), 0);
        memset(data, 0, sent);
        memcpy(data, &number, sizeof number);
        CHECK_EQUAL(ring_commit(&ends.sender, sent), 0);
        CHECK_EQUAL(ring_try_peek(&ends.receiver, &found, &length), 0);
        CHECK_EQUAL(length, sent);
        CHECK_EQUAL(memcmp(found, &number, sizeof number), 0);
        ring_release(&ends.receiver);
    }
}

int main(void)
{
    test_sizes();
    test_refusals();
    test_closing();
    test_overflow();
    test_processes();
    for (uint32_t flags = 0; flags <= CHANNEL_PARKS; flags++) {
        test_threads(flags);
        test_deadlines(flags, CLOCK_MONOTONIC);
        test_deadlines(flags, CLOCK_REALTIME);
        test_death(flags);
    }
    return 0;
}
