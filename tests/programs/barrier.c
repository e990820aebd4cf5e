/* SPDX-License-Identifier: MIT */
/* Barriers: nobody leaves early, one serial thread, reuse, changing threads, more
 * threads than CPUs, destruction, fork, signals, errors. */
#include <signal.h>
#include <sys/mman.h>

#include "check.h"

enum { MOST = 64 };

struct group {
    pthread_barrier_t barrier;
    int count, phases;
    long arrived; /* in all phases */
    long serial;
    long plain[MOST]; /* each written by one thread, read by all after the phase */
    int taken;        /* phases that a thread has started, for changing threads */
};

static void wait_at(struct group *group)
{
    int result = pthread_barrier_wait(&group->barrier);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD)
        check_add(&group->serial, 1);
    else
        CHECK_EQUAL(result, 0);
}

/* Whether barriers are Hasp's. */
static int replaced(void)
{
    const char *name = getenv("HASP_BARRIER");
    return name != NULL && strcmp(name, "glibc") != 0;
}

static int next_number;

static void *phases_body(void *argument)
{
    struct group *group = argument;
    int me = check_add(&next_number, 1) - 1;
    for (int phase = 1; phase <= group->phases; phase++) {
        check_dawdle(phase + me);
        *(volatile long *)&group->plain[me] = phase;
        check_add(&group->arrived, 1);
        wait_at(group);
        CHECK_COMPARE(check_get(&group->arrived), >=, (long)phase * group->count);
        for (int i = 0; i < group->count; i++)
            CHECK_COMPARE(*(volatile long *)&group->plain[i], >=, phase);
        if (phase % 7 == me % 7)
            sched_yield();
        wait_at(group);
    }
    return NULL;
}

static void run_phases(struct group *group, int count, int phases)
{
    pthread_t ids[MOST];
    memset(group, 0, sizeof *group);
    CHECK_OK(pthread_barrier_init(&group->barrier, NULL, (unsigned)count));
    group->count = count;
    group->phases = check_rounds(phases);
    next_number = 0;
    for (int i = 0; i < count; i++)
        ids[i] = check_start(phases_body, group);
    for (int i = 0; i < count; i++)
        check_join(ids[i]);
    CHECK_EQUAL(group->arrived, (long)count * group->phases);
    CHECK_EQUAL(group->serial, 2L * group->phases);
    CHECK_OK(pthread_barrier_destroy(&group->barrier));
}

static struct group group;

static void one_thread(void)
{
    run_phases(&group, 1, 1000);
}

static void two_threads(void)
{
    run_phases(&group, 2, 5000);
}

static void three_threads(void)
{
    run_phases(&group, 3, 2000);
}

static void every_count_to_twenty(void)
{
    for (int count = 1; count <= 20; count++)
        run_phases(&group, count, 60);
}

static void sixty_four_threads(void)
{
    run_phases(&group, MOST, 60);
}

/* More threads than the barrier counts; each phase gets any of them. */
static void *turns_body(void *argument)
{
    struct group *object = argument;
    while (check_add(&object->taken, 1) <= object->count * object->phases) {
        check_dawdle(object->taken);
        check_add(&object->arrived, 1);
        wait_at(object);
    }
    return NULL;
}

static void run_turns(int count, int threads)
{
    pthread_t ids[MOST];
    memset(&group, 0, sizeof group);
    CHECK_OK(pthread_barrier_init(&group.barrier, NULL, (unsigned)count));
    group.count = count;
    group.phases = check_rounds(2000);
    for (int i = 0; i < threads; i++)
        ids[i] = check_start(turns_body, &group);
    for (int i = 0; i < threads; i++)
        check_join(ids[i]);
    CHECK_EQUAL(group.arrived, (long)count * group.phases);
    CHECK_EQUAL(group.serial, group.phases);
    CHECK_OK(pthread_barrier_destroy(&group.barrier));
}

static void threads_take_turns(void)
{
    run_turns(2, 3);
    run_turns(2, 6);
    run_turns(3, 4);
    run_turns(5, 12);
}

/* The first thread that leaves destroys and unmaps the barrier. */
struct passing {
    pthread_barrier_t *barrier;
    int left, destroys;
};

static void *passing_body(void *argument)
{
    struct passing *passing = argument;
    pthread_barrier_t *barrier = passing->barrier;
    pthread_barrier_wait(barrier);
    if (check_add(&passing->left, 1) == 1) {
        if (passing->destroys)
            CHECK_OK(pthread_barrier_destroy(barrier));
        CHECK_EQUAL(munmap(barrier, 4096), 0);
    }
    return NULL;
}

static void unmap_after_wait(int count, int rounds, int destroys)
{
    pthread_t ids[MOST];
    for (int i = 0; i < check_rounds(rounds); i++) {
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(page != MAP_FAILED);
        struct passing passing = {page, 0, destroys};
        CHECK_OK(pthread_barrier_init(passing.barrier, NULL, (unsigned)count));
        for (int thread = 0; thread < count; thread++)
            ids[thread] = check_start(passing_body, &passing);
        for (int thread = 0; thread < count; thread++)
            check_join(ids[thread]);
    }
}

static void first_to_leave_destroys(void)
{
    unmap_after_wait(2, 1000, 1);
    unmap_after_wait(5, 300, 1);
}

