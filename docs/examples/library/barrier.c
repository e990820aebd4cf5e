/* SPDX-License-Identifier: MIT */
/* Threads compute in phases; each reads what its neighbour wrote in the phase before. */
#include <hasp/barrier.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 3, PHASES = 200 };

static struct hasp_barrier barrier;
static long cells[PHASES + 1][THREADS];
static long ends[THREADS];

static void *compute(void *argument)
{
    const intptr_t self = (intptr_t)argument;
    for (int phase = 0; phase < PHASES; phase++) {
        cells[phase + 1][self] = cells[phase][(self + 1) % THREADS] + 1;
        ends[self] += hasp_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int arguments, char **argument)
{
    const char *name = arguments > 1 ? argument[1] : NULL;
    if (hasp_barrier_init(&barrier, name, THREADS) != 0) {
        fprintf(stderr, "there is no barrier algorithm called %s\n", name);
        return 2;
    }
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, compute, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld phases, each ended by one thread: %ld\n", cells[PHASES][0],
           ends[0] + ends[1] + ends[2]);
    return hasp_barrier_destroy(&barrier);
}
