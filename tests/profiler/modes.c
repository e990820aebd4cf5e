/* SPDX-License-Identifier: MIT */
/* Programs whose threads spend their CPU time in user mode or in the kernel. */
#include "recorded.h"

#include <fcntl.h>
#include <stdatomic.h>

static atomic_int done;

/* The CPU time of the calling thread in ms. */
static long used_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void compute(void)
{
    static volatile long sum;
    for (long i = 0; i < 100000; i++)
        sum = sum + i;
}

static void read_zeros(void)
{
    static char zeros[1 << 20];
    static int file = -1;
    if (file < 0)
        file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    CHECK_EQUAL(read(file, zeros, sizeof zeros), sizeof zeros);
}

/* Works for `size` ms of CPU time, and takes a lock so that it is recorded. */
static void work(void (*step)(void), const char *name)
{
    pthread_setname_np(pthread_self(), name);
    do {
        lock_times(1);
        step();
    } while (used_ms() < size);
}

static void *computes(void *argument)
{
    work(compute, "computes");
    return argument;
}

static void *calls(void *argument)
{
    work(read_zeros, "calls");
    return argument;
}

static void ended(void)
{
    run_one(computes);
    run_one(calls);
}

/* As `argument` says, and then lives on. */
static void *stay(void *argument)
{
    void *(*const function)(void *) = argument;
    function(NULL);
    atomic_fetch_add(&done, 1);
    for (;;)
        pause();
    return NULL;
}

static void living(void)
{
    pthread_t thread;
    start(&thread, stay, (void *)computes);
    start(&thread, stay, (void *)calls);
    while (atomic_load(&done) < 2)
        usleep(1000);
}

/* More threads, one after the other, than the trace has records. */
static void churn(void)
{
    for (int i = 0; i < 300; i++)
        run_one(computes);
}

RECORDED_MAIN(CASE(ended), CASE(living), CASE(churn))
