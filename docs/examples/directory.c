/* SPDX-License-Identifier: MIT */
/* Threads look names up in a table under a reader-writer lock, and now and then add
 * one. Usage: directory [THREADS [LOOKUPS]] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAMES = 1024, ADD_EVERY = 100 };

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static unsigned table[NAMES], added;
static long lookups;

static void look_up(unsigned name, unsigned *found)
{
    pthread_rwlock_rdlock(&table_lock);
    for (unsigned i = 0; i < 8; i++)
        *found += table[(name + i) % NAMES];
    pthread_rwlock_unlock(&table_lock);
}

static void add(unsigned name)
{
    pthread_rwlock_wrlock(&table_lock);
    table[name % NAMES] = name;
    added++;
    pthread_rwlock_unlock(&table_lock);
}

static void *work(void *seed)
{
    unsigned name = *(unsigned *)seed, found = 0;
    for (long i = 0; i < lookups; i++) {
        name = name * 1664525 + 1013904223;
        if (i % ADD_EVERY == 0)
            add(name);
        else
            look_up(name, &found);
    }
    *(unsigned *)seed = found;
    return NULL;
}

int main(int count, char **arguments)
{
    unsigned threads = count > 1 ? (unsigned)atoi(arguments[1]) : 4, seed[64];
    lookups = count > 2 ? atol(arguments[2]) : 1000000;
    pthread_t thread[64];
    for (unsigned i = 0; i < threads && i < 64; i++) {
        seed[i] = i;
        pthread_create(&thread[i], NULL, work, &seed[i]);
    }
    for (unsigned i = 0; i < threads && i < 64; i++)
        pthread_join(thread[i], NULL);
    printf("%u names added\n", added);
    return 0;
}
