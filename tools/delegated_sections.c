/* SPDX-License-Identifier: MIT */
/* delegated_sections EXECUTOR THREADS ROUNDS: threads call one object; prints the ns of
 * a section and the thread's work beside it, some multiplications. */
#include <hasp/delegate.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 64, BESIDE = 26 };

struct entry {
    uint64_t value;
};

static struct hasp_delegate book;
static uint64_t sum;
static long rounds;

static void *add(void *context)
{
    const struct entry *entry = context;
    sum += entry->value;
    return NULL;
}

static void *work(void *number)
{
    uint64_t value = (uintptr_t)number + 1;
    for (long i = 0; i < rounds; i++) {
        for (int times = 0; times < BESIDE; times++)
            value *= 6364136223846793005u;
        struct entry entry = {value};
        hasp_delegate_run_sized(&book, add, &entry, sizeof entry);
    }
    return NULL;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **words)
{
    pthread_t threads[MOST];
    const int many = count == 4 ? atoi(words[2]) : 0;
    if (many < 1 || many > MOST || hasp_delegate_init(&book, words[1]) != 0)
        return 2;
    rounds = atol(words[3]);
    const double start = now();
    for (int i = 0; i < many; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
    for (int i = 0; i < many; i++)
        pthread_join(threads[i], NULL);
    printf("%.2f\n", (now() - start) / (double)(rounds * many));
    hasp_delegate_destroy(&book);
    return 0;
}
