/* SPDX-License-Identifier: MIT */
/* A program that ends or locks in unusual ways, for the recorder's tests. */
#include "recorded.h"

#include <fcntl.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* Lowers RLIMIT_FSIZE, then produces more data than fits. A write beyond the limit
 * would kill the process. */
static void *lock_many(void *argument)
{
    const struct rlimit limit = {(rlim_t)size, (rlim_t)size};
    enum { MANY = 20000 };
    pthread_mutex_t *many = calloc(MANY, sizeof *many);
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 0; i < MANY; i++) {
        pthread_mutex_lock(&many[i]);
        pthread_mutex_unlock(&many[i]);
    }
    return argument;
}

static void limited_later(void)
{
    run_one(lock_many);
}

/* Checks that lock functions do not change errno, whatever errors the recorder
 * encounters. */
static void *keep_errno(void *argument)
{
    pthread_mutex_t *own = calloc((size_t)size, sizeof *own);
    for (long i = 0; i < size; i++) {
        if (i == size / 2)
            for (int fd = 3; fd < 256; fd++)
                close(fd); /* including that of the trace */
        errno = 4711;
        pthread_mutex_init(&own[i], NULL);
        pthread_mutex_lock(&outer);
        pthread_mutex_lock(&own[i]);
        pthread_mutex_unlock(&own[i]);
        pthread_mutex_unlock(&outer);
        CHECK_EQUAL(errno, 4711);
    }
    return argument;
}

static void errors(void)
{
    const struct rlimit few = {256, 256}; /* no high descriptor numbers */
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
    keep_errno(NULL); /* the recording begins half-way through */
    run_one(keep_errno);
}

/* Ways to end a process without running destructors, or inside a call of the C
 * library. */
static void exits_quickly(void)
{
    run_one(lock_often);
    quick_exit(0);
}

static void exits_by_c11(void)
{
    run_one(lock_often);
    _Exit(0);
}

static void becomes_daemon(void)
{
    run_one(lock_often);
    CHECK_EQUAL(daemon(1, 1), 0);
    run_one(lock_often);
    lock_often(NULL);
    exit(0);
}

static void replaced_by(int (*replace)(void))
{
    run_one(lock_often);
    CHECK_EQUAL(execl("/nonexistent", "nowhere", NULL), -1);
    run_one(lock_often);
    replace();
    CHECK(!"replaced");
}

static int by_list(void)
{
    return execl("/bin/sh", "sh", "-c", "test $1 = two", "one", "two", NULL);
}

static int by_list_and_path(void)
{
    return execlp("sh", "sh", "-c", "test $1 = two", "one", "two", NULL);
}

static int by_list_and_environment(void)
{
    char *const environment[] = {"word=two", NULL};
    return execle("/bin/sh", "sh", "-c", "test $word = two", NULL, environment);
}

static void replaced_by_list(void)
{
    replaced_by(by_list);
}

static void replaced_by_list_and_path(void)
{
    replaced_by(by_list_and_path);
}

static void replaced_by_list_and_environment(void)
{
    replaced_by(by_list_and_environment);
}

/* Two functions create locks at the same address in turn. */
static pthread_mutex_t here;

static void use_here(long times)
{
    for (long i = 0; i < times; i++) {
        pthread_mutex_lock(&here);
        pthread_mutex_unlock(&here);
    }
    pthread_mutex_destroy(&here);
}

static __attribute__((noinline)) void make_one(void)
{
    pthread_mutex_init(&here, NULL);
    use_here(10);
}

static __attribute__((noinline)) void make_other(void)
{
    pthread_mutex_init(&here, NULL);
    use_here(30);
}

static void *make_in_turn(void *argument)
{
    for (long i = 0; i < size; i++) {
        make_one();
        make_other();
    }
    return argument;
}

static void reborn(void)
{
    run_one(make_in_turn);
}

/* Does the same, but another thread uses the locks. */
static sem_t made, used;
static long wanted;

static void *use_what_is_made(void *argument)
{
    for (;;) {
        CHECK_EQUAL(sem_wait(&made), 0);
        if (!wanted)
            return argument;
        for (long i = 0; i < wanted; i++) {
            pthread_mutex_lock(&here);
            pthread_mutex_unlock(&here);
        }
        CHECK_EQUAL(sem_post(&used), 0);
    }
}

static void hand_out(long times)
{
    wanted = times;
    CHECK_EQUAL(sem_post(&made), 0);
    if (times)
        CHECK_EQUAL(sem_wait(&used), 0);
    pthread_mutex_destroy(&here);
}

static __attribute__((noinline)) void make_one_for_other(void)
{
    pthread_mutex_init(&here, NULL);
    hand_out(10);
}

static __attribute__((noinline)) void make_other_for_other(void)
{
    pthread_mutex_init(&here, NULL);
    hand_out(30);
}

static void reborn_elsewhere(void)
{
    pthread_t user;
    CHECK_EQUAL(sem_init(&made, 0, 0), 0);
    CHECK_EQUAL(sem_init(&used, 0, 0), 0);
    start(&user, use_what_is_made, NULL);
    for (long i = 0; i < size; i++) {
        make_one_for_other();
        make_other_for_other();
    }
    hand_out(0);
    pthread_join(user, NULL);
}

