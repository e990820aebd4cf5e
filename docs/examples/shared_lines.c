/* SPDX-License-Identifier: MIT */
/* Threads update the same cache lines under one mutex, and others outside it: prints
 * the sections per second (docs/transparent-delegation.md). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    _Alignas(64) volatile long count;
} lines[64];
static int line_count, pause_length;
static volatile int stopped;

static void *body(void *sections)
{
    long done = 0;
    while (!stopped) {
        pthread_mutex_lock(&mutex);
        for (int i = 0; i < line_count; i++)
            lines[i].count++;
        pthread_mutex_unlock(&mutex);
        for (volatile int i = 0; i < pause_length; i++)
            ;
        done++;
    }
    *(long *)sections = done;
    return NULL;
}

int main(int count, char **words)
{
    enum { MOST = 256 };
    static long sections[MOST];
    pthread_t threads[MOST];
    long total = 0;
    if (count != 5)
        return fprintf(stderr, "usage: %s THREADS LINES PAUSE MS\n", words[0]), 2;
    int running = atoi(words[1]), ms = atoi(words[4]);
    line_count = atoi(words[2]);
    pause_length = atoi(words[3]);
    if (running < 1 || running > MOST || line_count < 1 || line_count > 64)
        return fprintf(stderr, "1 to %d threads, 1 to 64 lines\n", MOST), 2;
    for (int i = 0; i < running; i++)
        pthread_create(&threads[i], NULL, body, &sections[i]);
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
    stopped = 1;
    for (int i = 0; i < running; i++) {
        pthread_join(threads[i], NULL);
        total += sections[i];
    }
    printf("sections/s: %.0f\n", total * 1000.0 / ms);
    return lines[0].count == total ? 0 : 1;
}
