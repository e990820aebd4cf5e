/* SPDX-License-Identifier: MIT */
/* Threads that do something known while they hold a lock for which others wait. */
#include "named.h"

#include <linux/futex.h>
#include <sys/syscall.h>

enum { HOLD_MS = 300, CLEARED = 1 << 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pid_t waiter;
static int pipe_ends[2], word;

static void *wait_for_mutex(void *unused)
{
    check_publish(&waiter);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return unused;
}

/* Locks the mutex, and returns once another thread waits for it. */
static pthread_t lock_and_be_waited_for(void)
{
    begin_recording();
    TELL(mutex);
    CHECK_OK(pthread_mutex_lock(&mutex));
    pthread_t thread = check_start(wait_for_mutex, NULL);
    check_wait_queued(&waiter);
    return thread;
}

static void unlock_and_join(pthread_t thread)
{
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
}

static void asleep(void)
{
    pthread_t thread = lock_and_be_waited_for();
    check_sleep_ms(HOLD_MS);
    unlock_and_join(thread);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

__attribute__((noinline)) static void compute(long ms)
{
    const uint64_t end = now_ms() + (uint64_t)ms;
    while (now_ms() < end)
        check_spin(10000);
}

static void running(void)
{
    pthread_t thread = lock_and_be_waited_for();
    compute(HOLD_MS);
    unlock_and_join(thread);
}

__attribute__((noinline)) static void allocate(long ms)
{
    const uint64_t end = now_ms() + (uint64_t)ms;
    while (now_ms() < end)
        for (size_t i = 0; i < 1000; i++) {
            void *volatile memory[2] = {malloc(2000 + 100 * i), malloc(60)};
            free(memory[0]);
            free(memory[1]);
        }
}

static void allocates(void)
{
    pthread_t thread = lock_and_be_waited_for();
    allocate(HOLD_MS);
    unlock_and_join(thread);
}

/* Allocates cleared memory, for which calloc() ends with a jump to memset(). */
__attribute__((noinline)) static void clear(long ms)
{
    const uint64_t end = now_ms() + (uint64_t)ms;
    while (now_ms() < end) {
        char *volatile cleared = calloc(CLEARED, 1);
        free(cleared);
    }
}

static void clears(void)
{
    /* From here on, so much comes from the heap. */
    char *volatile mapped = malloc(CLEARED);
    free(mapped);
    pthread_t thread = lock_and_be_waited_for();
    clear(HOLD_MS);
    unlock_and_join(thread);
}

static void *write_later(void *unused)
{
    check_sleep_ms(HOLD_MS);
    CHECK_EQUAL(write(pipe_ends[1], "x", 1), 1);
    return unused;
}

/* Blocks in read(). */
static void reads(void)
{
    char byte;
    CHECK_EQUAL(pipe(pipe_ends), 0);
    pthread_t thread = lock_and_be_waited_for();
    pthread_t writer = check_start(write_later, NULL);
    CHECK_EQUAL(read(pipe_ends[0], &byte, 1), 1);
    unlock_and_join(thread);
    check_join(writer);
}

static void *hold_other(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&other));
    check_set(&word, 1);
    CHECK_UNTIL(check_get(&word) == 2);
    check_sleep_ms(HOLD_MS);
    CHECK_OK(pthread_mutex_unlock(&other));
    return unused;
}

static void waits_for_lock(void)
{
    TELL(other);
    begin_recording();
    pthread_t holder = check_start(hold_other, NULL);
    CHECK_UNTIL(check_get(&word));
    pthread_t thread = lock_and_be_waited_for();
    check_set(&word, 2);
    CHECK_OK(pthread_mutex_lock(&other));
    CHECK_OK(pthread_mutex_unlock(&other));
    unlock_and_join(thread);
    check_join(holder);
}

static void waits_for_event(void)
{
    TELL(condition);
    pthread_t thread = lock_and_be_waited_for();
    struct timespec end = check_after_ms(CLOCK_REALTIME, HOLD_MS);
    CHECK_OK(pthread_mutex_lock(&other));
    while (pthread_cond_timedwait(&condition, &other, &end) == 0)
        continue;
    CHECK_OK(pthread_mutex_unlock(&other));
    unlock_and_join(thread);
}

/* Blocks in a futex that is no pthread lock's. */
static void futex(void)
{
    const struct timespec time = {0, HOLD_MS * 1000000L};
    pthread_t thread = lock_and_be_waited_for();
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
    unlock_and_join(thread);
}

static void use_one_cpu(void)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(sched_getcpu(), &cpus);
    CHECK_EQUAL(sched_setaffinity(0, sizeof cpus, &cpus), 0);
}

static void *compete(void *unused)
{
    while (!check_get(&word))
        compute(1);
    return unused;
}

/* The holder computes on a CPU that it shares with three other threads. */
static void preempted(void)
{
    pthread_t thread = lock_and_be_waited_for(), competing[3];
    use_one_cpu();
    for (int i = 0; i < 3; i++)
        competing[i] = check_start(compete, NULL);
    compute(2 * HOLD_MS);
    check_set(&word, 1);
    for (int i = 0; i < 3; i++)
        check_join(competing[i]);
    unlock_and_join(thread);
}

/* Two functions of one lock: the second holds it nine times as long. */
__attribute__((noinline)) static void hold_briefly(void)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    check_sleep_ms(1);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_spin(1);
}

__attribute__((noinline)) static void hold_long(void)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    check_sleep_ms(9);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_spin(1);
}

static void *hold_in_two_functions(void *unused)
{
    for (int i = 0; i < 20; i++) {
        hold_briefly();
        hold_long();
    }
    return unused;
}

static void functions(void)
{
    begin_recording();
    TELL(mutex);
    pthread_t first = check_start(hold_in_two_functions, NULL);
    pthread_t second = check_start(hold_in_two_functions, NULL);
    check_join(first);
    check_join(second);
}

/* The process ends while one thread holds the mutex and another waits for it. */
static void *hold_for_ever(void *often)
{
    for (unsigned i = 0; often && i < 3000; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    lock_and_be_waited_for();
    check_set(&word, 1);
    check_sleep_ms(60000);
    return often;
}

static void end_while_held(void *often)
{
    begin_recording();
    check_start(hold_for_ever, often);
    CHECK_UNTIL(check_get(&word));
    check_sleep_ms(HOLD_MS);
    _exit(0);
}

static void never_released(void)
{
    end_while_held(NULL);
}

/* After many acquisitions, most of which are only counted. */
static void not_released_again(void)
{
    end_while_held(&word);
}

CHECK_MAIN(CASE(asleep), CASE(running), CASE(allocates), CASE(clears), CASE(reads),
           CASE(waits_for_lock), CASE(waits_for_event), CASE(futex), CASE(preempted),
           CASE(functions), CASE(never_released), CASE(not_released_again))
