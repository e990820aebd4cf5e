/* SPDX-License-Identifier: MIT */
/* Calls the functions of the installed headers that no example and no other test calls:
 * those that take a clock, broadcasts, messages that are written and read in place,
 * checks of the peer, names and counters. */
#include "expect.h"

#include <hasp/channel.h>
#include <hasp/delegate.h>
#include <hasp/mutex.h>
#include <hasp/ring.h>
#include <hasp/rwlock.h>
#include <hasp/shared_barrier.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITERS = 3, LINES = 4, RING = 512 };

/* Returns the time on this clock so many ms from now. */
static struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec now;
    clock_gettime(clock, &now);
    now.tv_nsec += ms % 1000 * 1000000;
    now.tv_sec += ms / 1000 + now.tv_nsec / 1000000000;
    now.tv_nsec %= 1000000000;
    return now;
}

static void names(void)
{
    unsigned count = 0;
    while (hasp_mutex_name_at(count)) {
        struct hasp_mutex mutex;
        EXPECT(hasp_mutex_init(&mutex, hasp_mutex_name_at(count)), 0);
        EXPECT(strcmp(hasp_mutex_name(&mutex), hasp_mutex_name_at(count)), 0);
        count++;
    }
    EXPECT(count > 20, true);
    for (count = 0; hasp_delegate_name_at(count); count++) {
        struct hasp_delegate object;
        EXPECT(hasp_delegate_init(&object, hasp_delegate_name_at(count)), 0);
        hasp_delegate_destroy(&object);
    }
    EXPECT(count > 5, true);
}

static struct hasp_mutex mutex = HASP_MUTEX_INITIALIZER;
static struct hasp_condition condition, other;
static int waiting, woken, may_go;

static void *wait_for_broadcast(void *unused)
{
    EXPECT(hasp_mutex_lock(&mutex), 0);
    waiting++;
    while (!may_go)
        EXPECT(hasp_condition_wait(&condition, &mutex), 0);
    woken++;
    EXPECT(hasp_condition_signal(&other), 0);
    EXPECT(hasp_mutex_unlock(&mutex), 0);
    return unused;
}

static void conditions(void)
{
    pthread_t threads[WAITERS];
    struct timespec soon = in_ms(CLOCK_MONOTONIC, 20);
    EXPECT(hasp_condition_init(&other, CLOCK_PROCESS_CPUTIME_ID), EINVAL);
    EXPECT(hasp_condition_init(&other, CLOCK_MONOTONIC), 0);
    EXPECT(hasp_mutex_lock(&mutex), 0);
    EXPECT(hasp_condition_timedwait(&other, &mutex, &soon), ETIMEDOUT);
    soon = in_ms(CLOCK_REALTIME, 20);
    EXPECT(hasp_condition_clockwait(&other, &mutex, CLOCK_REALTIME, &soon), ETIMEDOUT);
    EXPECT(hasp_condition_clockwait(&other, &mutex, CLOCK_THREAD_CPUTIME_ID, &soon),
           EINVAL);
    EXPECT(hasp_mutex_unlock(&mutex), 0);
    for (int i = 0; i < WAITERS; i++)
        EXPECT(pthread_create(&threads[i], NULL, wait_for_broadcast, NULL), 0);
    for (int all = 0; all < WAITERS;) {
        EXPECT(hasp_mutex_lock(&mutex), 0);
        all = waiting;
        EXPECT(hasp_mutex_unlock(&mutex), 0);
    }
    EXPECT(hasp_mutex_lock(&mutex), 0);
    may_go = 1;
    EXPECT(hasp_condition_broadcast(&condition), 0);
    while (woken < WAITERS) {
        struct timespec late = in_ms(CLOCK_MONOTONIC, 30000);
        EXPECT(hasp_condition_timedwait(&other, &mutex, &late), 0);
    }
    EXPECT(hasp_mutex_unlock(&mutex), 0);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
    soon = in_ms(CLOCK_MONOTONIC, 20);
    EXPECT(hasp_mutex_lock(&mutex), 0);
    EXPECT(hasp_mutex_clocklock(&mutex, CLOCK_THREAD_CPUTIME_ID, &soon), EINVAL);
    EXPECT(hasp_mutex_unlock(&mutex), 0);
    EXPECT(hasp_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon), 0);
    EXPECT(hasp_mutex_unlock(&mutex), 0);
}

