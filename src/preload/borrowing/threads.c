/* SPDX-License-Identifier: MIT */
/* The beginning and end of threads: a new one inherits from its creator's kernel
 * thread, and one that returns from its function ends its own. */
#include "preload/borrowing/real.h"
#include "preload/borrowing/thread.h"

#include <errno.h>
#include <stdlib.h>

struct start {
    void *(*body)(void *);
    thrd_start_t c11_body;
    void *argument;
};

static void *run(void *given)
{
    const struct start start = *(struct start *)given;
    free(given);
    void *result = start.body(start.argument);
    borrow_hand_back();
    return result;
}

static int run_c11(void *given)
{
    const struct start start = *(struct start *)given;
    free(given);
    int result = start.c11_body(start.argument);
    borrow_hand_back();
    return result;
}

static struct start *new_start(struct start value)
{
    struct start *start = malloc(sizeof *start);
    if (start)
        *start = value;
    return start;
}

EXPORT int pthread_create(pthread_t *restrict thread,
                          const pthread_attr_t *restrict attributes,
                          void *(*body)(void *), void *restrict argument)
{
    borrow_hand_back();
    struct start *start = new_start((struct start){body, NULL, argument});
    if (!start)
        return EAGAIN;
    int error = real_pthread_create()(thread, attributes, run, start);
    if (error)
        free(start);
    return error;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t body, void *argument)
{
    borrow_hand_back();
    struct start *start = new_start((struct start){NULL, body, argument});
    if (!start)
        return thrd_nomem;
    int error = real_thrd_create()(thread, run_c11, start);
    if (error != thrd_success)
        free(start);
    return error;
}

/* Only the clock of a thread's CPU time depends on the kernel thread. The others are
 * read often, so they do not end a stretch. */
EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (unlikely(clock == CLOCK_THREAD_CPUTIME_ID))
        borrow_hand_back();
    return real_clock_gettime()(clock, time);
}
