/* SPDX-License-Identifier: MIT */
/*
 * A preload library that adds one bug, chosen by BUG=name, to the C library's locks. It
 * shows that the suite can fail: test_wrong.py names the case that must detect each
 * bug.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* Calls the next library's function of this name, which it looks up once. */
#define NEXT(name, ...)                             \
    ({                                              \
        static __typeof__(&name) next;              \
        if (next == NULL) {                         \
            void *symbol = dlsym(RTLD_NEXT, #name); \
            memcpy(&next, &symbol, sizeof next);    \
        }                                           \
        next(__VA_ARGS__);                          \
    })

static int bug_is(const char *name)
{
    const char *bug = getenv("BUG");
    return bug != NULL && strcmp(bug, name) == 0;
}

EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (bug_is("lock-does-nothing"))
        return 0;
    if (bug_is("lock-allocates"))
        memset(malloc(100), 1, 100);
    if (bug_is("memory-kept") && mutex->__data.__lock)
        memset(malloc(100), 1, 100);
    int result = NEXT(pthread_mutex_lock, mutex);
    if (bug_is("relock-succeeds") && result == EDEADLK)
        return 0;
    return result;
}

EXPORTED int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (bug_is("unlock-by-owner-only") && mutex->__data.__owner != gettid())
        return EPERM;
    int result = NEXT(pthread_mutex_unlock, mutex);
    if (bug_is("unlock-looks-back")) {
        usleep(20);
        if (*(volatile int *)mutex == 12345)
            abort();
    }
    if (bug_is("foreign-unlock-succeeds") && result == EPERM)
        return 0;
    return result;
}

EXPORTED int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    int result = NEXT(pthread_mutex_trylock, mutex);
    return bug_is("trylock-succeeds") && result == EBUSY ? 0 : result;
}

EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *mutex,
                                     const struct timespec *limit)
{
    int result = NEXT(pthread_mutex_timedlock, mutex, limit);
    return bug_is("timedlock-succeeds") && result == ETIMEDOUT ? 0 : result;
}

EXPORTED int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                     const struct timespec *limit)
{
    if (bug_is("clock-ignored"))
        return NEXT(pthread_mutex_timedlock, mutex, limit);
    return NEXT(pthread_mutex_clocklock, mutex, clock, limit);
}

EXPORTED int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    int result = NEXT(pthread_mutex_destroy, mutex);
    return bug_is("destroy-succeeds") ? 0 : result;
}

EXPORTED int pthread_mutex_init(pthread_mutex_t *mutex,
                                const pthread_mutexattr_t *wanted)
{
    return NEXT(pthread_mutex_init, mutex, bug_is("kind-ignored") ? NULL : wanted);
}

/* Waits with a mutex of its own, so a cancelled waiter does not reacquire the user's
 * mutex. */
static int wait_without_relock(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    static pthread_mutex_t own = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    NEXT(pthread_mutex_lock, &own);
    NEXT(pthread_mutex_unlock, mutex);
    int result = NEXT(pthread_cond_wait, cond, &own);
    NEXT(pthread_mutex_unlock, &own);
    NEXT(pthread_mutex_lock, mutex);
    return result;
}

EXPORTED int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    if (bug_is("cancel-without-relock"))
        return wait_without_relock(cond, mutex);
    if (bug_is("wait-keeps-mutex")) {
        static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
        NEXT(pthread_mutex_lock, &own);
        int result = NEXT(pthread_cond_wait, cond, &own);
        NEXT(pthread_mutex_unlock, &own);
        return result;
    }
    int result = NEXT(pthread_cond_wait, cond, mutex);
    if (bug_is("wait-looks-back") && *(volatile int *)cond == 12345)
        abort();
    return result;
}

EXPORTED int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                    const struct timespec *limit)
{
    int result = NEXT(pthread_cond_timedwait, cond, mutex, limit);
    if (bug_is("timeout-as-interruption") && result == ETIMEDOUT)
        return EINTR;
    if (bug_is("timeout-loses-mutex") && result == ETIMEDOUT)
        NEXT(pthread_mutex_unlock, mutex);
    return result;
}

EXPORTED int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                    clockid_t clock, const struct timespec *limit)
{
    if (bug_is("clock-ignored"))
        return NEXT(pthread_cond_timedwait, cond, mutex, limit);
    return NEXT(pthread_cond_clockwait, cond, mutex, clock, limit);
}

EXPORTED int pthread_cond_signal(pthread_cond_t *cond)
{
    static int calls;
    if (bug_is("signal-lost") &&
        __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 10 == 0)
        return 0;
    return NEXT(pthread_cond_signal, cond);
}

EXPORTED int pthread_cond_broadcast(pthread_cond_t *cond)
{
    if (bug_is("broadcast-wakes-one"))
        return NEXT(pthread_cond_signal, cond);
    return NEXT(pthread_cond_broadcast, cond);
}

/* Normally makes a tail call, so that the loader sees the original caller. With the bug
 * it makes an ordinary call, so that the loader uses this library's search path. */
EXPORTED void *dlopen(const char *path, int flags)
{
    if (bug_is("dlopen-changes-caller")) {
        void *handle = NEXT(dlopen, path, flags);
        __asm__ volatile("" : : "r"(handle) : "memory");
        return handle;
    }
    return NEXT(dlopen, path, flags);
}

__attribute__((constructor)) static void banner(void)
{
    if (bug_is("banner-on-stdout") && write(STDOUT_FILENO, "lock library\n", 13) != 13)
        abort();
}
