/* SPDX-License-Identifier: MIT */
/*
 * The same interface as direct/excluding.h with pthread's mutexes and condition
 * variables, so a workload is an ordinary program that locks can be preloaded into and
 * that can be profiled.
 */
#ifndef HASP_BENCH_WORKLOADS_EXCLUDING_H
#define HASP_BENCH_WORKLOADS_EXCLUDING_H

#include "bench/workloads/workloads.h"

#include <errno.h>
#include <pthread.h>

#define DEFAULT_LOCK "pthread"
#define OTHER_LOCKS "this program uses pthread mutexes: see `hasp run --lock`"

/* Not pinned, like ordinary programs; a study's pinning, taskset or --cpus decide. */
enum { PINNED_BY_DEFAULT = false };

struct mutex {
    pthread_mutex_t pthread;
};

struct condition {
    pthread_cond_t pthread;
};

/* Exits with a message if a pthread function failed. */
void excluding_must(int status, const char *what);

static inline void mutex_create(struct mutex *mutex)
{
    excluding_must(pthread_mutex_init(&mutex->pthread, NULL), "pthread_mutex_init");
}

static inline void mutex_destroy(struct run *run, struct mutex *mutex)
{
    (void)run;
    excluding_must(pthread_mutex_destroy(&mutex->pthread), "pthread_mutex_destroy");
}

static inline void mutex_lock(struct run *run, struct mutex *mutex)
{
    (void)run;
    excluding_must(pthread_mutex_lock(&mutex->pthread), "pthread_mutex_lock");
}

static inline bool mutex_trylock(struct run *run, struct mutex *mutex)
{
    (void)run;
    int status = pthread_mutex_trylock(&mutex->pthread);
    excluding_must(status == EBUSY ? 0 : status, "pthread_mutex_trylock");
    return status == 0;
}

static inline void mutex_unlock(struct run *run, struct mutex *mutex)
{
    (void)run;
    excluding_must(pthread_mutex_unlock(&mutex->pthread), "pthread_mutex_unlock");
}

static inline void condition_create(struct condition *condition)
{
    excluding_must(pthread_cond_init(&condition->pthread, NULL), "pthread_cond_init");
}

/* Not needed here: the mutex is held from the check of the predicate until the wait. */
static inline uint32_t condition_seen(struct condition *condition)
{
    (void)condition;
    return 0;
}

static inline uint64_t condition_wait(struct run *run, struct condition *condition,
                                      struct mutex *mutex, uint32_t *seen)
{
    (void)run, (void)seen;
    excluding_must(pthread_cond_wait(&condition->pthread, &mutex->pthread),
                   "pthread_cond_wait");
    return 0;
}

static inline void condition_signal(struct condition *condition)
{
    excluding_must(pthread_cond_signal(&condition->pthread), "pthread_cond_signal");
}

static inline void condition_broadcast(struct condition *condition)
{
    excluding_must(pthread_cond_broadcast(&condition->pthread),
                   "pthread_cond_broadcast");
}

#endif
