/* SPDX-License-Identifier: MIT */
/* The calling thread's id and cancellation type. */
#ifndef HASP_PLATFORM_NATIVE_THREAD_H
#define HASP_PLATFORM_NATIVE_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* The variables are initial-exec, so their first use neither calls a function nor
 * allocates. They take 8 of the 64 bytes of static TLS that Hasp allows itself, and are
 * reset to 0 in a forked child. */
extern __thread uint32_t thread_id_cached
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The same, or 0 while the thread expects to wait: one check on the fast path. */
extern __thread uint32_t thread_id_unless_waiting
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

uint32_t thread_id_learn(void);

/* Called in the child of a fork, where the cached id is the parent's. */
static inline void thread_id_forget(void)
{
    thread_id_cached = thread_id_unless_waiting = 0;
}

static inline uint32_t current_thread_if_known(void)
{
    return thread_id_unless_waiting;
}

static inline uint32_t current_thread(void)
{
    uint32_t id = thread_id_cached;
    return likely(id != 0) ? id : thread_id_learn();
}

static inline void expect_wait(bool waits)
{
    thread_id_unless_waiting = waits ? 0 : current_thread();
}

static inline int wait_begin(void)
{
    int type;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    return type;
}

static inline bool wait_is_asynchronous(int type)
{
    return type != PTHREAD_CANCEL_DEFERRED;
}

void wait_end_asynchronous(void (*undo)(void *), void *argument);

static inline void wait_end(int type, void (*undo)(void *), void *argument)
{
    if (unlikely(wait_is_asynchronous(type)))
        wait_end_asynchronous(undo, argument);
}

#endif
