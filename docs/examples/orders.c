/* SPDX-License-Identifier: MIT */
/* Threads take an order from a queue, work on it, and enter it in a book. Each of the
 * two structures has a lock. Usage: orders [THREADS [ORDERS]] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAKE = 150, WORK = 40000, ENTER = 1500 }; /* steps of computation */

static pthread_mutex_t queue_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t book_mu = PTHREAD_MUTEX_INITIALIZER;
static long next_order, orders, sum;

static unsigned compute(unsigned value, int steps)
{
    for (int i = 0; i < steps; i++)
        value = value * 1664525 + 1013904223;
    return value;
}

static long take(void)
{
    pthread_mutex_lock(&queue_mu);
    long order = next_order + (compute((unsigned)next_order, TAKE) == 1);
    next_order++;
    pthread_mutex_unlock(&queue_mu);
    return order;
}

static void enter(unsigned value)
{
    pthread_mutex_lock(&book_mu);
    sum += compute(value, ENTER) & 1;
    pthread_mutex_unlock(&book_mu);
}

static void *work(void *unused)
{
    for (long order; (order = take()) < orders;)
        enter(compute((unsigned)order, WORK));
    return unused;
}

int main(int count, char **arguments)
{
    int threads = count > 1 ? atoi(arguments[1]) : 1;
    orders = count > 2 ? atol(arguments[2]) : 30000;
    pthread_t thread[64];
    for (int i = 0; i < threads && i < 64; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    for (int i = 0; i < threads && i < 64; i++)
        pthread_join(thread[i], NULL);
    printf("%ld orders, %ld odd\n", orders, sum);
    return 0;
}
