/* SPDX-License-Identifier: MIT */
#include "forms.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 500, STRIPES = 4 };

static pthread_mutex_t stripes[STRIPES];
static pthread_mutex_t grid[2][3] = {
    {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER},
    {[0 ... 2] = PTHREAD_MUTEX_INITIALIZER},
};
static pthread_mutex_t *heap_locks;
static pthread_mutex_t checked = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t forwarded;
static struct {
    pthread_mutex_t lock;
    long packets;
} router = {.lock = PTHREAD_MUTEX_INITIALIZER, .packets = 0};
static long striped[STRIPES], gridded[2][3], on_heap[3], checks, forwards;

static void count_stripe(unsigned int i)
{
    pthread_mutex_lock(&stripes[i % STRIPES]);
/* clang-format off */
#if(1)
    striped[i % STRIPES]++;
#endif
/* clang-format on */
    pthread_mutex_unlock(&stripes[i % STRIPES]);
}

static void move_stripe(unsigned int from, unsigned int to)
{
    pthread_mutex_lock(&stripes[from]);
    long taken = striped[from] / 2;
    pthread_mutex_lock(&stripes[to]);
    if (taken == 0) {
        pthread_mutex_unlock(&stripes[to]);
        pthread_mutex_unlock(&stripes[from]);
        return;
    }
    striped[to] += taken;
    pthread_mutex_unlock(&stripes[to]);
    striped[from] -= taken;
    pthread_mutex_unlock(&stripes[from]);
}

static void count_grid(unsigned int i)
{
    pthread_mutex_lock(&grid[i % 2][i % 3]);
    gridded[i % 2][i % 3]++;
    pthread_mutex_unlock(&grid[i % 2][i % 3]);
}

static void count_on_heap(unsigned int i)
{
    pthread_mutex_lock(heap_locks + i % 3);
    on_heap[i % 3]++;
    pthread_mutex_unlock(heap_locks + i % 3);
}

static long next_number(void)
{
    static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
    static long number;
    pthread_mutex_lock(&mu);
    long mine = ++number;
    pthread_mutex_unlock(&mu);
    return mine;
}

#define MUST(call) ((void)((call) && (abort(), 0)))

static int check(long by)
{
    int rc;
    MUST(pthread_mutex_lock(&checked));
    checks -= by;
    MUST(pthread_mutex_unlock(&checked));
    pthread_mutex_lock(&checked) == 0 || (abort(), 0);
    checks += by;
    pthread_mutex_unlock(&checked) && (abort(), 0);
    assert(pthread_mutex_lock(&checked) == 0);
    checks += by;
    if ((rc = pthread_mutex_unlock(&checked)) != 0)
        return rc;
    rc = pthread_mutex_lock(&checked);
    if (checks < 0) {
        rc = pthread_mutex_unlock(&checked);
        return rc + 1;
    }
    checks++;
    return pthread_mutex_unlock(&checked);
}

static void forward(void)
{
    pthread_mutex_lock(&router.lock);
    router.packets++;
    pthread_mutex_unlock(&router.lock);
    checked_lock(&forwarded);
    forwards++;
    checked_unlock(&forwarded);
}

static void *work(void *argument)
{
    struct table *table = argument;
    long sum = 0;
    for (unsigned int i = 0; i < ROUNDS; i++) {
        count_stripe(i);
        if (i % 8 == 0)
            move_stripe(0, 1 + i % 3);
        count_grid(i);
        count_on_heap(i);
        sum += next_number() > 0;
        sum += check(1);
        forward();
        add_row(table->lock, &table->rows, 1);
        totals_lock();
        totals++;
        totals_unlock();
        if (cell_lock(i) != 0)
            return NULL;
        cells[i & 7]++;
        cell_unlock(i);
    }
    if (table->lock) {
        pthread_mutex_lock(table->lock);
        table->rows += sum;
        pthread_mutex_unlock(table->lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_mutex_t mutex;
    struct table table = {.lock = &mutex, .rows = 0};
    pthread_mutex_init(&mutex, NULL);
    if (checked_init(&forwarded) != 0)
        return 1;
    heap_locks = (pthread_mutex_t *)calloc(3, sizeof(pthread_mutex_t));
    for (int i = 0; i < 3; i++)
        pthread_mutex_init(&heap_locks[i], NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &table);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    long stripes_sum = 0, grid_sum = 0;
    for (int i = 0; i < STRIPES; i++)
        stripes_sum += striped[i];
    for (int i = 0; i < 6; i++)
        grid_sum += gridded[i / 3][i % 3];
    printf("%ld %ld %ld %ld\n", stripes_sum, grid_sum, on_heap[0], next_number());
    printf("%ld ", router.packets);
    printf("%ld %ld %ld %ld %ld\n", checks, forwards, table.rows, totals, cells[3]);
    for (int i = 0; i < 3; i++)
        pthread_mutex_destroy(&heap_locks[i]);
    free(heap_locks);
    return pthread_mutex_destroy(&mutex);
}
