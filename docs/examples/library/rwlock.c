/* SPDX-License-Identifier: MIT */
/* Readers see both halves of a pair equal while a writer changes them. */
#include <hasp/rwlock.h>

#include <pthread.h>
#include <stdio.h>

enum { READERS = 3, ROUNDS = 5000 };

static struct hasp_rwlock lock;
static long left, right;

static void *read_pair(void *torn)
{
    for (int i = 0; i < ROUNDS; i++) {
        hasp_rwlock_read_lock(&lock);
        *(long *)torn += left != right;
        hasp_rwlock_read_unlock(&lock);
    }
    return NULL;
}

int main(int arguments, char **argument)
{
    const char *name = arguments > 1 ? argument[1] : NULL;
    if (hasp_rwlock_init(&lock, name) != 0) {
        fprintf(stderr, "there is no rwlock algorithm called %s\n", name);
        return 2;
    }
    pthread_t threads[READERS];
    long torn[READERS] = {0};
    for (int i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, read_pair, &torn[i]);
    for (int i = 0; i < ROUNDS; i++) {
        hasp_rwlock_write_lock(&lock);
        left++;
        right++;
        hasp_rwlock_write_unlock(&lock);
    }
    long all = 0;
    for (int i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
        all += torn[i];
    }
    printf("%ld writes under %s, %ld torn reads\n", left, hasp_rwlock_name(&lock), all);
    return hasp_rwlock_destroy(&lock);
}