struct shelf {
    struct hasp_delegate object;
    struct hasp_delegate_condition filled;
    int books, takers, taken;
};

static void *take_book(void *context)
{
    struct shelf *shelf = context;
    shelf->takers++;
    while (shelf->books == 0) {
        struct timespec late = in_ms(CLOCK_MONOTONIC, 30000);
        EXPECT(hasp_delegate_clockwait(&shelf->object, &shelf->filled, CLOCK_MONOTONIC,
                                       &late),
               0);
    }
    shelf->books--;
    shelf->taken++;
    return shelf;
}

/* Wakes all takers, but has a book for all but one; put_last_book() serves that one. */
static void *put_books(void *context)
{
    struct shelf *shelf = context;
    if (shelf->takers < WAITERS)
        return NULL;
    shelf->books = WAITERS - 1;
    hasp_delegate_broadcast(&shelf->filled);
    return shelf;
}

static void *put_last_book(void *context)
{
    struct shelf *shelf = context;
    if (shelf->taken < WAITERS - 1)
        return NULL;
    shelf->books++;
    hasp_delegate_signal(&shelf->filled);
    return shelf;
}

static void *wait_in_vain(void *context)
{
    struct shelf *shelf = context;
    struct timespec soon = in_ms(CLOCK_REALTIME, 20);
    int result = 0;
    while (result == 0) /* may return without a signal */
        result = hasp_delegate_timedwait(&shelf->object, &shelf->filled, &soon);
    EXPECT(result, ETIMEDOUT);
    EXPECT(hasp_delegate_clockwait(&shelf->object, &shelf->filled,
                                   CLOCK_THREAD_CPUTIME_ID, &soon),
           EINVAL);
    return shelf;
}

static void *cannot_wait(void *context)
{
    struct shelf *shelf = context;
    EXPECT(hasp_delegate_wait(&shelf->object, &shelf->filled), ENOTSUP);
    return shelf;
}

static void *taker(void *context)
{
    struct shelf *shelf = context;
    EXPECT(hasp_delegate_run(&shelf->object, take_book, shelf) == shelf, true);
    return NULL;
}

