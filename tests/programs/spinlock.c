/* SPDX-License-Identifier: MIT */
/* Spin locks: exclusion, results, more threads than CPUs, fork, cancellation. */
#include <sys/mman.h>

#include "spin_check.h"

enum { MAX_THREADS = 64 };

static struct counted shared;

static void *try_body(void *argument)
{
    struct counted *object = argument;
    check_meet(&object->started, object->threads);
    for (int done = 0; done < object->rounds;) {
        int result = pthread_spin_trylock(&object->lock);
        if (result == EBUSY) {
            sched_yield();
            continue;
        }
        CHECK_EQUAL(result, 0);
        count_once(object);
        CHECK_OK(pthread_spin_unlock(&object->lock));
        done++;
    }
    return NULL;
}

static void run(void *(*body)(void *), void *(*other)(void *), int threads, int rounds)
{
    pthread_t ids[MAX_THREADS];
    CHECK_OK(pthread_spin_init(&shared.lock, PTHREAD_PROCESS_PRIVATE));
    shared.rounds = check_rounds(rounds);
    shared.counter = 0;
    shared.threads = threads;
    shared.started = 0;
    for (int i = 0; i < threads; i++)
        ids[i] = check_start(i % 2 ? other : body, &shared);
    for (int i = 0; i < threads; i++)
        check_join(ids[i]);
    CHECK_EQUAL(shared.counter, (long)threads * shared.rounds);
    CHECK_OK(pthread_spin_trylock(&shared.lock));
    CHECK_OK(pthread_spin_unlock(&shared.lock));
    CHECK_OK(pthread_spin_destroy(&shared.lock));
}

static void two_threads(void)
{
    run(lock_body, lock_body, 2, 20000);
}

static void four_threads(void)
{
    run(lock_body, lock_body, 4, 4000);
}

static void locks_and_trylocks(void)
{
    run(lock_body, try_body, 4, 4000);
}

static void only_trylock(void)
{
    run(try_body, try_body, 4, 4000);
}

/* Holders lose their CPU inside the critical section. */
static void more_threads_than_cpus(void)
{
    shared.yields = 1;
    run(lock_body, lock_body, 8, 400);
}

static void sixty_four_threads(void)
{
    shared.yields = 1;
    run(lock_body, lock_body, MAX_THREADS, 50);
}

static void *try_elsewhere(void *lock)
{
    int result = pthread_spin_trylock((pthread_spinlock_t *)lock);
    if (result == 0)
        CHECK_OK(pthread_spin_unlock((pthread_spinlock_t *)lock));
    return (void *)(long)result;
}

static void results(void)
{
    for (int i = 0; i < 10000; i++) {
        /* Whatever the memory held before does not matter. */
        pthread_spinlock_t lock = (int)(i * 77777777u);
        CHECK_OK(pthread_spin_init(&lock, i % 2 ? PTHREAD_PROCESS_SHARED
                                                : PTHREAD_PROCESS_PRIVATE));
        CHECK_OK(pthread_spin_lock(&lock));
        CHECK_RETURNS(pthread_spin_trylock(&lock), EBUSY);
        if (i % 500 == 0)
            CHECK_EQUAL((long)check_join(check_start(try_elsewhere, (void *)&lock)),
                        EBUSY);
        CHECK_OK(pthread_spin_unlock(&lock));
        if (i % 500 == 0)
            CHECK_EQUAL((long)check_join(check_start(try_elsewhere, (void *)&lock)), 0);
        CHECK_OK(pthread_spin_trylock(&lock));
        CHECK_RETURNS(pthread_spin_trylock(&lock), EBUSY);
        CHECK_OK(pthread_spin_unlock(&lock));
        CHECK_OK(pthread_spin_destroy(&lock));
    }
}

/* Numbers that are drawn, and generations, wrap. */
static void a_million_times(void)
{
    pthread_spinlock_t lock;
    CHECK_OK(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE));
    for (int i = 0; i < 1000000; i++) {
        if (i % 3)
            CHECK_OK(pthread_spin_lock(&lock));
        else
            CHECK_OK(pthread_spin_trylock(&lock));
        CHECK_OK(pthread_spin_unlock(&lock));
    }
}

static void *unlock_body(void *lock)
{
    CHECK_OK(pthread_spin_unlock((pthread_spinlock_t *)lock));
    return NULL;
}

static void unlocked_by_another(void)
{
    CHECK_OK(pthread_spin_init(&shared.lock, PTHREAD_PROCESS_PRIVATE));
    for (int i = 0; i < 50; i++) {
        CHECK_OK(pthread_spin_lock(&shared.lock));
        check_join(check_start(unlock_body, (void *)&shared.lock));
    }
}

/* The guard bytes around a lock stay as they are. */
static void neighbours(void)
{
    struct {
        unsigned before;
        pthread_spinlock_t lock;
        unsigned after;
    } packed = {0xa5a5a5a5, 0, 0xa5a5a5a5};
    CHECK_OK(pthread_spin_init(&packed.lock, PTHREAD_PROCESS_PRIVATE));
    for (int i = 0; i < 10000; i++) {
        CHECK_OK(pthread_spin_lock(&packed.lock));
        CHECK_OK(pthread_spin_unlock(&packed.lock));
        CHECK_EQUAL(packed.before, 0xa5a5a5a5);
        CHECK_EQUAL(packed.after, 0xa5a5a5a5);
    }
}

