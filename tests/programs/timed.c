/* SPDX-License-Identifier: MIT */
/* timedlock and clocklock: deadlines, clocks, bad arguments, and locks acquired in
 * time. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* One interface for both calls: a clock of -1 means pthread_mutex_timedlock. */
static int timed(int clock, const struct timespec *deadline)
{
    if (clock == -1)
        return pthread_mutex_timedlock(&mutex, deadline);
    return pthread_mutex_clocklock(&mutex, clock, deadline);
}

static int reads(int clock)
{
    return clock == -1 ? CLOCK_REALTIME : clock;
}

struct attempt {
    int clock;
    struct timespec deadline;
    int result;
    long long left_ns;
};

static void *attempt_body(void *argument)
{
    struct attempt *attempt = argument;
    attempt->result = timed(attempt->clock, &attempt->deadline);
    attempt->left_ns = attempt->deadline.tv_sec * 1000000000LL +
                       attempt->deadline.tv_nsec - check_now_ns(reads(attempt->clock));
    if (attempt->result == 0)
        CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static struct attempt try_elsewhere(int clock, struct timespec deadline)
{
    struct attempt attempt = {.clock = clock, .deadline = deadline};
    check_join(check_start(attempt_body, &attempt));
    return attempt;
}

static void check_held(int clock)
{
    struct timespec never = {-1, 0};
    struct timespec epoch = {0, 0};
    CHECK_OK(pthread_mutex_lock(&mutex));
    struct attempt attempt = try_elsewhere(clock, check_after_ms(reads(clock), 30));
    CHECK_RETURNS(attempt.result, ETIMEDOUT);
    CHECK_COMPARE(attempt.left_ns, <=, 0);
    CHECK_RETURNS(try_elsewhere(clock, check_after_ms(reads(clock), -50)).result,
                  ETIMEDOUT);
    CHECK_RETURNS(try_elsewhere(clock, epoch).result, ETIMEDOUT);
    CHECK_RETURNS(try_elsewhere(clock, never).result, ETIMEDOUT);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_mutex_trylock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

static void check_free(int clock)
{
    struct timespec past[] = {{-1, 0}, {0, 0}, check_after_ms(reads(clock), -50)};
    for (int i = 0; i < 3; i++) {
        CHECK_OK(timed(clock, &past[i]));
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
}

/* The deadline is checked only if the call would wait; then it must be valid. */
static void check_bad_nanoseconds(int clock)
{
    long bad[] = {-1, 1000000000, 2000000000};
    for (int i = 0; i < 3; i++) {
        struct timespec deadline = check_after_ms(reads(clock), 10000);
        deadline.tv_nsec = bad[i];
        CHECK_OK(timed(clock, &deadline));
        CHECK_RETURNS(try_elsewhere(clock, deadline).result, EINVAL);
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
}

static void check_arrives(int clock)
{
    struct attempt attempt = {.clock = clock,
                              .deadline = check_after_ms(reads(clock), 15000)};
    CHECK_OK(pthread_mutex_lock(&mutex));
    pthread_t thread = check_start(attempt_body, &attempt);
    check_sleep_ms(10);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);
    CHECK_OK(attempt.result);
    CHECK_OK(pthread_mutex_trylock(&mutex));
    CHECK_OK(pthread_mutex_unlock(&mutex));
}

#define CASES_OF(name, clock)                \
    static void name##_held(void)            \
    {                                        \
        check_held(clock);                   \
    }                                        \
    static void name##_free(void)            \
    {                                        \
        check_free(clock);                   \
    }                                        \
    static void name##_bad_nanoseconds(void) \
    {                                        \
        check_bad_nanoseconds(clock);        \
    }                                        \
    static void name##_arrives(void)         \
    {                                        \
        check_arrives(clock);                \
    }

CASES_OF(timedlock, -1)
CASES_OF(realtime, CLOCK_REALTIME)
CASES_OF(monotonic, CLOCK_MONOTONIC)

static void bad_clocks(void)
{
    int clocks[] = {CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_BOOTTIME,
                    CLOCK_MONOTONIC_RAW,      CLOCK_REALTIME_COARSE,   12345};
    struct timespec deadline = check_after_ms(CLOCK_REALTIME, 10);
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        CHECK_RETURNS(pthread_mutex_clocklock(&mutex, clocks[i], &deadline), EINVAL);
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_RETURNS(pthread_mutex_clocklock(&mutex, clocks[i], &deadline), EINVAL);
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
}

static void *unlock_body(void *held)
{
    CHECK_OK(pthread_mutex_unlock(held));
    return NULL;
}

static void unlock_in_time_by_another(void)
{
    pthread_mutex_t *held = &mutex;
    struct timespec deadline = check_after_ms(CLOCK_MONOTONIC, 15000);
    CHECK_OK(pthread_mutex_lock(held));
    pthread_t thread = check_start(unlock_body, held);
    CHECK_OK(pthread_mutex_clocklock(held, CLOCK_MONOTONIC, &deadline));
    check_join(thread);
    CHECK_RETURNS(check_try_elsewhere(held), EBUSY);
    CHECK_OK(pthread_mutex_unlock(held));
}

CHECK_MAIN(CASE(timedlock_held), CASE(timedlock_free), CASE(timedlock_bad_nanoseconds),
           CASE(timedlock_arrives), CASE(realtime_held), CASE(realtime_free),
           CASE(realtime_bad_nanoseconds), CASE(realtime_arrives), CASE(monotonic_held),
           CASE(monotonic_free), CASE(monotonic_bad_nanoseconds),
           CASE(monotonic_arrives), CASE(bad_clocks), CASE(unlock_in_time_by_another))
