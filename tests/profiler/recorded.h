/* SPDX-License-Identifier: MIT */
/* Shared by the programs that the recorder's tests record. Each run executes one case;
 * the second argument is its size. */
#ifndef RECORDED_H
#define RECORDED_H

#include "../programs/check.h"

static pthread_mutex_t outer;
static long size;

static void start(pthread_t *thread, void *(*function)(void *), void *argument)
{
    CHECK_EQUAL(pthread_create(thread, NULL, function, argument), 0);
}

__attribute__((unused)) static void run_one(void *(*function)(void *))
{
    pthread_t thread;
    start(&thread, function, NULL);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

static void lock_times(long times)
{
    for (long i = 0; i < times; i++) {
        pthread_mutex_lock(&outer);
        pthread_mutex_unlock(&outer);
    }
}

__attribute__((unused)) static void *lock_often(void *argument)
{
    lock_times(size);
    return argument;
}

/* `main PROGRAM CASE [SIZE]` */
#define RECORDED_MAIN(...)                                                             \
    int main(int count, char **words)                                                  \
    {                                                                                  \
        static const struct check_case cases[] = {__VA_ARGS__};                        \
        size = count > 2 ? atol(words[2]) : 1;                                         \
        return check_main(2, words, cases, sizeof cases / sizeof cases[0]);            \
    }

#endif
