/* SPDX-License-Identifier: MIT */
/*
 * Checks usage fairness: if two threads always want the lock, and one holds it ten
 * times as long as the other, each gets it for about half of the time.
 *
 *   usage NAME          checks that the named lock is fair
 *   usage unfair NAME   checks that it is not: a lock that serves threads in order of
 *                       arrival gives one thread ten times more
 */
#include "check.h"

#include "locks/list/descriptor.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_NS = 500000, SHORT_NS = 50000, ATTEMPTS = 5, RUN_MS = 400, FAIR = 3 };

struct subject {
    struct lock lock;
    const struct lock_operations *operations;
    struct atomic_u32 stop;
};

struct user {
    struct subject *subject;
    uint64_t section_ns, held_ns;
};

/* Measures CPU time, so that time taken by other programs does not count as hold
 * time. */
static uint64_t used_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static void *use(void *argument)
{
    struct user *user = argument;
    while (!load_relaxed(&user->subject->stop)) {
        user->subject->operations->lock(&user->subject->lock);
        uint64_t start = used_ns(), held;
        do
            held = used_ns() - start;
        while (held < user->section_ns);
        user->held_ns += held;
        user->subject->operations->unlock(&user->subject->lock);
    }
    return NULL;
}

/* Each thread has its own CPU, because on a shared one the scheduler would make them
 * equal. */
static void bind_to_cpu(pthread_t thread, int number)
{
    cpu_set_t allowed, one;
    CHECK_EQUAL(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && number-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            CHECK_EQUAL(pthread_setaffinity_np(thread, sizeof one, &one), 0);
            return;
        }
    }
    exit(77); /* one CPU: nothing can be observed */
}

/* Returns the hold time of the greedy thread as a multiple of the other thread's. */
static double imbalance(const struct lock_operations *operations)
{
    static struct subject subject;
    memset(&subject, 0, sizeof subject);
    subject.operations = operations;
    struct user users[2] = {{&subject, LONG_NS, 0}, {&subject, SHORT_NS, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, use, &users[i]), 0);
        bind_to_cpu(threads[i], i);
    }
    struct timespec run = {0, RUN_MS * 1000000L};
    nanosleep(&run, NULL);
    store_relaxed(&subject.stop, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    operations->destroy(&subject.lock);
    return (double)users[0].held_ns / (double)(users[1].held_ns + 1);
}

int main(int argc, char **argv)
{
    bool fair = argc < 3 || strcmp(argv[1], "unfair") != 0;
    int index = argc > 1 ? lock_find(argv[argc - 1]) : -1;
    CHECK(index > 0);
    double seen = 0;
    /* Other programs take CPU time from holders, so the best of a few attempts
     * counts. */
    for (int i = 0; i < ATTEMPTS; i++) {
        seen = imbalance(&lock_list[index].operations);
        printf("%s: %.2f\n", lock_list[index].name, seen);
        if ((seen < FAIR) == fair)
            return 0;
    }
    fprintf(stderr, "%s: the greedy thread holds it %.1f times as long\n",
            lock_list[index].name, seen);
    return 1;
}
