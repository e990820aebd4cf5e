/* SPDX-License-Identifier: MIT */
/* Prints the time of an uncontended lock and unlock of one of many mutexes, in
 * nanoseconds: pairs [MUTEXES [MILLIONS]]. A second thread sleeps, because a process
 * with one thread needs no atomic instructions. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void *sleep_always(void *unused)
{
    pause();
    return unused;
}

int main(int count, char **words)
{
    const long mutexes = count > 1 ? atol(words[1]) : 64;
    const long pairs = (count > 2 ? atol(words[2]) : 20) * 1000000;
    pthread_mutex_t *mutex = calloc((size_t)mutexes, sizeof *mutex);
    pthread_t thread;
    if (!mutex || pthread_create(&thread, NULL, sleep_always, NULL))
        return 1;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long i = 0, next = 0; i < pairs; i++) {
        pthread_mutex_lock(&mutex[next]);
        pthread_mutex_unlock(&mutex[next]);
        next = next + 1 == mutexes ? 0 : next + 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.2f\n", ((double)(end.tv_sec - begin.tv_sec) * 1e9 +
                      (double)(end.tv_nsec - begin.tv_nsec)) / (double)pairs);
    return 0;
}
