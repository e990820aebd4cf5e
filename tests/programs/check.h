/* SPDX-License-Identifier: MIT */
/*
 * Shared by the test programs.  With --list a program lists its cases; with the name of
 * a case it runs that case. Each case runs in a process of its own.  Exit status 0:
 * passed; 77: skipped (reason on stderr); anything else: failed.  The caller sets the
 * time limit.
 *
 * The checks are not assert(): NDEBUG does not remove them, they print both values, and
 * they end the whole process from any thread, and from a forked child without using
 * stdio (whose locks a thread that does not exist in the child may have held).
 *
 * The header is written in the common subset of C and C++, so it uses the compiler's
 * builtins for atomics.
 */
#ifndef CHECK_H
#define CHECK_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK_UNUSED __attribute__((unused))
#define CHECK_SKIPPED 77

struct check_case {
    const char *name;
    void (*run)(void);
};

__attribute__((format(printf, 2, 3), noreturn)) CHECK_UNUSED static void
check_end(int status, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof text - 1)
        length = (int)sizeof text - 1;
    ssize_t written = write(STDERR_FILENO, text, (size_t)length);
    (void)written;
    _exit(status);
}

#define CHECK(expression)                                                           \
    do {                                                                            \
        if (!(expression))                                                          \
            check_end(1, "%s:%d: not true: %s\n", __FILE__, __LINE__, #expression); \
    } while (0)

#define CHECK_COMPARE(left, relation, right)                                       \
    do {                                                                           \
        long long left_value = (long long)(left);                                  \
        long long right_value = (long long)(right);                                \
        if (!(left_value relation right_value))                                    \
            check_end(1, "%s:%d: %s is %lld, wanted " #relation " %lld (%s)\n",    \
                      __FILE__, __LINE__, #left, left_value, right_value, #right); \
    } while (0)

#define CHECK_EQUAL(actual, wanted) CHECK_COMPARE(actual, ==, wanted)

/* For calls that return 0 or an error number. */
#define CHECK_RETURNS(call, wanted)                                                    \
    do {                                                                               \
        int returned = (call);                                                         \
        if (returned != (wanted))                                                      \
            check_end(1, "%s:%d: %s returned %d (%s), wanted %d (%s)\n", __FILE__,     \
                      __LINE__, #call, returned, check_error_name(returned), (wanted), \
                      #wanted);                                                        \
    } while (0)

#define CHECK_OK(call) CHECK_RETURNS(call, 0)

/* Waits until another thread makes the condition true; the runner's time limit
 * applies. */
#define CHECK_UNTIL(condition)   \
    do {                         \
        while (!(condition))     \
            check_sleep_us(200); \
    } while (0)

#define check_get(address) __atomic_load_n((address), __ATOMIC_ACQUIRE)
#define check_set(address, value) __atomic_store_n((address), (value), __ATOMIC_RELEASE)
#define check_add(address, value) \
    __atomic_add_fetch((address), (value), __ATOMIC_ACQ_REL)

CHECK_UNUSED static const char *check_error_name(int error)
{
    const char *name = error ? strerrorname_np(error) : "0";
    return name ? name : "no error number";
}

CHECK_UNUSED __attribute__((noreturn)) static void check_skip(const char *reason)
{
    check_end(CHECK_SKIPPED, "%s\n", reason);
}

CHECK_UNUSED static int check_interposed(void)
{
    const char *lock = getenv("HASP_LOCK");
    return dlsym(RTLD_DEFAULT, "hasp_version") != NULL &&
           (lock == NULL || strcmp(lock, "glibc") != 0);
}

/* Skips a case that only Hasp guarantees, unless it runs under Hasp. */
CHECK_UNUSED static void check_beyond_glibc(const char *why)
{
    if (!check_interposed())
        check_skip(why);
}

CHECK_UNUSED static void check_sleep_us(long us)
{
    struct timespec left = {us / 1000000, us % 1000000 * 1000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

CHECK_UNUSED static void check_sleep_ms(long ms)
{
    check_sleep_us(ms * 1000);
}

/* A delay loop that the compiler cannot remove. */
CHECK_UNUSED static void check_spin(int times)
{
    for (int i = 0; i < times; i++)
        __asm__ volatile("" : : : "memory");
}

/*
 * A delay in a critical section, between reading and writing the data that it protects:
 * long enough to detect a second thread inside. Yields the CPU now and then.
 */
CHECK_UNUSED static void check_dawdle(long turn)
{
    if (turn % 16 == 0)
        sched_yield();
    else if (turn % 101 == 0)
        check_sleep_us(1);
    else
        check_spin(20);
}

CHECK_UNUSED static long long check_now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

CHECK_UNUSED static struct timespec check_after_us(clockid_t clock, long us)
{
    long long at = check_now_ns(clock) + us * 1000LL;
    struct timespec deadline = {(time_t)(at / 1000000000), (long)(at % 1000000000)};
    return deadline;
}

CHECK_UNUSED static struct timespec check_after_ms(clockid_t clock, long ms)
{
    return check_after_us(clock, ms * 1000);
}

/* Returns the number of rounds for a contended loop. It is smaller under a lock that
 * only spins, because on a busy machine with few CPUs such a lock may be handed over
 * only when the scheduler switches threads. */
CHECK_UNUSED static int check_rounds(int rounds)
{
    const char *divisor = getenv("CHECK_ROUNDS_DIVISOR");
    int divided = divisor ? rounds / atoi(divisor) : rounds;
    return divided > 0 ? divided : 1;
}

CHECK_UNUSED static int check_lock_spins(void)
{
    return getenv("CHECK_ROUNDS_DIVISOR") != NULL;
}

/* Returns the memory of the process that is resident, in KiB. */
CHECK_UNUSED static long check_resident_kb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    CHECK(file != NULL);
    CHECK_EQUAL(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

CHECK_UNUSED static pthread_t check_start(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    CHECK_OK(pthread_create(&thread, NULL, body, argument));
    return thread;
}

CHECK_UNUSED static void *check_join(pthread_t thread)
{
    void *result;
    CHECK_OK(pthread_join(thread, &result));
    return result;
}

/* Returns once all `threads` are here, so that short loops do not run one after the
 * other. `here` begins at 0. */
CHECK_UNUSED static void check_meet(int *here, int threads)
{
    check_add(here, 1);
    while (check_get(here) < threads)
        sched_yield();
}

/* Waits for a forked child, and fails with its status unless that is 0. */
CHECK_UNUSED static void check_child(pid_t child)
{
    int status;
    CHECK_COMPARE(child, >, 0);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        check_end(1, "child died of signal %d\n", WTERMSIG(status));
    if (WEXITSTATUS(status) == CHECK_SKIPPED)
        _exit(CHECK_SKIPPED);
    CHECK_EQUAL(WEXITSTATUS(status), 0);
}

/* A thread calls this before it waits, for check_wait_queued. */
CHECK_UNUSED static void check_publish(pid_t *slot)
{
    check_set(slot, gettid());
}

/*
 * Returns once the thread that publishes itself in `slot` is inside the wait that
 * follows: it sleeps, or (under spinning locks) it has used 2 ms of CPU time since it
 * was first seen, or it has ended.
 */
CHECK_UNUSED static void check_wait_queued(pid_t *slot)
{
    CHECK_UNTIL(check_get(slot) != 0);
    long long first_ns = -1;
    for (;;) {
        char path[64];
        long long run_ns = 0;
        char state = '?';
        snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", check_get(slot));
        FILE *file = fopen(path, "re");
        if (file == NULL)
            return;
        if (fscanf(file, "%lld", &run_ns) != 1)
            run_ns = 0;
        fclose(file);
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", check_get(slot));
        file = fopen(path, "re");
        if (file == NULL)
            return;
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = '?';
        fclose(file);
        if (first_ns < 0)
            first_ns = run_ns;
        if (state == 'S' || run_ns - first_ns > 2000000)
            return;
        check_sleep_us(300);
    }
}

/* Tries the mutex in another thread. Returns 0 if that thread could lock it (it then
 * unlocks it again), or EBUSY. */
CHECK_UNUSED static void *check_try_body(void *mutex)
{
    int result = pthread_mutex_trylock((pthread_mutex_t *)mutex);
    if (result == 0)
        CHECK_OK(pthread_mutex_unlock((pthread_mutex_t *)mutex));
    return (void *)(long)result;
}

CHECK_UNUSED static int check_try_elsewhere(pthread_mutex_t *mutex)
{
    return (int)(long)check_join(check_start(check_try_body, mutex));
}

CHECK_UNUSED static int check_main(int count, char **words,
                                   const struct check_case *cases,
                                   size_t number_of_cases)
{
    if (count != 2)
        check_end(2, "usage: %s --list | CASE\n", words[0]);
    int listing = strcmp(words[1], "--list") == 0;
    for (size_t i = 0; i < number_of_cases; i++) {
        if (listing)
            puts(cases[i].name);
        else if (strcmp(words[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    }
    if (!listing)
        check_end(2, "%s: unknown case %s; try --list\n", words[0], words[1]);
    return 0;
}

#define CASE(function)      \
    {                       \
#function, function \
    }
#define CHECK_MAIN(...)                                                         \
    int main(int count, char **words)                                           \
    {                                                                           \
        static const struct check_case cases[] = {__VA_ARGS__};                 \
        return check_main(count, words, cases, sizeof cases / sizeof cases[0]); \
    }

#endif
