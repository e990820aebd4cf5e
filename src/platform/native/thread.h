/* SPDX-License-Identifier: MIT */
/* The calling thread's id, cancellation type and cache of queue nodes. */
#ifndef HASP_PLATFORM_NATIVE_THREAD_H
#define HASP_PLATFORM_NATIVE_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* All that a thread keeps. The variable is initial-exec, so its first use neither calls
 * a function nor allocates. */
struct this_thread {
    uint32_t id;            /* 0 unknown */
    uint32_t id_if_at_once; /* the same, or 0 while the thread expects to wait or holds
                             * locks by nodes: one check on the fast path */
    struct held_nodes held;
};

extern __thread struct this_thread this_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

_Static_assert(sizeof(struct this_thread) <= 88, "static TLS is scarce");

uint32_t thread_id_learn(void);

bool at_thread_end(void (*function)(void));

/* Called in the child of a fork, where the cached id is the parent's. */
static inline void thread_id_forget(void)
{
    this_thread.id = this_thread.id_if_at_once = 0;
}

static inline uint32_t current_thread_if_known(void)
{
    return this_thread.id_if_at_once;
}

static inline uint32_t current_thread(void)
{
    uint32_t id = this_thread.id;
    return likely(id != 0) ? id : thread_id_learn();
}

static inline struct held_nodes *held_nodes(void)
{
    return &this_thread.held;
}

static inline void expect_wait(bool waits)
{
    bool holds = this_thread.held.count.raw != 0;
    this_thread.id_if_at_once = waits || holds ? 0 : current_thread();
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
