/* SPDX-License-Identifier: MIT */
/* Threads pass items to each other through a short queue with condition variables. They
 * sleep and wake up for nearly every item, and the lock is handed to threads that first
 * have to be scheduled. Threads with even numbers add items, the others take them. */
#include "corpus.h"

enum { CAPACITY, WORK, HOLD };
enum { CAPACITY_MOST = 1024 };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t not_full, not_empty;
    uint64_t items[CAPACITY_MOST];
    uint64_t put, taken;
    uint64_t put_sum, taken_sum;
    int closed;
} jobs = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
};

static void put(struct part *part, uint64_t item)
{
    uint64_t capacity = part->knobs[CAPACITY].value;
    CHECK_OK(pthread_mutex_lock(&jobs.mutex));
    while (jobs.put - jobs.taken == capacity && !jobs.closed)
        CHECK_OK(pthread_cond_wait(&jobs.not_full, &jobs.mutex));
    if (!jobs.closed) {
        work(part->knobs[HOLD].value);
        jobs.items[jobs.put++ % capacity] = item;
        jobs.put_sum += item;
        CHECK_OK(pthread_cond_signal(&jobs.not_empty));
    }
    CHECK_OK(pthread_mutex_unlock(&jobs.mutex));
}

static void take(struct part *part)
{
    uint64_t capacity = part->knobs[CAPACITY].value;
    CHECK_OK(pthread_mutex_lock(&jobs.mutex));
    while (jobs.put == jobs.taken && !jobs.closed)
        CHECK_OK(pthread_cond_wait(&jobs.not_empty, &jobs.mutex));
    if (jobs.put != jobs.taken) {
        work(part->knobs[HOLD].value);
        jobs.taken_sum += jobs.items[jobs.taken++ % capacity];
        CHECK_OK(pthread_cond_signal(&jobs.not_full));
    }
    CHECK_OK(pthread_mutex_unlock(&jobs.mutex));
}

static void queue_step(struct part *part, struct worker *worker)
{
    work_about(worker, part->knobs[WORK].value);
    if (worker->index % 2 == 0)
        put(part, random_next(worker));
    else
        take(part);
}

static void queue_wind_up(struct part *part)
{
    (void)part;
    CHECK_OK(pthread_mutex_lock(&jobs.mutex));
    jobs.closed = 1;
    CHECK_OK(pthread_cond_broadcast(&jobs.not_full));
    CHECK_OK(pthread_cond_broadcast(&jobs.not_empty));
    CHECK_OK(pthread_mutex_unlock(&jobs.mutex));
}

static void queue_check(struct part *part, uint64_t steps)
{
    uint64_t left = 0, capacity = part->knobs[CAPACITY].value;
    for (uint64_t i = jobs.taken; i != jobs.put; i++)
        left += jobs.items[i % capacity];
    CHECK_EQUAL(jobs.taken_sum + left, jobs.put_sum);
    CHECK_COMPARE(jobs.put + jobs.taken, <=, steps);
}

struct part queue = {
    .name = "queue",
    .summary = "even threads hand items to odd ones, with condition variables",
    .knobs = {{"capacity", 1, 1, CAPACITY_MOST},
              {"work", 1000, 0, 1000000000},
              {"hold", 5000, 0, 1000000000}},
    .step = queue_step,
    .wind_up = queue_wind_up,
    .check = queue_check,
};
