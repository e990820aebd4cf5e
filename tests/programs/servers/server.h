/* SPDX-License-Identifier: MIT */
/*
 * The framework of the small servers in this folder, each of which has one known lock
 * fault or none. It provides threads that serve requests until the time is over,
 * background tasks, and two lines of figures at the end. truth.toml describes each
 * fault and its remedy.
 *     PROGRAM [--threads N] [--seconds S] [--fix none|REMEDY]
 */
#ifndef SERVER_H
#define SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct request {
    unsigned worker; /* the number of the thread, from 0 */
    uint64_t number; /* of this request of this thread, from 0 */
    uint64_t random; /* the generator's state */
};

struct service {
    const char *const *fixes; /* the remedies that the program knows; ends with NULL */
    void (*setup)(void);      /* before any thread starts, or NULL */
    /* Serves one request; returns the number of operations that it stands for. */
    unsigned (*handle)(struct request *request);
    void (*stop)(void); /* wakes threads that wait for work, when the time is over */
    bool hangs;         /* the fault leaves threads that never end */
};

int server_main(int count, char **words, const struct service *service);

/* Returns whether the command line chose this remedy. */
bool server_fix(const char *remedy);

/* Returns the number of threads that serve requests. */
unsigned server_threads(void);

bool server_stopping(void);

/* Runs a task in a thread of its own; it returns soon after server_stopping(). Call
 * this from setup(). */
void server_background(void *(*task)(void *), void *argument);

/* Counts operations that a background task completed. */
void server_count(uint64_t operations);

uint64_t random_below(struct request *request, uint64_t below);

/* FNV-1a, about a nanosecond per byte: the work of these servers. */
uint64_t checksum(const void *data, size_t size, uint64_t value);

void sleep_us(long microseconds);

uint64_t now_ns(void);

/* A FIFO lock, for the remedy fair-lock. */
struct fair_waiter;
struct fair_lock {
    pthread_mutex_t inner;
    bool taken;
    struct fair_waiter *first, *last;
};
#define FAIR_LOCK_INITIALIZER                                                          \
    {                                                                                  \
        PTHREAD_MUTEX_INITIALIZER, false, NULL, NULL                                   \
    }
void fair_lock_acquire(struct fair_lock *lock);
void fair_lock_release(struct fair_lock *lock);

#ifdef __cplusplus
}
#endif
#endif
