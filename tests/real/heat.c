/* SPDX-License-Identifier: MIT */
/*
 * A fork-join solver: threads relax a grid of temperatures, half of the cells at a
 * time, and meet at a barrier after each half.
 *
 *     heat [THREADS [STEPS]]
 *
 * Prints a checksum of the grid, which depends on the number of steps only, and how
 * often a barrier named a thread: exactly once each time.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 128, MOST_THREADS = 64 };

static uint32_t grid[SIDE + 2][SIDE + 2];
static pthread_barrier_t after_half;
static unsigned threads = 4;
static long steps = 500, named;

static void relax(unsigned first, unsigned last, unsigned colour)
{
    for (unsigned y = first; y < last; y++)
        for (unsigned x = 1 + (y + colour) % 2; x <= SIDE; x += 2)
            grid[y][x] = (grid[y - 1][x] + grid[y + 1][x] + grid[y][x - 1] +
                          grid[y][x + 1] + grid[y][x]) /
                             5 +
                         (x * y) % 7;
}

static void meet(void)
{
    if (pthread_barrier_wait(&after_half) == PTHREAD_BARRIER_SERIAL_THREAD)
        named++; /* the others cannot pass the next barrier meanwhile */
}

static void *work(void *argument)
{
    unsigned number = *(unsigned *)argument;
    unsigned first = 1 + number * SIDE / threads;
    unsigned last = 1 + (number + 1) * SIDE / threads;
    for (long step = 0; step < steps; step++) {
        relax(first, last, 0);
        meet();
        relax(first, last, 1);
        meet();
    }
    return NULL;
}

int main(int count, char **words)
{
    pthread_t thread[MOST_THREADS];
    unsigned numbers[MOST_THREADS];
    threads = count > 1 ? (unsigned)atoi(words[1]) : threads;
    steps = count > 2 ? atol(words[2]) : steps;
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    for (unsigned y = 0; y < SIDE + 2; y++)
        for (unsigned x = 0; x < SIDE + 2; x++)
            grid[y][x] = (x * 31 + y * 17) % 1000;
    pthread_barrier_init(&after_half, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        numbers[i] = i;
        pthread_create(&thread[i], NULL, work, &numbers[i]);
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&after_half);
    uint64_t sum = 0;
    for (unsigned y = 0; y < SIDE + 2; y++)
        for (unsigned x = 0; x < SIDE + 2; x++)
            sum = sum * 1000003 + grid[y][x];
    printf("checksum: %016llx\nnamed: %ld\n", (unsigned long long)sum, named);
    return 0;
}
