/* SPDX-License-Identifier: MIT */
/* A library whose constructor locks, contends
 * and registers fork handlers before main. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED long early_library_counter(void);
EXPORTED int early_library_handlers(void);
EXPORTED void early_library_fork_counts(int counts[3]);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static long counter;
static int registered = -1;
static int fork_counts[3];

static void prepare(void)
{
    pthread_mutex_lock(&mutex);
    fork_counts[0]++;
}

static void in_parent(void)
{
    fork_counts[1]++;
    pthread_mutex_unlock(&mutex);
}

static void in_child(void)
{
    fork_counts[2]++;
    pthread_mutex_unlock(&mutex);
}

static void *body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

__attribute__((constructor)) static void construct(void)
{
    pthread_t threads[2];
    registered = pthread_atfork(prepare, in_parent, in_child);
    pthread_rwlock_wrlock(&rwlock);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, body, NULL) != 0)
            _exit(1);
    body(NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_rwlock_unlock(&rwlock);
    if (counter != 1500)
        _exit(1);
}

__attribute__((destructor)) static void destruct(void)
{
    body(NULL);
    if (counter != 2000)
        _exit(1);
}

long early_library_counter(void)
{
    return counter;
}

int early_library_handlers(void)
{
    return registered;
}

void early_library_fork_counts(int counts[3])
{
    for (int i = 0; i < 3; i++)
        counts[i] = fork_counts[i];
}
