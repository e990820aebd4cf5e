/* SPDX-License-Identifier: MIT */
#include "preload/dispatch.h"

#include "borrowing/delegate.h"
#include "elision/global.h"
#include "elision/policy.h"
#include "preload/elision.h"
#include "preload/plan.h"
#include "preload/real.h"

#include <stddef.h>

/* struct lock overlays pthread_mutex_t. */
_Static_assert(sizeof(struct lock) <= sizeof(pthread_mutex_t), "");
_Static_assert(offsetof(pthread_mutex_t, __data.__lock) == offsetof(struct lock, word),
               "");
_Static_assert(offsetof(pthread_mutex_t, __data.__count) ==
                   offsetof(struct lock, count),
               "");
_Static_assert(offsetof(pthread_mutex_t, __data.__owner) ==
                   offsetof(struct lock, owner),
               "");
_Static_assert(offsetof(pthread_mutex_t, __data.__nusers) ==
                   offsetof(struct lock, users),
               "");
_Static_assert(offsetof(pthread_mutex_t, __data.__kind) == offsetof(struct lock, kind),
               "");

/* The operations before startup(): the first call initialises the library. */
static int first_lock(struct lock *lock)
{
    startup();
    return dispatch[DISPATCH_DEFAULT].lock(lock);
}

static bool first_trylock(struct lock *lock)
{
    startup();
    return dispatch[DISPATCH_DEFAULT].trylock(lock);
}

static bool first_timedlock(struct lock *lock, const struct deadline *deadline)
{
    startup();
    return dispatch[DISPATCH_DEFAULT].timedlock(lock, deadline);
}

static int first_unlock(struct lock *lock)
{
    startup();
    return dispatch[DISPATCH_DEFAULT].unlock(lock);
}

struct lock_operations dispatch[DISPATCH_SLOTS] = {
    [DISPATCH_DEFAULT] = {.lock = first_lock,
                          .trylock = first_trylock,
                          .timedlock = first_timedlock,
                          .unlock = first_unlock},
};

/* Pass-through to glibc for normal mutexes; mutex.c handles the other types. */
static int glibc_lock(struct lock *lock)
{
    return real_pthread_mutex_lock()(mutex_of(lock));
}

static bool glibc_trylock(struct lock *lock)
{
    return real_pthread_mutex_trylock()(mutex_of(lock)) == 0;
}

static int glibc_unlock(struct lock *lock)
{
    return real_pthread_mutex_unlock()(mutex_of(lock));
}

static const struct lock_operations glibc_operations = {
    .lock = glibc_lock, .trylock = glibc_trylock, .unlock = glibc_unlock};

bool passed_through_otherwise(struct lock *lock)
{
    if (lock->kind & ~KIND_OURS)
        return true;
    if (unlikely(operations_of(lock)->lock == first_lock))
        startup();
    if (unlikely(operations_of(lock)->lock == plan_operations.lock))
        plan_resolve(lock, NULL);
    return dispatch[load_acquire(&lock->algorithm)].lock == glibc_lock;
}

/* Elided locks call the entries of the table, because dispatch_stop_bias() changes
 * them. */
static void fill_elided(unsigned chosen, bool elides)
{
    if (elision_settings.global) {
        const unsigned inner = elided_inner(elision_in_use(chosen));
        global_prepare(&dispatch[inner + 1], lock_at(inner).name, elides);
    }
    for (unsigned i = lock_count; i < elided_end(); i++) {
        const unsigned inner = elided_inner(i);
        elided_use(inner, &dispatch[inner + 1]);
        dispatch[i + 1] = elides ? *elided_operations_at(i) : dispatch[inner + 1];
        if (elision_settings.global)
            dispatch[i + 1] = global_operations;
        dispatch[i + 1].destroy = dispatch[inner + 1].destroy; /* saves a call */
    }
}

void dispatch_fill(unsigned chosen, bool biased, bool elides)
{
    for (unsigned i = 0; i < lock_count; i++)
        dispatch[i + 1] = *lock_operations_at(i);
    dispatch[DISPATCH_GLIBC] = glibc_operations;
    if (!biased) {
        dispatch[lock_default + 1] = futex_unbiased_operations;
        dispatch[lock_find("auto") + 1] = auto_unbiased_operations;
        dispatch_stop_bias(); /* also in the variants with concurrency restriction */
    } else if (time_extension_prepare()) {
        dispatch[lock_find("auto") + 1] = auto_asking_operations;
    }
    if (elision_wanted(chosen)) /* most programs elide nothing */
        fill_elided(chosen, elides);
    dispatch[elided_end() + 1] = delegate_operations;
    dispatch[DISPATCH_DEFAULT] = plan_active ? plan_operations : dispatch[chosen + 1];
}

/* Waiters of locks that are still biased keep to the biased protocol, which then sleeps
 * in slices, because another thread may be in the middle of a plain release. */
static void stop_bias(int index, const struct lock_operations *unbiased)
{
    const struct lock_operations *biased = &lock_list[index].operations;
    for (unsigned i = 0; i < DISPATCH_SLOTS; i++)
        if (dispatch[i].unlock == biased->unlock)
            dispatch[i].unlock = unbiased->unlock;
}

/* Holders ask for no more time. */
static void stop_asking(void)
{
    for (unsigned i = 0; i < DISPATCH_SLOTS; i++)
        if (dispatch[i].unlock == auto_asking_operations.unlock)
            dispatch[i] = *lock_operations_at((unsigned)lock_find("auto"));
}

void dispatch_stop_bias(void)
{
    stop_asking();
    stop_bias((int)lock_default, &futex_unbiased_operations);
    stop_bias(lock_find("auto"), &auto_unbiased_operations);
}
