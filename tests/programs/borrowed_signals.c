/* SPDX-License-Identifier: MIT */
/*
 * Signals that arrive while a thread runs the section of another one
 * (docs/transparent-delegation.md), or waits for that: each handler runs on the kernel
 * thread, with the stack and the thread-local variables of the thread that the signal
 * is for.
 */
#include "borrowed.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

static int inside, handled;
static char *page;

static __thread int seen; /* signals that the thread has handled */
static int deferred = 1;  /* handlers run with their own signal blocked */

static void note(int number, siginfo_t *info, void *context)
{
    (void)context;
    CHECK_EQUAL(runs_on(), kernel_thread);
    CHECK_EQUAL(info->si_signo, number);
    CHECK_EQUAL(info->si_pid, getpid());
    sigset_t blocked;
    CHECK_OK(pthread_sigmask(SIG_SETMASK, NULL, &blocked));
    CHECK_EQUAL(sigismember(&blocked, number), deferred);
    CHECK_EQUAL(sigismember(&blocked, SIGWINCH), 0); /* never sent */
    seen++;
    check_add(&handled, 1);
}

enum { SET_BY_GLIBC = 0x04000000 }; /* SA_RESTORER */

typedef void handler_of(int, siginfo_t *, void *);

static void handle_with(handler_of *handler, int number, int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    struct sigaction now;
    CHECK_EQUAL(sigaction(number, &action, NULL), 0);
    CHECK_EQUAL(sigaction(number, NULL, &now), 0);
    CHECK(now.sa_sigaction == handler);
    CHECK_EQUAL(now.sa_flags & ~SET_BY_GLIBC, action.sa_flags);
}

static void enter_inside(void)
{
    enter();
    check_set(&inside, 1);
}

/* The section ends when a handler has run somewhere. */
static void *until_handled_body(void *ignored)
{
    enter_inside();
    while (!check_get(&handled))
        ;
    leave();
    return ignored;
}

static void *owner_that_is_signalled(void *ignored)
{
    until_handled_body(NULL);
    CHECK_EQUAL(seen, 1);
    return ignored;
}

static void *send_to(void *target)
{
    CHECK_UNTIL(check_get(&inside));
    CHECK_OK(pthread_kill(*(pthread_t *)target, SIGUSR1));
    return NULL;
}

static void to_the_owner(void)
{
    handle_with(note, SIGUSR1, SA_RESTART);
    hold_until_queued(owner_that_is_signalled);
    pthread_t sender = check_start(send_to, &owner);
    release();
    CHECK_EQUAL(seen, 0);
    check_join(sender);
    check_join(owner);
}

static void signal_the_borrower(int flags)
{
    handle_with(note, SIGUSR1, flags);
    hold_until_queued(until_handled_body);
    pthread_t sender = check_start(send_to, &borrower);
    release();
    CHECK_UNTIL(check_get(&seen) == 1);
    check_join(sender);
    check_join(owner);
}

static void to_the_borrower(void)
{
    signal_the_borrower(0);
}

static void not_deferred(void)
{
    deferred = 0;
    signal_the_borrower((int)SA_NODEFER);
}

static void to_a_waiter(void)
{
    handle_with(note, SIGUSR1, SA_RESTART);
    hold_until_queued(owner_that_is_signalled);
    CHECK_OK(pthread_kill(owner, SIGUSR1));
    CHECK_UNTIL(check_get(&handled)); /* while the mutex is held */
    release();
    check_join(owner);
}

static void only_once(void)
{
    handle_with(note, SIGUSR1, (int)(SA_RESETHAND | SA_RESTART));
    hold_until_queued(owner_that_is_signalled);
    pthread_t sender = check_start(send_to, &owner);
    release();
    check_join(sender);
    check_join(owner);
    CHECK(signal(SIGUSR1, SIG_IGN) == SIG_DFL);
}

/* --- faults --- */

