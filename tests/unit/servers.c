/* SPDX-License-Identifier: MIT */
/* Servers: a section that blocks, faults, spins or is preempted does not stop other
 * objects; sections call objects of the same and of other servers, and wait for
 * conditions; ids of clients are recycled; idle servers sleep; servers end, and start
 * again in a child. */
#include "occupied_cpu.h"

#include "delegation/list/descriptor.h"
#include "delegation/server.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { CREW = 12, ROUNDS = 300, BATCHES = 30 };

static struct delegate *new_object(const char *name)
{
    const struct lock_operations *lock;
    uint32_t server;
    struct delegate *object = map_pages(sizeof *object);
    int index = executor_find_at(name, &lock, &server);
    CHECK(object && index > 0);
    CHECK(delegate_init_at(object, (unsigned)index, lock, server));
    return object;
}

static void *run(struct delegate *object, void *(*section)(void *), void *context)
{
    return executor_list[object->executor].operations.run(object, section, context);
}

static void destroy(struct delegate *object)
{
    executor_list[object->executor].operations.destroy(object);
}

static struct delegate *first, *second;
static struct atomic_u32 begun, go_on, ended;
static int pipe_ends[2];

static void *count_section(void *context)
{
    unsigned long *count = context;
    (*count)++;
    return context;
}

/* A section of `first`, started in a thread of its own. */
static void *(*first_section)(void *);

static void run_first(struct member *self)
{
    CHECK(run(first, first_section, self) == self);
    store_release(&ended, 1);
}

static void *blocking_section(void *context)
{
    char byte;
    store_release(&begun, 1);
    CHECK_EQUAL(read(pipe_ends[0], &byte, 1), 1);
    return context;
}

static void end_blocking(void)
{
    CHECK_EQUAL(write(pipe_ends[1], "", 1), 1);
}

static void *spinning_section(void *context)
{
    store_release(&begun, 1);
    while (!load_acquire(&go_on))
        ;
    return context;
}

static void end_spinning(void)
{
    store_release(&go_on, 1);
}

static char *missing_page;
static int faults;

static void *faulting_section(void *context)
{
    store_release(&begun, 1);
    CHECK_EQUAL(*missing_page, 0);
    return context;
}

static void end_faulting(void)
{
    struct uffdio_zeropage zero = {.range = {(uintptr_t)missing_page, 4096}};
    CHECK_EQUAL(ioctl(faults, UFFDIO_ZEROPAGE, &zero), 0);
}

/* Makes a page whose first access stops a thread; false where that is forbidden. */
static bool page_is_missing(void)
{
    struct uffdio_api api = {.api = UFFD_API};
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (faults < 0 || ioctl(faults, UFFDIO_API, &api) != 0)
        return false;
    missing_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
    struct uffdio_register page = {.range = {(uintptr_t)missing_page, 4096},
                                   .mode = UFFDIO_REGISTER_MODE_MISSING};
    return ioctl(faults, UFFDIO_REGISTER, &page) == 0;
}

/* While a section of `first` cannot go on, sections of `second` are executed; those of
 * `first` are not. */
static void test_stopped(void *(*section)(void *), void (*end)(void))
{
    struct member stopped = {.work = run_first, .node = ANY_NODE};
    unsigned long count = 0;
    first_section = section;
    store_relaxed(&begun, 0);
    store_relaxed(&go_on, 0);
    store_relaxed(&ended, 0);
    crew_start(&stopped);
    while (!load_acquire(&begun))
        yield();
    for (int i = 0; i < ROUNDS; i++)
        run(second, count_section, &count);
    CHECK_EQUAL(count, ROUNDS);
    CHECK_EQUAL(load_acquire(&ended), 0);
    end();
    pthread_join(stopped.thread, NULL);
    run(first, count_section, &count);
    CHECK_EQUAL(count, ROUNDS + 1);
}

