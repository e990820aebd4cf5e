/* SPDX-License-Identifier: MIT */
/* A program that the recorder's tests record. Each run executes one case; the second
 * argument is its size. */
#include "recorded.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;

static void *lock_nested(void *argument)
{
    for (long i = 0; i < size; i++) {
        pthread_mutex_lock(&outer);
        pthread_mutex_lock(&inner);
        pthread_mutex_unlock(&inner);
        pthread_mutex_unlock(&outer);
    }
    return argument;
}

/* Two threads, one after the other, acquire each lock `size` times. */
static void counts(void)
{
    pthread_mutex_init(&outer, NULL);
    run_one(lock_often);
    run_one(lock_nested);
}

/* One thread holds the lock for 100 ms; another fails to get it by trylock, then waits
 * for it. */
static void *hold(void *argument)
{
    pthread_mutex_lock(&outer);
    *(atomic_int *)argument = 1;
    usleep(100000);
    pthread_mutex_unlock(&outer);
    return NULL;
}

static void waits(void)
{
    pthread_t thread;
    atomic_int held = 0;
    start(&thread, hold, &held);
    while (!held)
        sched_yield();
    for (int i = 0; i < 7; i++)
        CHECK_EQUAL(pthread_mutex_trylock(&outer), EBUSY);
    pthread_mutex_lock(&outer);
    pthread_mutex_unlock(&outer);
    pthread_join(thread, NULL);
}

/* Two threads that reacquire the lock at once: if it hands over, they alternate. */
static void *want_again(void *argument)
{
    for (long i = 0; i < size; i++) {
        pthread_mutex_lock(&outer);
        usleep(500);
        pthread_mutex_unlock(&outer);
    }
    return argument;
}

static void alternates(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        start(&threads[i], want_again, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* Runs `size` threads one after the other. */
static void churn(void)
{
    long threads = size;
    size = 3;
    for (long i = 0; i < threads; i++)
        run_one(lock_often);
}

/* Does the same with threads that lock often; half of them hold one lock while they
 * acquire the other. */
static void busy_churn(void)
{
    const long threads = size;
    size = 500;
    for (long i = 0; i < threads; i++)
        run_one(i % 2 ? lock_nested : lock_often);
}

static pthread_barrier_t all;

static void *lock_and_stay(void *argument)
{
    pthread_mutex_lock(&inner);
    pthread_mutex_unlock(&inner);
    pthread_barrier_wait(&all);
    return argument;
}

/* Runs `size` threads that all exist at once. */
static void crowd(void)
{
    pthread_t *threads = calloc((size_t)size, sizeof *threads);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    pthread_barrier_init(&all, NULL, (unsigned)size);
    for (long i = 0; i < size; i++)
        CHECK_EQUAL(pthread_create(&threads[i], &small, lock_and_stay, NULL), 0);
    for (long i = 0; i < size; i++)
        pthread_join(threads[i], NULL);
}

static pthread_mutex_t *many;
static long made;

static void *lock_many(void *argument)
{
    for (long i = 0; i < made; i++) {
        pthread_mutex_lock(&many[i]);
        pthread_mutex_unlock(&many[i]);
    }
    return argument;
}

/* Creates half of the mutexes before the second thread starts. */
static void mutexes(void)
{
    many = calloc((size_t)size, sizeof *many);
    for (; made < size / 2; made++)
        pthread_mutex_init(&many[made], NULL);
    run_one(lock_many);
    for (; made < size; made++)
        pthread_mutex_init(&many[made], NULL);
    run_one(lock_many);
}

/* Acquires mutexes by trylock and by lock while holding another one, always in new
 * pairs. */
static void *try_often(void *argument)
{
    for (long i = 0; i < size; i++) {
        pthread_mutex_t *other = &many[i % made];
        CHECK_EQUAL(pthread_mutex_trylock(&outer), 0);
        CHECK_EQUAL(pthread_mutex_trylock(other), 0);
        pthread_mutex_unlock(other);
        pthread_mutex_lock(other);
        pthread_mutex_unlock(other);
        pthread_mutex_unlock(&outer);
        for (int k = 0; k < 3; k++)
            CHECK_EQUAL(pthread_mutex_trylock(&inner), EBUSY);
    }
    return argument;
}

static void trylocks(void)
{
    made = 3000;
    many = calloc((size_t)made, sizeof *many);
    pthread_mutex_lock(&inner);
    run_one(try_often);
}

static void *lock_for_ever(void *argument)
{
    for (;;) {
        pthread_mutex_lock(&inner);
        pthread_mutex_unlock(&inner);
    }
    return argument;
}

/* Runs until the test kills the process. */
static void endless(void)
{
    run_one(lock_for_ever);
}

static void *outlive(void *argument)
{
    usleep(20000);
    return lock_often(argument);
}

static void exits_at_once(void)
{
    run_one(lock_often);
    _exit(0);
}

/* Drops root privileges before the second thread starts, as servers do. */
static void gives_up_rights(void)
{
    if (geteuid() != 0)
        check_skip("only root has privileges to drop");
    CHECK_EQUAL(setgid(65534), 0);
    CHECK_EQUAL(setuid(65534), 0);
    run_one(lock_often);
}

/* Installs a filter that kills the process if it makes a system call that, from then
 * on, only the recorder could make. */
static void confine(void)
{
#define DIES_OF(number)                                                                \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                               \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        DIES_OF(SYS_openat),
        DIES_OF(SYS_fallocate),
        DIES_OF(SYS_getrusage),
        DIES_OF(SYS_clock_gettime),
        DIES_OF(SYS_prctl),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                &program) != 0)
        check_skip("no filters here");
}

