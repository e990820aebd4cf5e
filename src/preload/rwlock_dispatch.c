/* SPDX-License-Identifier: MIT */
#include "preload/rwlock_dispatch.h"

#include "preload/dispatch.h"
#include "preload/plan.h"
#include "preload/real.h"

#include "rwlocks/read_holds.h"

#include <stddef.h>

_Static_assert(sizeof(struct rwlock) <= sizeof(pthread_rwlock_t), "");
_Static_assert(offsetof(pthread_rwlock_t, __data.__cur_writer) ==
                   offsetof(struct rwlock, writer),
               "");
_Static_assert(offsetof(pthread_rwlock_t, __data.__shared) ==
                   offsetof(struct rwlock, shared),
               "");
_Static_assert(offsetof(pthread_rwlock_t, __data.__flags) ==
                   offsetof(struct rwlock, kind),
               "");
_Static_assert((int)RWLOCK_WRITERS_FIRST ==
                   (int)PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP,
               "");

/* The operations before startup(): the first call initialises the library. There are
 * no timed ones: their callers call rwlock_passed_through() first, which does so. */
#define FIRST(operation)                                                               \
    static int first_##operation(struct rwlock *lock)                                  \
    {                                                                                  \
        startup();                                                                     \
        return rwlock_operations_of(lock)->operation(lock);                            \
    }
FIRST(read_lock)
FIRST(write_lock)
FIRST(read_trylock)
FIRST(write_trylock)
FIRST(unlock)
FIRST(destroy)

struct rwlock_operations rwlock_dispatch[RWLOCK_SLOTS] = {
    [RWLOCK_DEFAULT] = {.read_lock = first_read_lock,
                        .write_lock = first_write_lock,
                        .read_trylock = first_read_trylock,
                        .write_trylock = first_write_trylock,
                        .unlock = first_unlock,
                        .destroy = first_destroy},
};

/* Each operation of the pass-through looks glibc's function up, and puts it in its own
 * place, so that later calls go there directly. */
#define PASS_THROUGH(operation, function)                                              \
    static int glibc_##operation(struct rwlock *lock)                                  \
    {                                                                                  \
        union {                                                                        \
            int (*ours)(struct rwlock *);                                              \
            int (*glibc)(pthread_rwlock_t *);                                          \
        } either = {.glibc = real_##function()};                                       \
        for (unsigned i = RWLOCK_DEFAULT; i <= RWLOCK_GLIBC; i++)                      \
            if (rwlock_dispatch[i].operation == glibc_##operation)                     \
                __atomic_store_n(&rwlock_dispatch[i].operation, either.ours,           \
                                 __ATOMIC_RELAXED);                                    \
        return either.ours(lock);                                                      \
    }
PASS_THROUGH(read_lock, pthread_rwlock_rdlock)
PASS_THROUGH(write_lock, pthread_rwlock_wrlock)
PASS_THROUGH(read_trylock, pthread_rwlock_tryrdlock)
PASS_THROUGH(write_trylock, pthread_rwlock_trywrlock)
PASS_THROUGH(unlock, pthread_rwlock_unlock)
PASS_THROUGH(destroy, pthread_rwlock_destroy)

/* Of the slots in use, only glibc's lacks timed operations after startup(). */
static const struct rwlock_operations glibc_operations = {
    .read_lock = glibc_read_lock,
    .write_lock = glibc_write_lock,
    .read_trylock = glibc_read_trylock,
    .write_trylock = glibc_write_trylock,
    .unlock = glibc_unlock,
    .destroy = glibc_destroy,
};

/* The operations for slot 0 while a plan concerns rwlocks: they select the algorithm of
 * the lock at its first use. */
static unsigned fallback_slot;

static void resolve(struct rwlock *lock, const void *caller)
{
    unsigned slot = plan_slot(PLAN_RWLOCK, lock, caller);
    uint8_t none = 0;
    /* Relaxed: nothing is published with it. The first thread sets it for all. */
    compare_exchange_relaxed(&lock->algorithm, &none,
                             (uint8_t)(slot ? slot : fallback_slot));
}

#define PLANNED(operation)                                                             \
    static int plan_##operation(struct rwlock *lock)                                   \
    {                                                                                  \
        resolve(lock, __builtin_return_address(0));                                    \
        return rwlock_operations_of(lock)->operation(lock);                            \
    }
PLANNED(read_lock)
PLANNED(write_lock)
PLANNED(read_trylock)
PLANNED(write_trylock)
PLANNED(unlock)
PLANNED(destroy)

static const struct rwlock_operations plan_rwlock_operations = {
    .read_lock = plan_read_lock,
    .write_lock = plan_write_lock,
    .read_trylock = plan_read_trylock,
    .write_trylock = plan_write_trylock,
    .unlock = plan_unlock,
    .destroy = plan_destroy,
};

bool rwlock_passed_through(struct rwlock *lock, const void *caller)
{
    if (unlikely(rwlock_dispatch[RWLOCK_DEFAULT].read_lock == first_read_lock))
        startup();
    if (unlikely(rwlock_operations_of(lock)->read_lock == plan_read_lock) &&
        !lock->shared)
        resolve(lock, caller);
    return lock->shared || !rwlock_operations_of(lock)->read_timedlock;
}

static void fill(unsigned index, bool elides)
{
    const unsigned used = elides ? index : elided_rwlock_inner(index);
    rwlock_dispatch[index + 1] =
        index ? elided_rwlock_at(used).operations : glibc_operations;
}

void rwlock_dispatch_fill(unsigned chosen, bool elides)
{
    fill(0, elides);
    fill(chosen, elides);
    for (unsigned i = 0; i < plan.entries; i++)
        if (plan.entry[i].kind == PLAN_RWLOCK)
            fill(plan.entry[i].slot - 1u, elides);
    fallback_slot = rwlock_default_slot = chosen + 1;
    rwlock_dispatch[RWLOCK_DEFAULT] = plan_concerns(PLAN_RWLOCK)
                                          ? plan_rwlock_operations
                                          : rwlock_dispatch[fallback_slot];
}

/* The key is among the first, for which pthread_setspecific() does not allocate. */
static pthread_key_t ending;

static void thread_ends(void *unused)
{
    (void)unused;
    read_holds_give_back();
}

static void thread_begun(void)
{
    pthread_setspecific(ending, &ending);
}

void rwlock_watch_threads(void)
{
    if (pthread_key_create(&ending, thread_ends) == 0)
        read_holds_begun = thread_begun;
}
