/* SPDX-License-Identifier: MIT */
/*
 * Sections that the thread that released the lock runs
 * (docs/transparent-delegation.md). Each case holds the mutex until another thread, the
 * owner, waits for it; the release then runs the owner's section, which does something
 * that depends on the kernel's thread. Under other locks the owner runs it itself.
 */
#include "borrowed.h"

#include <setjmp.h>
#include <signal.h>

static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int flag, pipe_ends[2];

static __thread int mine; /* the owner's */

static void enter_mine(void)
{
    mine = 1;
    enter();
    CHECK_EQUAL(mine, 1);
}

static void leave_mine(void)
{
    leave();
    CHECK_EQUAL(mine, 1);
}

static void hold_with_pipe(void *(*body)(void *))
{
    CHECK_EQUAL(pipe(pipe_ends), 0);
    hold_until_queued(body);
}

/* --- what depends on the thread pointer, and stays right within the stretch --- */
static void *plain_body(void *ignored)
{
    char *memory;
    enter_mine();
    CHECK(pthread_equal(pthread_self(), owner));
    errno = 77;
    memory = malloc(1000);
    memset(memory, 1, 1000);
    free(memory);
    CHECK_EQUAL(errno, 77);
    if (getenv("CHECK_BORROWED"))
        CHECK(is_borrowed());
    leave_mine();
    CHECK_EQUAL(errno, 77);
    return ignored;
}

static void plain(void)
{
    hold_until_queued(plain_body);
    errno = 5;
    release();
    CHECK_EQUAL(errno, 5);
    check_join(owner);
}

/* --- functions that hand the stretch back --- */
static void *identity_body(void *ignored)
{
    enter_mine();
    CHECK_EQUAL(gettid(), kernel_thread);
    CHECK(!is_borrowed());
    leave_mine();
    return ignored;
}

static void identity(void)
{
    hold_until_queued(identity_body);
    release();
    check_join(owner);
}

static void *nested_body(void *ignored)
{
    enter_mine();
    CHECK_OK(pthread_mutex_lock(&other)); /* perhaps in a stretch of this one */
    CHECK_OK(pthread_mutex_unlock(&other));
    CHECK(!is_borrowed());
    leave_mine();
    return ignored;
}

static void nested(void)
{
    hold_until_queued(nested_body);
    CHECK_OK(pthread_mutex_lock(&other)); /* hand over hand */
    release();
    CHECK_OK(pthread_mutex_unlock(&other));
    check_join(owner);
}

static void *waits_body(void *ignored)
{
    enter_mine();
    while (!flag)
        CHECK_OK(pthread_cond_wait(&condition, &mutex));
    leave_mine();
    return ignored;
}

static void waits(void)
{
    hold_until_queued(waits_body);
    release();
    CHECK_OK(pthread_mutex_lock(&mutex));
    flag = 1;
    CHECK_OK(pthread_cond_signal(&condition));
    release();
    check_join(owner);
}

static void *reads_body(void *ignored)
{
    char byte;
    enter_mine();
    CHECK_EQUAL(read(pipe_ends[0], &byte, 1), 1);
    CHECK(!is_borrowed());
    leave_mine();
    return ignored;
}

static void write_byte(void)
{
    CHECK_EQUAL(write(pipe_ends[1], "\n", 1), 1);
}

static void reads(void)
{
    hold_with_pipe(reads_body);
    release();
    write_byte();
    check_join(owner);
}

static void *forks_body(void *ignored)
{
    enter_mine();
    pid_t child = fork();
    if (child == 0) {
        CHECK_EQUAL(runs_on(), getpid());
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_OK(pthread_mutex_lock(&mutex));
        _exit(0);
    }
    check_child(child);
    leave_mine();
    return ignored;
}

static void forks(void)
{
    hold_until_queued(forks_body);
    release();
    check_join(owner);
}

/* The counts of the child are its own. */
static void exits_after_fork(void)
{
    plain();
    pid_t child = fork();
    if (child == 0)
        exit(0);
    check_child(child);
}

static void *masks_body(void *ignored)
{
    sigset_t set;
    enter_mine();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK_OK(pthread_sigmask(SIG_BLOCK, &set, NULL));
    leave_mine();
    CHECK_OK(pthread_sigmask(SIG_SETMASK, NULL, &set));
    CHECK(sigismember(&set, SIGUSR1));
    return ignored;
}

