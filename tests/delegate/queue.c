/* SPDX-License-Identifier: MIT */
/* Sections that wait on condition variables. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { CAPACITY = 4, ITEMS = 400, CONSUMERS = 3 };

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty;
static long items[CAPACITY], first, count, taken;

static void put(long item)
{
    pthread_mutex_lock(&mu);
    while (count == CAPACITY)
        pthread_cond_wait(&not_full, &mu);
    items[(first + count++) % CAPACITY] = item;
    if (count > 0)
        pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&mu);
}

static long take(void)
{
    long item = -1;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    pthread_mutex_lock(&mu);
    while (count == 0) {
        if (pthread_cond_timedwait(&not_empty, &mu, &until) != 0) {
            pthread_mutex_unlock(&mu);
            return -2;
        }
    }
    item = items[first];
    first = (first + 1) % CAPACITY;
    count--;
    taken++;
    pthread_mutex_unlock(&mu);
    pthread_cond_broadcast(&not_full);
    return item;
}

static void *consume(void *argument)
{
    long sum = 0, item;
    while ((item = take()) > 0)
        sum += item;
    *(long *)argument = sum;
    return NULL;
}

int main(void)
{
    pthread_t threads[CONSUMERS];
    long sums[CONSUMERS], sum = 0;
    if (pthread_cond_init(&not_empty, NULL) != 0)
        return 1;
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&threads[i], NULL, consume, &sums[i]);
    for (long i = 1; i <= ITEMS; i++)
        put(i);
    for (int i = 0; i < CONSUMERS; i++)
        put(0);
    for (int i = 0; i < CONSUMERS; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    printf("%ld %ld\n", sum, taken);
    pthread_cond_destroy(&not_empty);
    return pthread_cond_destroy(&not_full);
}
