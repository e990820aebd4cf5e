/* SPDX-License-Identifier: MIT */
/* One case for each misuse of locks that the recorder detects immediately, and cases
 * without misuse. */
#include "named.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;

static void make(pthread_mutex_t *made, int type, int robust)
{
    pthread_mutexattr_t attributes;
    CHECK_OK(pthread_mutexattr_init(&attributes));
    CHECK_OK(pthread_mutexattr_settype(&attributes, type));
    CHECK_OK(pthread_mutexattr_setrobust(&attributes, robust));
    CHECK_OK(pthread_mutex_init(made, &attributes));
}

static int stage;

static void *lock_twice(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    check_set(&stage, 1);
    pthread_mutex_lock(&mutex);
    return unused;
}

/* The recorder reports the deadlock before the thread hangs, since this process ends
 * without running destructors. */
static void self_deadlock(void)
{
    TELL(mutex);
    check_start(lock_twice, NULL);
    CHECK_UNTIL(check_get(&stage));
    check_sleep_ms(50);
    _exit(0);
}

/* The thread waits for a read lock that it holds itself. */
static void self_deadlock_of_rwlock(void)
{
    begin_recording();
    TELL(rwlock);
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 3);
    CHECK_OK(pthread_rwlock_rdlock(&rwlock));
    CHECK_OK(pthread_rwlock_rdlock(&rwlock)); /* fine */
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    CHECK_RETURNS(pthread_rwlock_timedwrlock(&rwlock, &soon), ETIMEDOUT);
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
}

static void relock_refused_of_rwlock(void)
{
    begin_recording();
    TELL(rwlock);
    CHECK_OK(pthread_rwlock_wrlock(&rwlock));
    CHECK_RETURNS(pthread_rwlock_wrlock(&rwlock), EDEADLK);
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
}

static void relock_refused(void)
{
    begin_recording();
    make(&mutex, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
    TELL(mutex);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_RETURNS(pthread_mutex_lock(&mutex), EDEADLK);
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void *spin_twice(void *unused)
{
    CHECK_OK(pthread_spin_lock(&spinlock));
    check_set(&stage, 1);
    pthread_spin_lock(&spinlock);
    return unused;
}

static void self_deadlock_of_spinlock(void)
{
    begin_recording();
    CHECK_OK(pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE));
    tell("spinlock", (void *)(uintptr_t)&spinlock);
    check_start(spin_twice, NULL);
    CHECK_UNTIL(check_get(&stage));
    check_sleep_ms(50);
    _exit(0);
}

static void *unlock_only(void *wanted)
{
    CHECK_RETURNS(pthread_mutex_unlock(&mutex), (int)(long)wanted);
    return NULL;
}

/* Misuses the lock three times through the same call, which gives one event with a
 * count of 3. */
static void foreign_unlock(void)
{
    begin_recording();
    TELL(mutex);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        check_join(check_start(unlock_only, (void *)0L));
    }
}

static void *unlock_spinlock(void *unused)
{
    CHECK_OK(pthread_spin_unlock(&spinlock));
    return unused;
}

static void foreign_unlock_of_spinlock(void)
{
    begin_recording();
    CHECK_OK(pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE));
    tell("spinlock", (void *)(uintptr_t)&spinlock);
    CHECK_OK(pthread_spin_lock(&spinlock));
    check_join(check_start(unlock_spinlock, NULL));
}

static void unlock_of_free_spinlock(void)
{
    begin_recording();
    CHECK_OK(pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE));
    tell("spinlock", (void *)(uintptr_t)&spinlock);
    CHECK_OK(pthread_spin_unlock(&spinlock));
}

static void *unlock_rwlock(void *unused)
{
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    return unused;
}

/* Uses a read lock, whose holder the recorder does not know. */
static void foreign_unlock_of_rwlock(void)
{
    begin_recording();
    TELL(rwlock);
    CHECK_OK(pthread_rwlock_rdlock(&rwlock));
    check_join(check_start(unlock_rwlock, NULL));
}