static void seccomp_filtered(void)
{
    long locks = size;
    size = 1;
    run_one(lock_often);
    usleep(30000);
    confine();
    size = locks;
    mutexes();
    run_one(lock_often);
}

/* The first thread ends before the others; the process ends with the last one. */
static void first_ends(void)
{
    pthread_t thread;
    start(&thread, outlive, NULL);
    pthread_exit(NULL);
}

/* Closes all descriptors, as daemons do; the trace has to grow afterwards. */
static void closes(void)
{
    pthread_mutex_init(&outer, NULL);
    long locks = size;
    size = 1;
    run_one(lock_often);
    for (int fd = 3; fd < 4096; fd++)
        close(fd);
    size = locks;
    mutexes();
}

static void wait_for(pid_t child)
{
    int status;
    CHECK(child > 0);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static void forks(void)
{
    run_one(lock_often);
    pid_t child = fork();
    if (child == 0) {
        run_one(lock_nested);
        exit(0);
    }
    wait_for(child);
    run_one(lock_often);
}

static void vforks(void)
{
    run_one(lock_often);
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    wait_for(child);
    run_one(lock_often);
}

static void replaced(void)
{
    run_one(lock_often);
    char *const nowhere[] = {"/nonexistent", NULL}, *const shell[] = {"true", NULL};
    CHECK_EQUAL(execv(nowhere[0], nowhere), -1);
    run_one(lock_often);
    execv("/bin/true", shell);
    CHECK(!"replaced");
}

/* Runs generated code that has no unwind information; it calls a function and
 * returns. */
static void *run_generated(void *argument)
{
    static const unsigned char code[] = {
#if defined(__x86_64__)
        0x55, 0xff, 0xd6, 0x5d, 0xc3 /* push rbp; call rsi; pop rbp; ret */
#endif
    };
    if (sizeof code == 0)
        check_skip("there is no generated code for this architecture");
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        check_skip("no memory for generated code");
    memcpy(page, code, sizeof code);
    union {
        void *object;
        int (*call)(pthread_mutex_t *, int (*)(pthread_mutex_t *));
    } generated = {.object = page};
    for (long i = 0; i < size; i++) {
        CHECK_EQUAL(generated.call(&inner, pthread_mutex_lock), 0);
        CHECK_EQUAL(generated.call(&inner, pthread_mutex_unlock), 0);
    }
    return argument;
}

static void generated(void)
{
    run_one(run_generated);
}

/* Signal handlers must not lock, but some programs have handlers that do. */
static atomic_long handled;

static void on_signal(int signal)
{
    (void)signal;
    if (pthread_mutex_trylock(&inner) == 0)
        pthread_mutex_unlock(&inner);
    handled++;
}

static void *lock_under_signals(void *argument)
{
    while (handled < size) {
        pthread_mutex_lock(&outer);
        pthread_mutex_unlock(&outer);
    }
    return argument;
}

static void signals(void)
{
    pthread_t thread;
    signal(SIGUSR1, on_signal);
    start(&thread, lock_under_signals, NULL);
    while (handled < size) {
        pthread_kill(thread, SIGUSR1);
        usleep(20);
    }
    pthread_join(thread, NULL);
}

/* Produces more data than RLIMIT_FSIZE allows in a file; a write beyond the limit would
 * kill the process. */
static void limited(void)
{
    const struct rlimit limit = {(rlim_t)size, (rlim_t)size};
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    size = 20000;
    mutexes();
}

RECORDED_MAIN(CASE(counts), CASE(waits), CASE(churn), CASE(crowd), CASE(mutexes),
              CASE(endless), CASE(closes), CASE(first_ends), CASE(forks), CASE(vforks),
              CASE(replaced), CASE(generated), CASE(signals), CASE(limited),
              CASE(exits_at_once), CASE(gives_up_rights), CASE(seccomp_filtered),
              CASE(alternates), CASE(trylocks), CASE(busy_churn))