struct passing {
    struct {
        pthread_spinlock_t lock;
        int users;
    } *page;
    pid_t queued;
};

static void *last_unmaps_body(void *argument)
{
    struct passing *passing = argument;
    check_publish(&passing->queued);
    CHECK_OK(pthread_spin_lock(&passing->page->lock));
    int last = --passing->page->users == 0;
    CHECK_OK(pthread_spin_unlock(&passing->page->lock));
    if (last)
        CHECK_EQUAL(munmap((void *)passing->page, 4096), 0);
    return NULL;
}

/* The last user unmaps the lock while the one before may still be in its unlock. */
static void last_user_unmaps(void)
{
    for (int i = 0; i < check_rounds(600); i++) {
        struct passing passing = {0};
        passing.page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK((void *)passing.page != MAP_FAILED);
        CHECK_OK(pthread_spin_init(&passing.page->lock, PTHREAD_PROCESS_PRIVATE));
        passing.page->users = 2;
        CHECK_OK(pthread_spin_lock(&passing.page->lock));
        pthread_t other = check_start(last_unmaps_body, &passing);
        if (i % 50 == 0)
            check_wait_queued(&passing.queued);
        int last = --passing.page->users == 0;
        CHECK_OK(pthread_spin_unlock(&passing.page->lock));
        if (last)
            CHECK_EQUAL(munmap((void *)passing.page, 4096), 0);
        check_join(other);
    }
}

static pid_t queued[2];

static void *queue_body(void *number)
{
    check_publish(&queued[(long)number]);
    CHECK_OK(pthread_spin_lock(&shared.lock));
    CHECK_OK(pthread_spin_unlock(&shared.lock));
    return NULL;
}

static void use_in_child(void)
{
    pthread_t ids[2];
    CHECK_RETURNS(pthread_spin_trylock(&shared.lock), EBUSY);
    CHECK_OK(pthread_spin_unlock(&shared.lock));
    for (int i = 0; i < 100; i++) {
        CHECK_OK(pthread_spin_lock(&shared.lock));
        CHECK_OK(pthread_spin_unlock(&shared.lock));
        CHECK_OK(pthread_spin_trylock(&shared.lock));
        CHECK_OK(pthread_spin_unlock(&shared.lock));
    }
    for (long i = 0; i < 2; i++)
        ids[i] = check_start(queue_body, (void *)i);
    for (int i = 0; i < 2; i++)
        check_join(ids[i]);
}

/* Forks `depth` times, each child from the one before, while two threads wait. */
static void fork_while_two_wait(int depth)
{
    pthread_t ids[2];
    queued[0] = queued[1] = 0;
    CHECK_OK(pthread_spin_lock(&shared.lock));
    for (long i = 0; i < 2; i++)
        ids[i] = check_start(queue_body, (void *)i);
    for (int i = 0; i < 2; i++)
        check_wait_queued(&queued[i]);
    pid_t child = fork();
    if (child == 0) {
        use_in_child();
        if (depth > 1)
            fork_while_two_wait(depth - 1);
        _exit(0);
    }
    CHECK_OK(pthread_spin_unlock(&shared.lock));
    for (int i = 0; i < 2; i++)
        check_join(ids[i]);
    check_child(child);
}

static void fork_while_held(void)
{
    CHECK_OK(pthread_spin_init(&shared.lock, PTHREAD_PROCESS_PRIVATE));
    fork_while_two_wait(3);
    fork_while_two_wait(1);
}

static void *cancelled_body(void *unused)
{
    (void)unused;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    check_publish(&queued[0]);
    pthread_spin_lock(&shared.lock);
    pthread_spin_unlock(&shared.lock);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
    return NULL;
}

/* A thread that is cancelled while it waits does not keep others out. */
static void cancelled_while_waiting(void)
{
    CHECK_OK(pthread_spin_init(&shared.lock, PTHREAD_PROCESS_PRIVATE));
    for (int i = 0; i < 20; i++) {
        queued[0] = 0;
        CHECK_OK(pthread_spin_lock(&shared.lock));
        pthread_t thread = check_start(cancelled_body, NULL);
        check_wait_queued(&queued[0]);
        CHECK_OK(pthread_cancel(thread));
        check_sleep_us(100 * i);
        CHECK_OK(pthread_spin_unlock(&shared.lock));
        check_join(thread);
        CHECK_OK(pthread_spin_lock(&shared.lock));
        CHECK_OK(pthread_spin_unlock(&shared.lock));
    }
}

CHECK_MAIN(CASE(two_threads), CASE(four_threads), CASE(locks_and_trylocks),
           CASE(only_trylock), CASE(results), CASE(more_threads_than_cpus),
           CASE(sixty_four_threads), CASE(a_million_times), CASE(unlocked_by_another),
           CASE(neighbours), CASE(last_user_unmaps), CASE(fork_while_held),
           CASE(cancelled_while_waiting))