static void first_to_leave_unmaps(void)
{
    if (!replaced())
        check_skip("glibc's barrier must be destroyed before it is unmapped");
    unmap_after_wait(2, 1000, 0);
    unmap_after_wait(5, 300, 0);
}

/* New barriers in the same memory, with other counts. */
static void initialised_again(void)
{
    for (int i = 0; i < 30; i++)
        run_phases(&group, 1 + i * 5 % 9, 30);
}

static pthread_barrier_t many[500];

static void many_barriers(void)
{
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 500; i++)
            CHECK_OK(pthread_barrier_init(&many[i], NULL, 1 + (unsigned)i % 3));
        for (int i = 0; i < 500; i++) {
            if (i % 3 == 0)
                CHECK_EQUAL(pthread_barrier_wait(&many[i]),
                            PTHREAD_BARRIER_SERIAL_THREAD);
            CHECK_OK(pthread_barrier_destroy(&many[i]));
        }
    }
}

static void destroyed_twice(void)
{
    for (int count = 1; count <= 40; count += 13) {
        run_phases(&group, count, 10);
        CHECK_OK(pthread_barrier_destroy(&group.barrier));
    }
}

static void errors(void)
{
    pthread_barrier_t barrier;
    CHECK_RETURNS(pthread_barrier_init(&barrier, NULL, 0), EINVAL);
    CHECK_RETURNS(pthread_barrier_init(&barrier, NULL, 0xffffffff), EINVAL);
    CHECK_OK(pthread_barrier_init(&barrier, NULL, 100000));
    CHECK_OK(pthread_barrier_destroy(&barrier));
}

static pid_t waiting;

static void *wait_body(void *unused)
{
    (void)unused;
    check_publish(&waiting);
    pthread_barrier_wait(&group.barrier);
    return NULL;
}

/* Waits at the barrier with others, which makes a phase. */
static void wait_with(int others)
{
    pthread_t ids[MOST];
    for (int i = 0; i < others; i++)
        ids[i] = check_start(wait_body, NULL);
    pthread_barrier_wait(&group.barrier);
    for (int i = 0; i < others; i++)
        check_join(ids[i]);
}

/* In the child, the thread that waited counts as arrived, as under glibc. */
static void use_in_child(int count)
{
    CHECK_COMPARE(count, >=, 2);
    wait_with(count - 2);
    for (int round = 0; round < 20; round++)
        wait_with(count - 1);
    if (replaced()) /* glibc's would wait for the thread that waited */
        CHECK_OK(pthread_barrier_destroy(&group.barrier));
    run_phases(&group, count, 20);
}

static void fork_with_count(int count, int used)
{
    CHECK_OK(pthread_barrier_init(&group.barrier, NULL, (unsigned)count));
    for (int round = 0; round < used; round++)
        wait_with(count - 1);
    waiting = 0;
    pthread_t thread = check_start(wait_body, NULL);
    check_wait_queued(&waiting);
    pid_t child = fork();
    if (child == 0) {
        use_in_child(count);
        _exit(0);
    }
    check_child(child);
    wait_with(count - 2);
    check_join(thread);
    CHECK_OK(pthread_barrier_destroy(&group.barrier));
}

static void fork_while_one_waits(void)
{
    fork_with_count(2, 0);
    fork_with_count(2, 3);
    fork_with_count(3, 1);
    fork_with_count(7, 2);
}

static int handled;

static void on_signal(int number)
{
    (void)number;
    check_add(&handled, 1);
}

static void signals_while_waiting(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(pthread_barrier_init(&group.barrier, NULL, 2));
        waiting = 0;
        pthread_t thread = check_start(wait_body, NULL);
        check_wait_queued(&waiting);
        handled = 0;
        CHECK_OK(pthread_kill(thread, SIGUSR1));
        CHECK_UNTIL(check_get(&handled) == 1);
        pthread_barrier_wait(&group.barrier);
        check_join(thread);
        CHECK_OK(pthread_barrier_destroy(&group.barrier));
    }
}

/* The children wait at the parent's barrier, which is in shared memory. */
static void between_processes(void)
{
    pthread_barrierattr_t attributes;
    struct group *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK((void *)shared != MAP_FAILED);
    CHECK_OK(pthread_barrierattr_init(&attributes));
    CHECK_OK(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    CHECK_OK(pthread_barrier_init(&shared->barrier, &attributes, 3));
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            for (int phase = 0; phase < 100; phase++)
                wait_at(shared);
            _exit(0);
        }
    }
    for (int phase = 0; phase < 100; phase++)
        wait_at(shared);
    for (int i = 0; i < 2; i++)
        check_child(children[i]);
    CHECK_EQUAL(shared->serial, 100);
    CHECK_OK(pthread_barrier_destroy(&shared->barrier));
}

CHECK_MAIN(CASE(one_thread), CASE(two_threads), CASE(three_threads),
           CASE(every_count_to_twenty), CASE(sixty_four_threads),
           CASE(threads_take_turns), CASE(first_to_leave_destroys),
           CASE(first_to_leave_unmaps), CASE(initialised_again), CASE(many_barriers),
           CASE(destroyed_twice), CASE(errors), CASE(fork_while_one_waits),
           CASE(signals_while_waiting), CASE(between_processes))
