/* SPDX-License-Identifier: MIT */
/* Threads that count in a table with one mutex: a program of the examples in the
 * documentation. It prints its operations per second.
 *
 *     gcc -g -O2 -pthread counter.c -o counter
 *     ./counter [THREADS [SECONDS]]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ENTRIES = 64, MOST_THREADS = 64 };

static pthread_mutex_t table_mu = PTHREAD_MUTEX_INITIALIZER;
static long table[ENTRIES];
static atomic_int stop;

static void *count(void *argument)
{
    uint64_t random = (uintptr_t)argument;
    while (!stop) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        pthread_mutex_lock(&table_mu);
        table[random >> 58]++;
        pthread_mutex_unlock(&table_mu);
    }
    return NULL;
}

int main(int words, char **word)
{
    int threads = words > 1 ? atoi(word[1]) : 2;
    unsigned seconds = words > 2 ? (unsigned)atoi(word[2]) : 1;
    pthread_t thread[MOST_THREADS];
    if (threads < 1 || threads > MOST_THREADS || seconds < 1)
        return 2;
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, count, (void *)(uintptr_t)(i + 1));
    sleep(seconds);
    stop = 1;
    long sum = 0;
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < ENTRIES; i++)
        sum += table[i];
    printf("ops/s: %ld\n", sum / (long)seconds);
    return 0;
}
