/* SPDX-License-Identifier: MIT */
/* Threads count words in one table, under the executor that a setting names. */
#include <hasp/delegate.h>

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 10000, WORDS = 8 };

static struct hasp_delegate table;
static unsigned long counts[WORDS]; /* used by sections only */

struct addition {
    unsigned word;
    unsigned long sum; /* the result */
};

static void *add(void *context)
{
    struct addition *addition = context;
    addition->sum = ++counts[addition->word];
    return addition;
}

static void *work(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct addition addition = {i % WORDS, 0};
        hasp_delegate_run(&table, add, &addition);
    }
    return unused;
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];
    unsigned long sum = 0;
    if (hasp_delegate_init(&table, count > 1 ? words[1] : NULL)) {
        fprintf(stderr, "no executor is called %s\n", words[1]);
        return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < WORDS; i++)
        sum += counts[i];
    struct hasp_delegate_stats stats = hasp_delegate_stats(&table);
    printf("%lu words, %llu sections\n", sum, (unsigned long long)stats.sections);
    hasp_delegate_destroy(&table);
    return 0;
}