static void unlock_refused(void)
{
    begin_recording();
    make(&mutex, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
    TELL(mutex);
    CHECK_OK(pthread_mutex_lock(&mutex));
    check_join(check_start(unlock_only, (void *)(long)EPERM));
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void destroyed_held(void)
{
    begin_recording();
    TELL(mutex);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_RETURNS(pthread_mutex_destroy(&mutex), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

static void initialised_held(void)
{
    begin_recording();
    make(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
    TELL(mutex);
    CHECK_OK(pthread_mutex_lock(&mutex));
    make(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    _exit(0);
}

static void *leave_locked(void *locked)
{
    CHECK_OK(pthread_mutex_lock(locked));
    return NULL;
}

static void exited_holding(void)
{
    begin_recording();
    TELL(mutex);
    check_join(check_start(leave_locked, &mutex));
}

static void held_at_exit(void)
{
    begin_recording();
    TELL(mutex);
    CHECK_OK(pthread_mutex_lock(&mutex));
    exit(0);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *wait_shortly(void *unused)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 60);
    CHECK_OK(pthread_mutex_lock(&mutex));
    check_set(&stage, 1);
    while (pthread_cond_timedwait(&condition, &mutex, &soon) != ETIMEDOUT)
        ;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return unused;
}

static void destroyed_waited(void)
{
    begin_recording();
    TELL(condition);
    pthread_t other = check_start(wait_shortly, NULL);
    CHECK_UNTIL(check_get(&stage));
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_cond_destroy(&condition));
    check_join(other);
}

static void *lock_in_vain(void *unused)
{
    struct timespec soon = check_after_ms(CLOCK_REALTIME, 200);
    CHECK_RETURNS(pthread_rwlock_timedwrlock(&rwlock, &soon), ETIMEDOUT);
    return unused;
}

/* The reader destroys the lock; glibc does not check that. */
static void destroyed_waited_of_rwlock(void)
{
    begin_recording();
    TELL(rwlock);
    CHECK_OK(pthread_rwlock_rdlock(&rwlock));
    pthread_t other = check_start(lock_in_vain, NULL);
    CHECK_UNTIL(__atomic_load_n(&rwlock.__data.__readers, __ATOMIC_RELAXED) & 2);
    CHECK_OK(pthread_rwlock_destroy(&rwlock));
    check_join(other);
    _exit(0);
}

static pthread_barrier_t barrier;

static void *come_alone(void *unused)
{
    pthread_barrier_wait(&barrier);
    return unused;
}

static void *destroy_barrier(void *unused)
{
    pthread_barrier_destroy(&barrier); /* waits for ever */
    return unused;
}

static void destroyed_waited_of_barrier(void)
{
    begin_recording();
    TELL(barrier);
    CHECK_OK(pthread_barrier_init(&barrier, NULL, 2));
    check_start(come_alone, NULL);
    CHECK_UNTIL(__atomic_load_n((unsigned *)&barrier, __ATOMIC_RELAXED));
    check_start(destroy_barrier, NULL);
    check_sleep_ms(100);
    _exit(0);
}

/* Correct programs that look similar to the wrong ones. */
static void *pass_barrier(void *unused)
{
    /* The serial thread may destroy the barrier while the others are still
     * returning. */
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        CHECK_OK(pthread_barrier_destroy(&barrier));
    return unused;
}

static void destroy_passed_barriers(void)
{
    for (int i = 0; i < 20; i++) {
        pthread_t others[3];
        CHECK_OK(pthread_barrier_init(&barrier, NULL, 3));
        for (int k = 0; k < 3; k++)
            others[k] = check_start(pass_barrier, NULL);
        for (int k = 0; k < 3; k++)
            check_join(others[k]);
    }
}

static void *read_all_along(void *unused)
{
    CHECK_OK(pthread_rwlock_rdlock(&rwlock));
    check_set(&stage, 1);
    CHECK_UNTIL(check_get(&stage) == 2);
    CHECK_OK(pthread_rwlock_unlock(&rwlock));
    return unused;
}

/* Another thread holds the rwlock as a reader throughout; the recorder must not take it
 * for the holder whose lock is released. */
static void unlock_in_any_order(void)
{
    check_set(&stage, 0);
    pthread_t reader = check_start(read_all_along, NULL);
    CHECK_UNTIL(check_get(&stage) == 1);
    pthread_spinlock_t spinlocks[2];
    for (int i = 0; i < 2; i++)
        CHECK_OK(pthread_spin_init(&spinlocks[i], PTHREAD_PROCESS_PRIVATE));
    for (int turn = 0; turn < 5000; turn++) {
        CHECK_OK(pthread_rwlock_rdlock(&rwlock));
        for (int i = 0; i < 2; i++)
            CHECK_OK(pthread_spin_lock(&spinlocks[i]));
        CHECK_OK(pthread_rwlock_rdlock(&rwlock));
        for (int i = 0; i < 2; i++)
            CHECK_OK(pthread_spin_unlock(&spinlocks[i]));
        for (int i = 0; i < 2; i++)
            CHECK_OK(pthread_rwlock_unlock(&rwlock));
    }
    check_set(&stage, 2);
    check_join(reader);
}

static void *wait_for_stage(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    check_add(&stage, 1);
    while (check_get(&stage) < 10)
        CHECK_OK(pthread_cond_wait(&condition, &mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return unused;
}

static void broadcast_and_destroy(void)
{
    pthread_t waiters[2];
    for (int i = 0; i < 2; i++)
        waiters[i] = check_start(wait_for_stage, NULL);
    CHECK_UNTIL(check_get(&stage) == 2);
    CHECK_OK(pthread_mutex_lock(&mutex));
    check_set(&stage, 10);
    CHECK_OK(pthread_cond_broadcast(&condition));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_cond_destroy(&condition));
    for (int i = 0; i < 2; i++)
        check_join(waiters[i]);
}

static void leave_robust(void)
{
    pthread_mutex_t robust;
    make(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
    check_join(check_start(leave_locked, &robust));
    CHECK_RETURNS(pthread_mutex_lock(&robust), EOWNERDEAD);
    CHECK_OK(pthread_mutex_consistent(&robust));
    CHECK_OK(pthread_mutex_unlock(&robust));
    CHECK_OK(pthread_mutex_destroy(&robust));
}

static void no_misuse(void)
{
    begin_recording();
    broadcast_and_destroy();
    leave_robust();
    destroy_passed_barriers();
    unlock_in_any_order();
    pthread_mutex_t recursive;
    make(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
    for (int i = 0; i < 3; i++)
        CHECK_OK(pthread_mutex_lock(&recursive));
    for (int i = 0; i < 3; i++)
        CHECK_OK(pthread_mutex_unlock(&recursive));
    CHECK_RETURNS(check_try_elsewhere(&recursive), 0);
    CHECK_OK(pthread_mutex_destroy(&recursive));
    memset(&recursive, 0x5a, sizeof recursive); /* no meaning */
    CHECK_OK(pthread_mutex_init(&recursive, NULL));
    CHECK_OK(pthread_mutex_trylock(&recursive));
    CHECK_RETURNS(pthread_mutex_trylock(&recursive), EBUSY);
    CHECK_OK(pthread_mutex_lock(&other_mutex)); /* not in reverse order of locking: */
    CHECK_OK(pthread_mutex_unlock(&recursive));
    CHECK_OK(pthread_mutex_unlock(&other_mutex));
}

CHECK_MAIN(CASE(self_deadlock), CASE(self_deadlock_of_rwlock),
           CASE(self_deadlock_of_spinlock), CASE(foreign_unlock), CASE(unlock_refused),
           CASE(destroyed_held), CASE(initialised_held), CASE(exited_holding),
           CASE(held_at_exit), CASE(destroyed_waited), CASE(relock_refused),
           CASE(relock_refused_of_rwlock), CASE(foreign_unlock_of_spinlock),
           CASE(unlock_of_free_spinlock), CASE(foreign_unlock_of_rwlock),
           CASE(destroyed_waited_of_rwlock), CASE(destroyed_waited_of_barrier),
           CASE(no_misuse))
