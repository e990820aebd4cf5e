/* SPDX-License-Identifier: MIT */
/* A borrower that holds the mutex until its owner waits for it. */
#ifndef HASP_TESTS_PROGRAMS_BORROWED_H
#define HASP_TESTS_PROGRAMS_BORROWED_H

#include "check.h"

#include <sys/syscall.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t queued;
static pthread_t borrower, owner;

static __thread long kernel_thread; /* of the thread, as it was when it started */

/* System calls that no function of the C library makes for the section: such a function
 * could end the stretch. */
static inline long direct_call(long number)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number) : "rcx", "r11", "memory");
    return result;
}

/* Returns the id of the kernel thread that runs this. */
static inline long runs_on(void)
{
    return direct_call(SYS_gettid);
}

static inline int is_borrowed(void)
{
    return runs_on() != kernel_thread;
}

static inline void begin_thread(void)
{
    kernel_thread = runs_on();
}

/* Locks the mutex in the owner; the section begins on the borrower's kernel thread. */
static inline void enter(void)
{
    const char *wanted = getenv("CHECK_BORROWED");
    begin_thread();
    check_publish(&queued);
    CHECK_OK(pthread_mutex_lock(&mutex));
    if (wanted)
        CHECK(is_borrowed());
}

static inline void leave(void)
{
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK(!is_borrowed());
}

/* Starts the owner and lets it wait; returns with the mutex held. */
static inline void hold_until_queued(void *(*body)(void *))
{
    begin_thread();
    borrower = pthread_self();
    CHECK_OK(pthread_mutex_lock(&mutex));
    owner = check_start(body, NULL);
    check_wait_queued(&queued);
}

static inline void release(void)
{
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK(!is_borrowed());
}

#endif