static __thread sigjmp_buf before_fault;

static void repair(int number, siginfo_t *info, void *context)
{
    (void)context;
    CHECK_EQUAL(runs_on(), kernel_thread);
    CHECK(number == SIGSEGV && info->si_addr == page);
    CHECK_EQUAL(mprotect(page, 4096, PROT_READ | PROT_WRITE), 0);
}

static void jump(int number, siginfo_t *info, void *context)
{
    (void)context;
    CHECK(number == SIGSEGV && info->si_addr == page);
    siglongjmp(before_fault, 1);
}

static void use_alternate_stack(void)
{
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    CHECK_EQUAL(sigaltstack(&stack, NULL), 0);
}

static void *faults_body(void *ignored)
{
    stack_t stack;
    use_alternate_stack();
    enter_inside();
    page[0] = 7;
    CHECK_EQUAL(page[0], 7);
    leave();
    CHECK_EQUAL(sigaltstack(NULL, &stack), 0);
    CHECK(stack.ss_flags == 0 && stack.ss_size == 65536);
    return ignored;
}

static void faults(void)
{
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handle_with(repair, SIGSEGV, SA_ONSTACK);
    hold_until_queued(faults_body);
    use_alternate_stack();
    release();
    check_join(owner);
}

static void *jumps_body(void *ignored)
{
    use_alternate_stack();
    if (sigsetjmp(before_fault, 1) == 0) {
        enter_inside();
        page[0] = 7;
    }
    leave();
    return ignored;
}

static void jumps_from_the_handler(void)
{
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handle_with(jump, SIGSEGV, SA_ONSTACK);
    hold_until_queued(jumps_body);
    release();
    check_join(owner);
}

/* --- many --- */

enum { THREADS = 4, ROUNDS = 20000 };

static long counter;
static int started, finished;
static pthread_t workers[THREADS];

static void *count(void *ignored)
{
    double sum = 0;
    kernel_thread = runs_on();
    check_meet(&started, THREADS + 1);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        long value = counter;
        sum += 0.5;
        if (i % 8 == 0)
            direct_call(SYS_sched_yield); /* lets others queue */
        counter = value + 1;
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    CHECK(sum == ROUNDS / 2);
    check_add(&finished, 1);
    while (!check_get(&inside)) /* pthread_kill needs a live thread */
        check_sleep_us(200);
    return ignored;
}

static void bombarded(void)
{
    int next = 0;
    handle_with(note, SIGUSR1, SA_RESTART);
    handle_with(note, SIGUSR2, SA_RESTART);
    for (int i = 0; i < THREADS; i++)
        workers[i] = check_start(count, NULL);
    check_meet(&started, THREADS + 1);
    do {
        CHECK_OK(pthread_kill(workers[next % THREADS], SIGUSR1));
        CHECK_OK(pthread_kill(workers[next++ % THREADS], SIGUSR2));
        check_sleep_us(50);
    } while (check_get(&finished) < THREADS);
    check_set(&inside, 1);
    for (int i = 0; i < THREADS; i++)
        check_join(workers[i]);
    CHECK_EQUAL(counter, THREADS * ROUNDS);
    CHECK_COMPARE(handled, >, 0);
}

/* The child of a vfork has the memory of its parent, but its own actions. */
static void vforks(void)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    handle_with(note, SIGUSR1, 0);
    begin_thread();
    pid_t child = vfork();
    if (child == 0)
        _exit(sigaction(SIGUSR1, &usual, NULL) != 0);
    check_child(child);
    CHECK_EQUAL(kill(getpid(), SIGUSR1), 0);
    CHECK_EQUAL(seen, 1);
}

CHECK_MAIN(CASE(to_the_owner), CASE(to_the_borrower), CASE(not_deferred),
           CASE(to_a_waiter), CASE(only_once), CASE(faults),
           CASE(jumps_from_the_handler), CASE(bombarded), CASE(vforks))
