/* SPDX-License-Identifier: MIT */
/* Shared barriers between threads and between processes: phases, every way in which a
 * wait can end without one, and bad arguments. */
#include "check.h"

#include "locks/waiting/policies.h"
#include "structures/channel/shared_barrier.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8, PHASES = 300 };

/* In memory that processes share. */
struct shared {
    struct atomic_u32 written[MOST];
    struct shared_barrier barrier;
};

static struct shared *new_barrier(uint32_t members, uint32_t flags)
{
    const size_t bytes = sizeof(struct shared) + shared_barrier_size(members);
    struct shared *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    memset((void *)shared, 0xff, bytes); /* memory that was used before */
    memset((void *)shared->written, 0, sizeof shared->written);
    CHECK_EQUAL(shared_barrier_init(&shared->barrier, members, flags), 0);
    return shared;
}

static struct member open_one(struct shared *shared)
{
    struct member member;
    CHECK_EQUAL(member_open(&member, &shared->barrier), 0);
    return member;
}

/* Checks that no other member is behind, or more than one phase ahead. */
static void go_through_phases(struct shared *shared, uint32_t members)
{
    struct member member = open_one(shared);
    for (uint32_t phase = 1; phase <= PHASES; phase++) {
        store_relaxed(&shared->written[member.index], phase);
        CHECK_EQUAL(member_wait(&member, NULL), 0);
        for (uint32_t other = 0; other < members; other++) {
            uint32_t seen = load_relaxed(&shared->written[other]);
            CHECK(seen == phase || seen == phase + 1);
        }
    }
    member_close(&member);
}

static void *thread_of_five(void *shared)
{
    go_through_phases(shared, 5);
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[5];
    struct shared *shared = new_barrier(5, SHARED_BARRIER_PARKS);
    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, thread_of_five, shared), 0);
    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
}

/* Runs `body` in a child, and returns its process id. */
static pid_t in_child(void (*body)(struct shared *), struct shared *shared)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        body(shared);
        _exit(0);
    }
    return child;
}

static void expect_success(pid_t child)
{
    int status = 0;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static void process_of_three(struct shared *shared)
{
    go_through_phases(shared, 3);
}

static void test_processes(uint32_t flags)
{
    struct shared *shared = new_barrier(3, flags);
    pid_t first = in_child(process_of_three, shared);
    pid_t second = in_child(process_of_three, shared);
    go_through_phases(shared, 3);
    expect_success(first);
    expect_success(second);
}

static void wait_once_and_close(struct shared *shared)
{
    struct member member = open_one(shared);
    CHECK_EQUAL(member_wait(&member, NULL), 0);
    usleep(2000); /* the other one sleeps */
    member_close(&member);
}

static void test_closed(void)
{
    struct shared *shared = new_barrier(2, SHARED_BARRIER_PARKS);
    pid_t child = in_child(wait_once_and_close, shared);
    struct member member = open_one(shared);
    CHECK_EQUAL(member_wait(&member, NULL), 0);
    CHECK_EQUAL(member_wait(&member, NULL), EPIPE);
    CHECK_EQUAL(member_wait(&member, NULL), EPIPE);
    expect_success(child);
}

static void wait_once_and_hang(struct shared *shared)
{
    struct member member = open_one(shared);
    CHECK_EQUAL(member_wait(&member, NULL), 0);
    pause();
}

/* A process is killed, and its parent has not waited for it yet. */
static void test_killed(uint32_t flags)
{
    struct shared *shared = new_barrier(2, flags);
    pid_t child = in_child(wait_once_and_hang, shared);
    struct member member = open_one(shared);
    CHECK_EQUAL(member_wait(&member, NULL), 0);
    kill(child, SIGKILL);
    CHECK_EQUAL(member_wait(&member, NULL), EOWNERDEAD);
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
}

static void wait_once(struct shared *shared)
{
    struct member member = open_one(shared);
    CHECK_EQUAL(member_wait(&member, NULL), 0);
}

/* After a timeout, the next call waits for the same phase. */
static void test_timeout(void)
{
    struct shared *shared = new_barrier(2, SHARED_BARRIER_PARKS);
    struct member member = open_one(shared);
    struct deadline soon = deadline_after(20000000);
    CHECK_EQUAL(member_wait(&member, &soon), ETIMEDOUT);
    CHECK_EQUAL(member_wait(&member, &soon), ETIMEDOUT);
    pid_t child = in_child(wait_once, shared);
    CHECK_EQUAL(member_wait(&member, NULL), 0);
    expect_success(child);
}

static void test_bad_arguments(void)
{
    struct member member;
    struct shared *shared = new_barrier(1, 0);
    struct deadline wrong = {CLOCK_MONOTONIC, {0, 1000000000}};
    CHECK_EQUAL(shared_barrier_size(0), 0);
    CHECK_EQUAL(shared_barrier_size(SHARED_BARRIER_MOST + 1), 0);
    CHECK_EQUAL(shared_barrier_init(&shared->barrier, 0, 0), EINVAL);
    CHECK_EQUAL(shared_barrier_init(&shared->barrier, 1, 2), EINVAL);
    CHECK_EQUAL(shared_barrier_init((void *)((char *)&shared->barrier + 64), 1, 0),
                EINVAL);
    CHECK_EQUAL(shared_barrier_init(&shared->barrier, 2, 0), 0);
    CHECK_EQUAL(member_open(&member, &shared->barrier), 0);
    CHECK_EQUAL(member_wait(&member, &wrong), EINVAL);
    CHECK_EQUAL(member_open(&member, &shared->barrier), 0);
    CHECK_EQUAL(member_open(&member, &shared->barrier), EBUSY);
    memset((void *)shared, 0, sizeof *shared + shared_barrier_size(1));
    CHECK_EQUAL(member_open(&member, &shared->barrier), EINVAL);
}

int main(void)
{
    test_bad_arguments();
    test_threads();
    test_closed();
    test_timeout();
    for (uint32_t flags = 0; flags <= SHARED_BARRIER_PARKS; flags++) {
        test_processes(flags);
        test_killed(flags);
    }
    return 0;
}
