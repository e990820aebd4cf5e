/* SPDX-License-Identifier: MIT */
/* Hooks of thread creation: a thread registers when it starts. */
#include "preload/profile/next.h"

#include "profiler/session/session.h"

/* The start functions of new threads. They are not allocated by malloc, which the
 * program may have replaced. When all are in use, a thread starts without being
 * registered. */
struct start {
    void *(*function)(void *);
    thrd_start_t c11_function;
    void *argument;
    struct atomic_u32 taken;
};

static struct start starts[256];

static struct start *take_start(void)
{
    if (!session_is_active())
        return NULL;
    for (unsigned i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        uint32_t no = 0;
        if (!load_relaxed(&starts[i].taken) &&
            compare_exchange_acquire(&starts[i].taken, &no, 1))
            return &starts[i];
    }
    return NULL;
}

/* Gives the start back; the release pairs with take_start(). */
static struct start unpack(struct start *start)
{
    struct start copy = *start;
    store_release(&start->taken, 0);
    record_me();
    return copy;
}

static void *run(void *argument)
{
    struct start start = unpack(argument);
    return start.function(start.argument);
}

static int run_c11(void *argument)
{
    struct start start = unpack(argument);
    return start.c11_function(start.argument);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    session_creates_thread();
    struct start *start = take_start();
    if (!start)
        return next.pthread_create(thread, attributes, function, argument);
    start->function = function;
    start->argument = argument;
    int result = next.pthread_create(thread, attributes, run, start);
    if (result != 0)
        store_release(&start->taken, 0);
    return result;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    session_creates_thread();
    struct start *start = take_start();
    if (!start)
        return next.thrd_create(thread, function, argument);
    start->c11_function = function;
    start->argument = argument;
    int result = next.thrd_create(thread, run_c11, start);
    if (result != thrd_success)
        store_release(&start->taken, 0);
    return result;
}