static void masks(void)
{
    sigset_t set;
    hold_until_queued(masks_body);
    release();
    CHECK_OK(pthread_sigmask(SIG_SETMASK, NULL, &set));
    CHECK(!sigismember(&set, SIGUSR1));
    check_join(owner);
}

/* --- ways to end --- */
static void unlock(void *ignored)
{
    (void)ignored;
    CHECK(!is_borrowed());
    leave_mine();
}

static void *cancelled_body(void *ignored)
{
    char byte;
    enter_mine();
    pthread_cleanup_push(unlock, NULL);
    check_set(&flag, 1);
    CHECK_EQUAL(read(pipe_ends[0], &byte, 1), 1);
    pthread_cleanup_pop(0);
    return ignored;
}

static void cancelled(void)
{
    hold_with_pipe(cancelled_body);
    release();
    CHECK_OK(pthread_cancel(owner));
    CHECK(check_join(owner) == PTHREAD_CANCELED);
    CHECK_OK(pthread_mutex_lock(&mutex));
    release();
}

static void *exits_body(void *ignored)
{
    enter_mine();
    pthread_cleanup_push(unlock, NULL);
    pthread_exit(&mine);
    pthread_cleanup_pop(0);
    return ignored;
}

static void exits(void)
{
    hold_until_queued(exits_body);
    release();
    CHECK(check_join(owner) != NULL);
    CHECK_OK(pthread_mutex_lock(&mutex));
    release();
}

static void *returns_body(void *ignored)
{
    enter_mine();
    return ignored;
}

static void returns(void)
{
    hold_until_queued(returns_body);
    release();
    check_join(owner);
    CHECK_EQUAL(pthread_mutex_trylock(&mutex), EBUSY);
}

static void *ends_process_body(void *ignored)
{
    enter_mine();
    exit(0);
    return ignored;
}

static void ends_process(void)
{
    hold_until_queued(ends_process_body);
    release();
    check_join(owner);
}

static void *jumps_body(void *ignored)
{
    jmp_buf before;
    if (setjmp(before) == 0) {
        enter_mine();
        longjmp(before, 1);
    }
    leave_mine();
    return ignored;
}

static void jumps(void)
{
    hold_until_queued(jumps_body);
    release();
    check_join(owner);
}

/* --- sections that stop the borrower --- */
static void *blocks_body(void *ignored)
{
    char line[8];
    FILE *file = fdopen(pipe_ends[0], "r");
    enter_mine();
    CHECK(fgets(line, sizeof line, file) != NULL); /* not hooked */
    CHECK(!is_borrowed());
    leave_mine();
    return ignored;
}

static void blocks(void)
{
    hold_with_pipe(blocks_body);
    release();
    write_byte();
    check_join(owner);
}

static void *spins_body(void *ignored)
{
    enter_mine();
    while (!check_get(&flag))
        ;
    leave_mine();
    return ignored;
}

static void spins(void)
{
    hold_until_queued(spins_body);
    release();
    check_set(&flag, 1);
    check_join(owner);
}

/* --- a process that borrows no more --- */
static void *unborrowed_body(void *ignored)
{
    begin_thread();
    check_publish(&queued);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK(!is_borrowed());
    leave();
    return ignored;
}

static void changes_identity(void)
{
    CHECK_EQUAL(setgid(getgid()), 0);
    hold_until_queued(unborrowed_body);
    release();
    check_join(owner);
}

static void registers_sequences(void)
{
    CHECK_EQUAL(syscall(SYS_rseq, NULL, 0, 0, 0), -1); /* no valid size */
    hold_until_queued(unborrowed_body);
    release();
    check_join(owner);
}

CHECK_MAIN(CASE(plain), CASE(identity), CASE(nested), CASE(waits), CASE(reads),
           CASE(forks), CASE(exits_after_fork), CASE(masks), CASE(cancelled),
           CASE(exits), CASE(returns), CASE(ends_process), CASE(jumps), CASE(blocks),
           CASE(spins), CASE(changes_identity), CASE(registers_sequences))
