/* SPDX-License-Identifier: MIT */
/* Condition variables used with the lock. */
#include "bench/locks/harness.h"

enum { QUEUE_SLOTS = 8 };

/* Two threads signal each other: a round trip takes two signals and two wake-ups. */
struct table_tennis {
    struct crew crew;
    pthread_mutex_t mutex __attribute__((aligned(CACHE_LINE)));
    unsigned turn;
    bool over;
    pthread_cond_t turn_changed[2] __attribute__((aligned(CACHE_LINE)));
};

static struct table_tennis tennis = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .turn_changed = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER},
};

static void work_ping_pong(struct worker *worker)
{
    unsigned me = worker->index;
    unsigned other = 1 - me;
    bool over = false;
    while (!over) {
        pthread_mutex_lock(&tennis.mutex);
        while (tennis.turn != me && !tennis.over)
            pthread_cond_wait(&tennis.turn_changed[me], &tennis.mutex);
        tennis.turn = other;
        if (crew_stopped(&tennis.crew))
            tennis.over = true;
        over = tennis.over;
        count_one(worker);
        pthread_cond_signal(&tennis.turn_changed[other]);
        pthread_mutex_unlock(&tennis.mutex);
    }
}

void measure_condvar_ping_pong(const struct options *options, struct result *result)
{
    tennis.crew.work = work_ping_pong;
    crew_run(&tennis.crew, 2, options, result);
    result->operations = (double)tennis.crew.workers[0].final_count;
    result->fairness = -1;
    if (result->operations > 0)
        result->value = result->seconds / result->operations * 1e6;
}

/* A bounded queue that broadcasts after each operation, as simple programs do. Workers
 * with even numbers add items, the others take them. */
struct queue {
    struct crew crew;
    pthread_mutex_t mutex __attribute__((aligned(CACHE_LINE)));
    unsigned filled;
    unsigned put_at;
    unsigned take_at;
    uint64_t next_item;
    uint64_t put_sum;
    uint64_t taken_sum;
    bool closed;
    uint64_t slots[QUEUE_SLOTS];
    pthread_cond_t not_full __attribute__((aligned(CACHE_LINE)));
    pthread_cond_t not_empty __attribute__((aligned(CACHE_LINE)));
};

static struct queue queue = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
};

static bool queue_put(void)
{
    pthread_mutex_lock(&queue.mutex);
    while (queue.filled == QUEUE_SLOTS && !queue.closed)
        pthread_cond_wait(&queue.not_full, &queue.mutex);
    bool open = !queue.closed;
    if (open) {
        queue.slots[queue.put_at] = ++queue.next_item;
        queue.put_sum += queue.next_item;
        queue.put_at = (queue.put_at + 1) % QUEUE_SLOTS;
        queue.filled++;
        pthread_cond_broadcast(&queue.not_empty);
    }
    pthread_mutex_unlock(&queue.mutex);
    return open;
}

static bool queue_take(void)
{
    pthread_mutex_lock(&queue.mutex);
    while (queue.filled == 0 && !queue.closed)
        pthread_cond_wait(&queue.not_empty, &queue.mutex);
    bool some = queue.filled > 0;
    if (some) {
        queue.taken_sum += queue.slots[queue.take_at];
        queue.take_at = (queue.take_at + 1) % QUEUE_SLOTS;
        queue.filled--;
        pthread_cond_broadcast(&queue.not_full);
    }
    pthread_mutex_unlock(&queue.mutex);
    return some;
}

static void queue_close(void)
{
    pthread_mutex_lock(&queue.mutex);
    queue.closed = true;
    pthread_cond_broadcast(&queue.not_full);
    pthread_cond_broadcast(&queue.not_empty);
    pthread_mutex_unlock(&queue.mutex);
}

static void work_queue(struct worker *worker)
{
    bool puts = worker->index % 2 == 0;
    while (puts ? queue_put() : queue_take()) {
        count_one(worker);
        /* Only producers close the queue, and its remaining items are still taken. */
        if (puts && crew_stopped(&queue.crew))
            queue_close();
    }
}

void measure_broadcast_queue(const struct options *options, struct result *result)
{
    queue.crew.work = work_queue;
    bool ended = crew_run(&queue.crew, options->threads, options, result);
    result->operations = 0;
    for (unsigned i = 1; i < options->threads; i += 2)
        result->operations += (double)queue.crew.workers[i].final_count;
    if (result->operations > 0)
        result->value = result->seconds / result->operations * 1e6;
    if (ended && queue.put_sum != queue.taken_sum)
        result_failed(result,
                      "the lock does not exclude: items of the queue were lost");
}
