/* SPDX-License-Identifier: MIT */
/* Bounded queues: producers and consumers that
 * signal, broadcast, and wait with time limits. */
#include "check.h"

enum { CAPACITY = 8, MAX_THREADS = 4 };

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_cond_t not_full;
    pthread_cond_t not_empty;
    long items[CAPACITY];
    unsigned head;
    unsigned tail;
    int broadcast;
    int timed;
    long per_thread;
    long sum;
    long received;
};

static struct queue queue = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void wait_on(pthread_cond_t *cond)
{
    if (!queue.timed) {
        CHECK_OK(pthread_cond_wait(cond, &queue.mutex));
        return;
    }
    struct timespec soon = check_after_us(CLOCK_MONOTONIC, 100);
    int result = pthread_cond_clockwait(cond, &queue.mutex, CLOCK_MONOTONIC, &soon);
    CHECK(result == 0 || result == ETIMEDOUT);
}

static void wake(pthread_cond_t *cond)
{
    if (queue.broadcast)
        CHECK_OK(pthread_cond_broadcast(cond));
    else
        CHECK_OK(pthread_cond_signal(cond));
}

static void *produce(void *ignored)
{
    pthread_cond_t *full = queue.broadcast ? &queue.changed : &queue.not_full;
    pthread_cond_t *empty = queue.broadcast ? &queue.changed : &queue.not_empty;
    (void)ignored;
    for (long i = 1; i <= queue.per_thread; i++) {
        CHECK_OK(pthread_mutex_lock(&queue.mutex));
        while (queue.tail - queue.head == CAPACITY)
            wait_on(full);
        queue.items[queue.tail++ % CAPACITY] = i;
        wake(empty);
        CHECK_OK(pthread_mutex_unlock(&queue.mutex));
    }
    return NULL;
}

static void *consume(void *ignored)
{
    pthread_cond_t *full = queue.broadcast ? &queue.changed : &queue.not_full;
    pthread_cond_t *empty = queue.broadcast ? &queue.changed : &queue.not_empty;
    (void)ignored;
    for (long i = 1; i <= queue.per_thread; i++) {
        CHECK_OK(pthread_mutex_lock(&queue.mutex));
        while (queue.tail == queue.head)
            wait_on(empty);
        queue.sum += queue.items[queue.head++ % CAPACITY];
        queue.received++;
        CHECK_OK(pthread_mutex_unlock(&queue.mutex));
        /* Signals after the unlock, because the signaller need not hold the mutex. */
        wake(full);
    }
    return NULL;
}

static void run(int pairs, int broadcast, int timed, int items)
{
    pthread_t threads[2 * MAX_THREADS];
    queue.broadcast = broadcast;
    queue.timed = timed;
    queue.per_thread = check_rounds(items);
    for (int i = 0; i < 2 * pairs; i++)
        threads[i] = check_start(i % 2 ? produce : consume, NULL);
    for (int i = 0; i < 2 * pairs; i++)
        check_join(threads[i]);
    CHECK_EQUAL(queue.received, pairs * queue.per_thread);
    CHECK_EQUAL(queue.sum, pairs * (queue.per_thread * (queue.per_thread + 1) / 2));
    CHECK_OK(pthread_mutex_trylock(&queue.mutex));
    CHECK_OK(pthread_mutex_unlock(&queue.mutex));
}

static void signal_one_pair(void)
{
    run(1, 0, 0, 20000);
}

static void signal_many(void)
{
    run(4, 0, 0, 2000);
}

static void broadcast_two_pairs(void)
{
    run(2, 1, 0, 3000);
}

static void broadcast_many(void)
{
    run(4, 1, 0, 500);
}

static void timed_broadcast(void)
{
    run(2, 1, 1, 2000);
}

static void timed_signal(void)
{
    run(2, 0, 1, 2000);
}

CHECK_MAIN(CASE(signal_one_pair), CASE(signal_many), CASE(broadcast_two_pairs),
           CASE(broadcast_many), CASE(timed_broadcast), CASE(timed_signal))
