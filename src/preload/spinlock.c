/* SPDX-License-Identifier: MIT */
/*
 * pthread_spin_*. Four bytes have no room for an index, so one algorithm serves all
 * spin locks of the process. Without one, each function is a jump to glibc's.
 */
#include "preload/spinlock.h"

#include "preload/borrowing/borrowing.h"
#include "preload/dispatch.h"
#include "preload/real.h"

#include "spinlocks/list/descriptor.h"

_Static_assert(sizeof(struct spinlock) == sizeof(pthread_spinlock_t), "");

/* The operations before startup(): the first call initialises the library. */
static int first_init(struct spinlock *lock, int shared);
static int first_lock(struct spinlock *lock);
static int first_trylock(struct spinlock *lock);
static int first_unlock(struct spinlock *lock);

static struct spinlock_operations used = {.init = first_init,
                                          .lock = first_lock,
                                          .trylock = first_trylock,
                                          .unlock = first_unlock};

static int first_init(struct spinlock *lock, int shared)
{
    startup();
    return used.init(lock, shared);
}

static int first_lock(struct spinlock *lock)
{
    startup();
    return used.lock(lock);
}

static int first_trylock(struct spinlock *lock)
{
    startup();
    return used.trylock(lock);
}

static int first_unlock(struct spinlock *lock)
{
    startup();
    return used.unlock(lock);
}

/* glibc's functions take a pointer to the same four bytes. A function between would
 * cost a second jump. */
static struct spinlock_operations operations_of_glibc(void)
{
    union {
        int (*real)(pthread_spinlock_t *);
        int (*operation)(struct spinlock *);
    } lock = {.real = real_pthread_spin_lock()},
      trylock = {.real = real_pthread_spin_trylock()},
      unlock = {.real = real_pthread_spin_unlock()};
    union {
        int (*real)(pthread_spinlock_t *, int);
        int (*operation)(struct spinlock *, int);
    } init = {.real = real_pthread_spin_init()};
    return (struct spinlock_operations){.init = init.operation,
                                        .lock = lock.operation,
                                        .trylock = trylock.operation,
                                        .unlock = unlock.operation};
}

void spinlock_use(unsigned index)
{
    used = index ? spinlock_list[index].operations : operations_of_glibc();
}

static struct spinlock *spinlock_of(pthread_spinlock_t *lock)
{
    return (struct spinlock *)(uintptr_t)lock;
}

EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    return used.init(spinlock_of(lock), shared);
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
    before_kernel();
    return used.lock(spinlock_of(lock));
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    return used.trylock(spinlock_of(lock));
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    return used.unlock(spinlock_of(lock));
}