static uint64_t clock_us(clockid_t clock)
{
    struct timespec now;
    CHECK_EQUAL(clock_gettime(clock, &now), 0);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Is preempted by that thread, until the test goes on. */
static void *preempted_section(void *context)
{
    uint64_t ran = clock_us(CLOCK_THREAD_CPUTIME_ID), took = clock_us(CLOCK_MONOTONIC);
    store_release(&begun, 1);
    CHECK_EQUAL(sched_setaffinity(0, sizeof occupied.cpu, &occupied.cpu), 0);
    while (!load_acquire(&go_on))
        ;
    CHECK_EQUAL(sched_setaffinity(0, sizeof occupied.others, &occupied.others), 0);
    ran = clock_us(CLOCK_THREAD_CPUTIME_ID) - ran;
    took = clock_us(CLOCK_MONOTONIC) - took;
    CHECK(ran < took / 2);
    return context;
}

static void test_preempted(void)
{
    struct delegate *const objects[] = {first, second};
    struct member busy = {.work = occupy, .subject = &go_on, .node = ANY_NODE};
    if (!occupied_choose()) {
        puts("not tested: preempted sections, which need two CPUs and CAP_SYS_NICE");
        return;
    }
    first = new_object("rcl:3");
    second = new_object("rcl:3");
    store_relaxed(&go_on, 0);
    crew_start(&busy);
    while (!load_acquire(&occupied.begun))
        yield();
    test_stopped(preempted_section, end_spinning);
    pthread_join(busy.thread, NULL);
    CHECK(load_relaxed(&delegate_server(first)->counts.replaced) > 0);
    destroy(first);
    destroy(second);
    first = objects[0];
    second = objects[1];
    occupied_end();
}

static void *nested_section(void *context)
{
    return run(second, count_section, context);
}

static void *deeper_section(void *context)
{
    return run(first, nested_section, context);
}

static void run_deeper(struct member *self)
{
    struct delegate *outer = self->subject;
    unsigned long count = 0;
    for (int i = 0; i < ROUNDS; i++) {
        run(outer, deeper_section, &count);
        run(second, count_section, &count);
    }
    CHECK_EQUAL(count, 2 * ROUNDS);
}

static void run_crew(void (*work)(struct member *), void *subject)
{
    struct member crew[CREW];
    for (int i = 0; i < CREW; i++) {
        crew[i] = (struct member){.work = work, .subject = subject, .node = ANY_NODE};
        crew_start(&crew[i]);
    }
    for (int i = 0; i < CREW; i++)
        pthread_join(crew[i].thread, NULL);
}

static void test_nested(const char *outer_name)
{
    struct delegate *outer = new_object(outer_name);
    run_crew(run_deeper, outer);
    destroy(outer);
}

/* A bounded buffer of one item, whose sections wait for conditions. */
static struct atomic_u32 changed;
static unsigned long item, taken;

static void wait_for_change(void)
{
    bool in_time;
    CHECK(delegate_wait(first, &changed, NULL, &in_time) && in_time);
}

static void announce_change(void)
{
    fetch_add_relaxed(&changed, 1);
    unpark(&changed, INT32_MAX);
}

static void *put_section(void *context)
{
    while (item)
        wait_for_change();
    item = 1;
    announce_change();
    return context;
}

static void *take_section(void *context)
{
    while (!item)
        wait_for_change();
    item = 0;
    taken++;
    announce_change();
    return context;
}

static void put_or_take(struct member *self)
{
    bool puts = fetch_add_relaxed(&go_on, 1) % 2 == 0;
    for (int i = 0; i < ROUNDS / 10; i++)
        CHECK(run(first, puts ? put_section : take_section, self) == self);
}

static void test_conditions(void)
{
    store_relaxed(&go_on, 0);
    taken = 0;
    run_crew(put_or_take, NULL);
    CHECK_EQUAL(taken, CREW / 2 * (ROUNDS / 10));
    CHECK_EQUAL(item, 0);
}

static void *late_section(void *context)
{
    struct deadline soon = deadline_after(1000000);
    bool in_time = true;
    while (in_time)
        CHECK(delegate_wait(first, &changed, &soon, &in_time));
    return context;
}

static void run_once(struct member *self)
{
    unsigned long count = 0;
    run(self->subject, count_section, &count);
    CHECK_EQUAL(count, 1);
}

/* Threads that come and go use the lines of those before them. */
static void test_lines(void)
{
    run_crew(run_once, second);
    uint32_t before = load_relaxed(&delegate_server(second)->lines.count);
    for (int i = 0; i < BATCHES; i++)
        run_crew(run_once, second);
    CHECK(load_relaxed(&delegate_server(second)->lines.count) <=
          (before > CREW + 1 ? before : CREW + 1));
}

/* An idle server sleeps, and wakes up for each of many requests. */
static void test_idle(void)
{
    unsigned long count = 0;
    for (int i = 0; i < BATCHES; i++) {
        while (!load_acquire(&delegate_server(second)->asleep))
            usleep(SAMPLE_US);
        run(second, count_section, &count);
    }
    CHECK_EQUAL(count, BATCHES);
}

static void test_fork(void)
{
    unsigned long count = 0;
    int status;
    if (!child_may_start_threads("servers after fork()"))
        return;
    pid_t child = fork();
    if (child == 0) {
        run_crew(run_once, first);
        run(first, nested_section, &count);
        _exit(count != 1);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static void test_rcl(void)
{
    first = new_object("rcl:1");
    second = new_object("rcl:1");
    test_stopped(blocking_section, end_blocking);
    test_stopped(spinning_section, end_spinning);
    if (page_is_missing())
        test_stopped(faulting_section, end_faulting);
    CHECK(load_relaxed(&delegate_server(first)->counts.replaced) > 0);
    test_preempted();
    test_nested("rcl:1");
    test_nested("rcl:2");
    test_nested("ffwd");
    test_conditions();
    CHECK(run(first, late_section, &first) == &first);
}

int main(int count, char **words)
{
    CHECK_EQUAL(pipe(pipe_ends), 0);
    crew_watch_forks();
    if (count > 1 && strcmp(words[1], "rcl") == 0) {
        test_rcl();
    } else {
        first = new_object("ffwd:1");
        second = new_object("ffwd:1");
        test_nested("ffwd:1");
        test_nested("ffwd:2");
    }
    test_lines();
    test_idle();
    test_fork();
    struct server *server = delegate_server(first);
    destroy(first);
    destroy(second);
    CHECK_EQUAL(load_relaxed(&server->threads), 0);
    return 0;
}
