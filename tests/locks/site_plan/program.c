/* SPDX-License-Identifier: MIT */
/* A program with two sites, which the test builds in several versions. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct db {
    pthread_mutex_t mu;
};
pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;

static struct db *db_open(void)
{
    struct db *db = malloc(sizeof *db);
    pthread_mutex_init(&db->mu, NULL); /* the site */
    return db;
}

/* Returns the index of a mutex's algorithm, which Hasp stores at this offset. */
static int lock_of(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    int index = ((unsigned char *)mutex)[20];
    pthread_mutex_unlock(mutex);
    return index;
}

static void *nothing(void *argument)
{
    return argument;
}

int main(void)
{
    pthread_t other; /* recording begins with the second thread */
    pthread_create(&other, NULL, nothing, NULL);
    pthread_join(other, NULL);
    struct db *db = db_open();
    printf("db %d cache %d\n", lock_of(&db->mu), lock_of(&cache_lock));
    return 0;
}
