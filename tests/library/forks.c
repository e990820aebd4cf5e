/* SPDX-License-Identifier: MIT */
/* Forks while other threads hold and wait for mutexes. In the child, those that the
 * forking thread holds can be released, and waited for by new threads. */
#include <hasp/mutex.h>
#include <hasp/rwlock.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 10, WAITERS = 2 };

static struct hasp_mutex_mcs_park mutex = HASP_MUTEX_INITIALIZER;
static struct hasp_mutex named;
static struct hasp_rwlock rwlock = HASP_RWLOCK_INITIALIZER;
static int stop;

static void once(void)
{
    hasp_mutex_mcs_park_lock(&mutex);
    hasp_mutex_lock(&named);
    hasp_rwlock_read_lock(&rwlock);
    hasp_rwlock_read_unlock(&rwlock);
    hasp_mutex_unlock(&named);
    hasp_mutex_mcs_park_unlock(&mutex);
}

static void *contend(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        once();
    return unused;
}

static void *contend_once(void *unused)
{
    once();
    return unused;
}

static void start(pthread_t *threads, void *(*body)(void *))
{
    for (int i = 0; i < WAITERS; i++)
        if (pthread_create(&threads[i], NULL, body, NULL) != 0)
            _exit(3);
}

static int child(void)
{
    pthread_t threads[WAITERS];
    start(threads, contend_once);
    hasp_mutex_unlock(&named);
    hasp_mutex_mcs_park_unlock(&mutex);
    once();
    for (int i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

int main(void)
{
    pthread_t threads[WAITERS];
    hasp_mutex_init(&named, "malthusian-park");
    start(threads, contend);
    for (int i = 0; i < FORKS; i++) {
        hasp_mutex_mcs_park_lock(&mutex);
        hasp_mutex_lock(&named);
        const pid_t id = fork();
        if (id == 0) {
            alarm(30);
            _exit(child());
        }
        hasp_mutex_unlock(&named);
        hasp_mutex_mcs_park_unlock(&mutex);
        int status;
        if (id < 0 || waitpid(id, &status, 0) != id || status != 0)
            return 1;
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
    puts("all children finished");
    return 0;
}
