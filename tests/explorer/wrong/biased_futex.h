/* SPDX-License-Identifier: MIT */
/* The shipped futex lock with one of its barriers removed. Each variant has a file of
 * its own, which redefines the barrier, defines VARIANT, and then includes this
 * header. */
#include "locks/list/descriptor.h"

#define NAMED(name) NAMED_AGAIN(name, VARIANT)
#define NAMED_AGAIN(name, variant) NAMED_LAST(name, variant)
#define NAMED_LAST(name, variant) name##_##variant
#define futex_sleepers NAMED(futex_sleepers)
#define futex_wait_biased NAMED(futex_wait_biased)

#include "locks/algorithms/futex.c"

static int variant_lock(struct lock *lock)
{
    futex_lock(lock, true);
    return 0;
}

static bool variant_trylock(struct lock *lock)
{
    return futex_trylock(lock, true);
}

static bool variant_timedlock(struct lock *lock, const struct deadline *deadline)
{
    return futex_timedlock(lock, true, deadline);
}

static int variant_unlock(struct lock *lock)
{
    futex_unlock(lock, true);
    return 0;
}

static void variant_destroy(struct lock *lock)
{
    futex_destroy(lock);
}

extern const struct lock_operations NAMED(futex);
const struct lock_operations NAMED(futex) = {
    .lock = variant_lock,
    .trylock = variant_trylock,
    .timedlock = variant_timedlock,
    .unlock = variant_unlock,
    .destroy = variant_destroy,
};