static void delegates(const char *name, bool has_server)
{
    struct shelf shelf = {.books = 0};
    pthread_t threads[WAITERS];
    EXPECT(hasp_delegate_init(&shelf.object, name), 0);
    hasp_delegate_run(&shelf.object, wait_in_vain, &shelf);
    for (int i = 0; i < WAITERS; i++)
        EXPECT(pthread_create(&threads[i], NULL, taker, &shelf), 0);
    while (!hasp_delegate_run(&shelf.object, put_books, &shelf)) {}
    while (!hasp_delegate_run(&shelf.object, put_last_book, &shelf)) {}
    for (int i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
    EXPECT(shelf.taken, WAITERS);
    struct hasp_delegate_server_stats stats = hasp_delegate_server_stats(&shelf.object);
    EXPECT(stats.sections > WAITERS, has_server);
    EXPECT(stats.rounds > 0, has_server);
    EXPECT(stats.lines_read >= stats.sections, true);
    EXPECT(stats.serialised <= stats.rounds, true);
    hasp_delegate_destroy(&shelf.object);
}

static void no_waits_under_combining(void)
{
    struct shelf shelf = {.books = 0};
    EXPECT(hasp_delegate_init(&shelf.object, "cc-synch"), 0);
    hasp_delegate_run(&shelf.object, cannot_wait, &shelf);
    hasp_delegate_destroy(&shelf.object);
}

struct pair {
    struct hasp_sender senders[2];
    struct hasp_receiver receivers[2];
};

static void open_channels(struct pair *pair)
{
    static _Alignas(HASP_CHANNEL_ALIGNMENT) char memory[2][1024];
    static struct hasp_bell bell;
    EXPECT(hasp_channel_size(LINES) <= sizeof memory[0], true);
    for (int i = 0; i < 2; i++) {
        struct hasp_channel *channel = (struct hasp_channel *)(void *)memory[i];
        EXPECT(hasp_channel_init(channel, LINES, HASP_CHANNEL_PARK), 0);
        EXPECT(hasp_sender_open(&pair->senders[i], channel), 0);
        EXPECT(hasp_receiver_open(&pair->receivers[i], channel, &bell), 0);
    }
}

static void broadcasts(struct pair *pair)
{
    struct hasp_sender *senders[2] = {&pair->senders[0], &pair->senders[1]};
    struct hasp_receiver *all[2] = {&pair->receivers[0], &pair->receivers[1]};
    struct hasp_receivers set = {all, 2, 0};
    const struct timespec soon = in_ms(CLOCK_REALTIME, 20);
    int results[2] = {1, 1};
    char text[8];
    uint32_t from;
    size_t length;
    EXPECT(hasp_clockreceive_any(&set, NULL, &from, text, sizeof text, &length,
                                 CLOCK_REALTIME, &soon),
           ETIMEDOUT);
    EXPECT(hasp_broadcast(senders, 2, "all", 3, NULL, results), 0);
    EXPECT(results[0] + results[1], 0);
    EXPECT(hasp_clockbroadcast(senders, 2, "again", 5, CLOCK_REALTIME, &soon, NULL), 0);
    for (int i = 0; i < 2; i++) {
        EXPECT(hasp_clockreceive(all[i], text, sizeof text, &length, CLOCK_REALTIME,
                                 &soon),
               0);
        EXPECT(length == 3 && memcmp(text, "all", 3) == 0, true);
        const void *again = hasp_peek(all[i], &length);
        EXPECT(again && length == 5 && memcmp(again, "again", 5) == 0, true);
        hasp_release(all[i]);
        EXPECT(hasp_peek(all[i], &length) == NULL, true);
    }
}

static void messages_in_place(struct pair *pair)
{
    const struct timespec soon = in_ms(CLOCK_REALTIME, 20);
    char text[8];
    size_t length;
    char *line = hasp_reserve(&pair->senders[0]);
    EXPECT(line != NULL, true);
    EXPECT(hasp_try_receive(&pair->receivers[0], text, sizeof text, &length), EAGAIN);
    strcpy(line, "here");
    EXPECT(hasp_send_reserved(&pair->senders[0], HASP_CHANNEL_BYTES + 1), EMSGSIZE);
    EXPECT(hasp_send_reserved(&pair->senders[0], 5), 0);
    EXPECT(hasp_clocksend(&pair->senders[0], "there", 6, CLOCK_REALTIME, &soon), 0);
    for (int i = 0; i < 2; i++) {
        EXPECT(hasp_try_receive(&pair->receivers[0], text, sizeof text, &length), 0);
        EXPECT(strcmp(text, i ? "there" : "here"), 0);
    }
    while (hasp_reserve(&pair->senders[1]))
        EXPECT(hasp_send(&pair->senders[1], "", 0, NULL), 0);
    EXPECT(hasp_clocksend(&pair->senders[1], "", 0, CLOCK_REALTIME, &soon), ETIMEDOUT);
}

static void large_messages(struct pair *pair)
{
    const clockid_t clock = CLOCK_REALTIME;
    char text[100];
    size_t length;
    memset(text, 'x', sizeof text);
    EXPECT(hasp_clocksend_large(&pair->senders[0], text, sizeof text, clock, NULL), 0);
    EXPECT(hasp_peek(&pair->receivers[0], &length) == NULL, true);
    memset(text, 0, sizeof text);
    EXPECT(hasp_clockreceive_large(&pair->receivers[0], text, sizeof text, &length,
                                   clock, NULL),
           0);
    EXPECT(length == sizeof text && text[0] == 'x' && text[99] == 'x', true);
}

static void channels(void)
{
    static struct pair pair;
    open_channels(&pair);
    broadcasts(&pair);
    messages_in_place(&pair);
    large_messages(&pair);
    EXPECT(hasp_sender_peer(&pair.senders[0]), 0);
    hasp_receiver_close(&pair.receivers[0]);
    EXPECT(hasp_sender_peer(&pair.senders[0]), EPIPE);
    hasp_sender_close(&pair.senders[1]);
    EXPECT(hasp_receiver_peer(&pair.receivers[1]), EPIPE);
}

static void rings(void)
{
    static _Alignas(HASP_CHANNEL_ALIGNMENT) char memory[4096];
    struct hasp_ring *ring = (struct hasp_ring *)(void *)memory;
    struct hasp_ring_sender sender;
    struct hasp_ring_receiver receiver;
    const void *found;
    void *space;
    size_t length;
    EXPECT(hasp_ring_size(RING) <= sizeof memory, true);
    EXPECT(hasp_ring_init(ring, RING, HASP_CHANNEL_SPIN), 0);
    EXPECT(hasp_ring_sender_open(&sender, ring), 0);
    EXPECT(hasp_ring_receiver_open(&receiver, ring), 0);
    EXPECT(hasp_ring_try_peek(&receiver, &found, &length), EAGAIN);
    EXPECT(hasp_ring_try_reserve(&sender, hasp_ring_longest(RING) + 1, &space),
           EMSGSIZE);
    EXPECT(hasp_ring_try_reserve(&sender, 6, &space), 0);
    strcpy(space, "whole");
    EXPECT(hasp_ring_commit(&sender, 6), 0);
    EXPECT(hasp_ring_try_peek(&receiver, &found, &length), 0);
    EXPECT(length == 6 && strcmp(found, "whole") == 0, true);
    hasp_ring_release(&receiver);
    EXPECT(hasp_ring_sender_peer(&sender), 0);
    EXPECT(hasp_ring_receiver_peer(&receiver), 0);
    hasp_ring_receiver_close(&receiver);
    EXPECT(hasp_ring_sender_peer(&sender), EPIPE);
    hasp_ring_sender_close(&sender);
}

static void rwlocks(void)
{
    struct hasp_rwlock lock;
    const struct timespec soon = in_ms(CLOCK_MONOTONIC, 20);
    EXPECT(hasp_rwlock_init(&lock, NULL), 0);
    EXPECT(hasp_rwlock_read_trylock(&lock), 0);
    EXPECT(hasp_rwlock_read_clocklock(&lock, CLOCK_MONOTONIC, &soon), 0);
    EXPECT(hasp_rwlock_write_trylock(&lock), EBUSY);
    EXPECT(hasp_rwlock_read_unlock(&lock), 0);
    EXPECT(hasp_rwlock_read_unlock(&lock), 0);
    EXPECT(hasp_rwlock_read_clocklock(&lock, CLOCK_THREAD_CPUTIME_ID, &soon), EINVAL);
    EXPECT(hasp_rwlock_destroy(&lock), 0);
}

static void shared_barriers(void)
{
    static _Alignas(HASP_SHARED_BARRIER_ALIGNMENT) char memory[4096];
    struct hasp_shared_barrier *barrier = (struct hasp_shared_barrier *)(void *)memory;
    const struct timespec soon = in_ms(CLOCK_REALTIME, 20);
    struct hasp_member member;
    EXPECT(hasp_shared_barrier_size(2) <= sizeof memory, true);
    EXPECT(hasp_shared_barrier_init(barrier, 2, HASP_SHARED_BARRIER_PARK), 0);
    EXPECT(hasp_member_open(&member, barrier), 0);
    EXPECT(hasp_member_clockwait(&member, CLOCK_REALTIME, &soon), ETIMEDOUT);
    hasp_member_close(&member);
}

int main(void)
{
    names();
    conditions();
    delegates("rcl", true);
    delegates("lock:mcs-park", false);
    no_waits_under_combining();
    channels();
    rings();
    rwlocks();
    shared_barriers();
    puts("every call answered");
    return 0;
}
