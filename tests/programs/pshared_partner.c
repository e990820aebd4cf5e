/* SPDX-License-Identifier: MIT */
/*
 * Process-shared objects used together with a process that does not run under Hasp,
 * created by either process. The partner is this program, started without the preload.
 */
#include <sys/mman.h>

#include "check.h"

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int made;
    int turn;
    int rounds;
    long counter;
};

static struct shared *map(int descriptor)
{
    void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED,
                        descriptor, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

static void make(struct shared *shared, clockid_t clock)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    CHECK_OK(pthread_mutexattr_init(&mutex));
    CHECK_OK(pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED));
    CHECK_OK(pthread_mutex_init(&shared->mutex, &mutex));
    CHECK_OK(pthread_condattr_init(&cond));
    CHECK_OK(pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED));
    CHECK_OK(pthread_condattr_setclock(&cond, clock));
    CHECK_OK(pthread_cond_init(&shared->cond, &cond));
    shared->rounds = 500;
    check_set(&shared->made, 1);
}

static void take_turns(struct shared *shared, int me, clockid_t clock)
{
    CHECK_OK(pthread_mutex_lock(&shared->mutex));
    for (int i = 0; i < shared->rounds; i++) {
        struct timespec late = check_after_ms(clock, 15000);
        while (shared->turn != me)
            CHECK_OK(pthread_cond_timedwait(&shared->cond, &shared->mutex, &late));
        shared->turn = !me;
        CHECK_OK(pthread_cond_signal(&shared->cond));
    }
    CHECK_OK(pthread_mutex_unlock(&shared->mutex));
    for (int i = 0; i < shared->rounds; i++) {
        CHECK_OK(pthread_mutex_lock(&shared->mutex));
        long before = shared->counter;
        check_dawdle(before);
        shared->counter = before + 1;
        CHECK_OK(pthread_mutex_unlock(&shared->mutex));
    }
}

/* The partner's part, which is skipped unless one of the cases below started it. */
static void as_partner(void)
{
    const char *descriptor = getenv("CHECK_PARTNER_DESCRIPTOR");
    const char *clock = getenv("CHECK_PARTNER_CLOCK");
    if (descriptor == NULL || clock == NULL)
        check_skip("only the other cases start this one");
    CHECK(!check_interposed());
    struct shared *shared = map(atoi(descriptor));
    if (!shared->made)
        make(shared, atoi(clock));
    take_turns(shared, 1, atoi(clock));
}

static void with_partner(int make_here, clockid_t clock)
{
    char number[2][16];
    char *words[] = {"pshared_partner", "as_partner", NULL};
    int descriptor = memfd_create("shared", 0);
    CHECK_COMPARE(descriptor, >=, 0);
    CHECK_EQUAL(ftruncate(descriptor, sizeof(struct shared)), 0);
    struct shared *shared = map(descriptor);
    if (make_here)
        make(shared, clock);
    snprintf(number[0], sizeof number[0], "%d", descriptor);
    snprintf(number[1], sizeof number[1], "%d", (int)clock);
    pid_t child = fork();
    if (child == 0) {
        setenv("CHECK_PARTNER_DESCRIPTOR", number[0], 1);
        setenv("CHECK_PARTNER_CLOCK", number[1], 1);
        unsetenv("LD_PRELOAD");
        execv("/proc/self/exe", words);
        _exit(1);
    }
    CHECK_UNTIL(check_get(&shared->made));
    take_turns(shared, 0, clock);
    check_child(child);
    CHECK_EQUAL(shared->counter, 2L * shared->rounds);
    CHECK_OK(pthread_cond_destroy(&shared->cond));
    CHECK_OK(pthread_mutex_destroy(&shared->mutex));
}

static void made_here(void)
{
    with_partner(1, CLOCK_REALTIME);
    with_partner(1, CLOCK_MONOTONIC);
}

static void made_by_partner(void)
{
    with_partner(0, CLOCK_REALTIME);
    with_partner(0, CLOCK_MONOTONIC);
}

CHECK_MAIN(CASE(made_here), CASE(made_by_partner), CASE(as_partner))
