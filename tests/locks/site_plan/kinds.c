/* SPDX-License-Identifier: MIT */
/* Reader-writer locks from two sites and a barrier, which two threads use. Prints the
 * index of each lock's algorithm. */
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t made_lock;
static pthread_barrier_t step;

static void *work(void *argument)
{
    for (int i = 0; i < 100; i++) {
        pthread_rwlock_rdlock(&table_lock);
        pthread_rwlock_unlock(&table_lock);
        pthread_rwlock_wrlock(&made_lock);
        pthread_rwlock_unlock(&made_lock);
        pthread_barrier_wait(&step);
    }
    return argument;
}

/* Hasp keeps the index in a byte that glibc does not use. */
static int index_of(const pthread_rwlock_t *lock)
{
    return ((const unsigned char *)lock)[33];
}

int main(void)
{
    pthread_t other;
    pthread_rwlock_init(&made_lock, NULL);
    pthread_barrier_init(&step, NULL, 2);
    pthread_create(&other, NULL, work, NULL);
    work(NULL);
    pthread_join(other, NULL);
    printf("%d %d\n", index_of(&table_lock), index_of(&made_lock));
    return 0;
}
