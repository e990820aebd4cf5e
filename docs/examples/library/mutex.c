/* SPDX-License-Identifier: MIT */
/* A counter under an mcs-park lock, named at compile time, and a queue of one place
 * under a lock that is named on the command line. */
#include <hasp/mutex.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 20000, ITEMS = 1000 };

static struct hasp_mutex_mcs_park counter_mutex = HASP_MUTEX_INITIALIZER;
static long counter;

static struct hasp_mutex place_mutex;
static struct hasp_condition place_changed = HASP_CONDITION_INITIALIZER;
static int place; /* 0: empty */

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        hasp_mutex_mcs_park_lock(&counter_mutex);
        counter++;
        hasp_mutex_mcs_park_unlock(&counter_mutex);
    }
    return unused;
}

static void *produce(void *unused)
{
    for (int item = 1; item <= ITEMS; item++) {
        hasp_mutex_lock(&place_mutex);
        while (place)
            hasp_condition_wait(&place_changed, &place_mutex);
        place = item;
        hasp_condition_signal(&place_changed);
        hasp_mutex_unlock(&place_mutex);
    }
    return unused;
}

static long consume(void)
{
    long sum = 0;
    for (int item = 1; item <= ITEMS; item++) {
        hasp_mutex_lock(&place_mutex);
        while (!place)
            hasp_condition_wait(&place_changed, &place_mutex);
        sum += place;
        place = 0;
        hasp_condition_signal(&place_changed);
        hasp_mutex_unlock(&place_mutex);
    }
    return sum;
}

int main(int arguments, char **argument)
{
    const char *name = arguments > 1 ? argument[1] : NULL;
    if (hasp_mutex_init(&place_mutex, name) != 0) {
        fprintf(stderr, "there is no algorithm called %s\n", name);
        return 2;
    }
    pthread_t threads[THREADS], producer;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    pthread_create(&producer, NULL, produce, NULL);
    const long sum = consume();
    pthread_join(producer, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);

    const struct timespec past = {0, 0};
    hasp_mutex_lock(&place_mutex);
    const int timed = hasp_mutex_timedlock(&place_mutex, &past);
    hasp_mutex_unlock(&place_mutex);
    printf("%ld increments, %ld through a place under %s, then: %s\n", counter, sum,
           hasp_mutex_name(&place_mutex), strerror(timed));
    return hasp_mutex_destroy(&place_mutex);
}