/* Starts another program without fork(); the program must not inherit the recording. */
static void spawns(void)
{
    char *const arguments[] = {"true", NULL};
    pid_t child;
    int status;
    run_one(lock_often);
    CHECK_EQUAL(posix_spawnp(&child, "true", NULL, NULL, arguments, environ), 0);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    run_one(lock_often);
}

/* Touches three new pages inside each critical section, and one outside. */
static void *touch_pages(void *argument)
{
    const long page = sysconf(_SC_PAGESIZE);
    for (long i = 0; i < size; i++) {
        char *new = mmap(NULL, (size_t)(4 * page), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(new != MAP_FAILED);
        pthread_mutex_lock(&outer);
        for (int k = 0; k < 3; k++)
            new[k * page] = 1;
        pthread_mutex_unlock(&outer);
        new[3 * page] = 1;
        munmap(new, (size_t)(4 * page));
    }
    return argument;
}

static void faults(void)
{
    run_one(touch_pages);
}

/* Closes all descriptors and reuses their numbers for the program's own files, which
 * the recorder must not read. */
static void *close_and_open(void *argument)
{
    uint64_t count = 5;
    lock_often(NULL);
    for (int fd = 3; fd < 4096; fd++)
        close(fd);
    int event = eventfd(5, EFD_NONBLOCK), taken[64];
    for (int i = 0; i < 64; i++)
        CHECK((taken[i] = fcntl(event, F_DUPFD, 1000)) >= 1000);
    lock_often(NULL);
    CHECK_EQUAL(read(taken[63], &count, sizeof count), sizeof count);
    CHECK_EQUAL(count, 5);
    return argument;
}

static void closes_counters(void)
{
    run_one(close_and_open);
}

static pthread_barrier_t everybody;

static void *lock_and_stay(void *argument)
{
    lock_often(NULL);
    pthread_barrier_wait(&everybody); /* all threads exist */
    pthread_barrier_wait(&everybody); /* the files are open */
    return argument;
}

/* Opens files while more threads exist than a program may have descriptors. */
static void crowded_counters(void)
{
    enum { THREADS = 240, FILES = 180 };
    const struct rlimit few = {256, 256}; /* no high descriptor numbers */
    static pthread_t threads[THREADS];
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
    pthread_barrier_init(&everybody, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], lock_and_stay, NULL);
    pthread_barrier_wait(&everybody);
    for (int i = 0; i < FILES; i++)
        CHECK(open("/dev/null", O_RDONLY) >= 0);
    pthread_barrier_wait(&everybody);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
}

/* The library in delayed.c, which the recorder calls, delays this thread before it
 * acquires a free lock. */
static void *lock_late(void *argument)
{
    lock_times(20000);
    prctl(PR_SET_NAME, "delayed");
    pthread_mutex_lock(&outer);
    prctl(PR_SET_NAME, "late");
    pthread_mutex_unlock(&outer);
    return argument;
}

static void delays(void)
{
    pthread_t late;
    start(&late, lock_late, NULL);
    usleep(200000);
    pthread_mutex_lock(&outer); /* while the other thread is delayed */
    usleep((useconds_t)size * 1000);
    pthread_mutex_unlock(&outer);
    pthread_join(late, NULL);
}

/* Delays each of the thread's first acquisitions, all of which are timed. */
static void *lock_late_often(void *argument)
{
    prctl(PR_SET_NAME, "delayed");
    return lock_often(argument);
}

static void delayed_often(void)
{
    run_one(lock_late_often);
}

/* Is renamed after its first lock, and lives until the process exits. */
static void *rename_late(void *argument)
{
    lock_often(argument);
    prctl(PR_SET_NAME, "renamed");
    *(bool *)argument = true;
    while (pause() == -1)
        ;
    return argument;
}

static void renamed(void)
{
    static volatile bool done;
    pthread_t thread;
    start(&thread, rename_late, (void *)&done);
    while (!done)
        usleep(1000);
    exit(0);
}

/* Holds the lock once for long; such a hold is usually only counted, not timed. */
static void *hold_long(void *argument)
{
    lock_times(20000);
    pthread_mutex_lock(&outer);
    usleep((useconds_t)size * 1000);
    pthread_mutex_unlock(&outer);
    return argument;
}

static void holds_long(void)
{
    run_one(hold_long);
}

RECORDED_MAIN(CASE(limited_later), CASE(errors), CASE(exits_quickly),
              CASE(exits_by_c11), CASE(becomes_daemon), CASE(replaced_by_list),
              CASE(replaced_by_list_and_path), CASE(replaced_by_list_and_environment),
              CASE(reborn), CASE(reborn_elsewhere), CASE(spawns), CASE(faults),
              CASE(closes_counters), CASE(crowded_counters), CASE(delays),
              CASE(delayed_often), CASE(holds_long), CASE(renamed))
