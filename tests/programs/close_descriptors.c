/* SPDX-License-Identifier: MIT */
/* Closes every descriptor at start, as daemons do, and reuses the numbers for its
 * files. */
#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"

enum { THREADS = 4, FILES = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter;
static int turn;
static int rounds;

static void *body(void *argument)
{
    long me = (long)argument;
    for (int i = 0; i < rounds; i++) {
        struct timespec soon = check_after_us(CLOCK_REALTIME, 50);
        CHECK_OK(pthread_mutex_lock(&mutex));
        counter++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
        if (pthread_mutex_timedlock(&mutex, &soon) == 0)
            CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    CHECK_OK(pthread_mutex_lock(&mutex));
    while (turn != me)
        CHECK_OK(pthread_cond_wait(&cond, &mutex));
    turn++;
    CHECK_OK(pthread_cond_broadcast(&cond));
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void contend(void)
{
    pthread_t threads[THREADS];
    rounds = check_rounds(1000);
    counter = turn = 0;
    for (long i = 0; i < THREADS; i++)
        threads[i] = check_start(body, (void *)i);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    if (counter != (long)THREADS * rounds || turn != THREADS)
        _exit(9);
}

/* Opens files with the numbers 0, 1 and 2, so that anything a library writes there is
 * detected. */
static void files_in_their_place(void)
{
    char names[FILES][64];
    struct stat status;
    int report = dup(STDERR_FILENO);
    CHECK_COMPARE(report, >, 2);
    CHECK_EQUAL(fcntl(report, F_DUPFD, 500), 500);
    for (int i = 0; i < FILES; i++)
        snprintf(names[i], sizeof names[i], "/tmp/check-closed.%d.%d", getpid(), i);
    for (int descriptor = 0; descriptor < 500; descriptor++)
        close(descriptor);
    for (int i = 0; i < FILES; i++)
        if (open(names[i], O_RDWR | O_CREAT | O_TRUNC, 0600) != i)
            _exit(8);
    contend();
    pid_t child = fork();
    if (child == 0) {
        contend();
        _exit(0);
    }
    int child_status;
    if (waitpid(child, &child_status, 0) != child || child_status != 0)
        _exit(7);
    long long sizes[FILES];
    for (int i = 0; i < FILES; i++) {
        sizes[i] = fstat(i, &status) == 0 ? status.st_size : -1;
        unlink(names[i]);
    }
    dup2(500, STDERR_FILENO);
    for (int i = 0; i < FILES; i++)
        CHECK_EQUAL(sizes[i], 0);
    /* Checks that only the three files and the saved descriptor are open. */
    for (int descriptor = FILES; descriptor < 500; descriptor++)
        CHECK_EQUAL(fcntl(descriptor, F_GETFD), -1);
}

static void nothing_open(void)
{
    for (int descriptor = 0; descriptor < 1024; descriptor++)
        close(descriptor);
    contend();
}

CHECK_MAIN(CASE(files_in_their_place), CASE(nothing_open))
