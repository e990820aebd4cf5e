/* SPDX-License-Identifier: MIT */
/* A seccomp filter, installed after start, that kills the process when it calls
 * membarrier or prctl, with which time-slice extensions are asked for. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "check.h"

enum { LOCKS = 50 };

static pthread_mutex_t mutexes[LOCKS];
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter;
static int turn;
static int rounds;
static unsigned forbidden = SYS_prctl;

enum how { BY_PRCTL, BY_SYSCALL, BY_SYSCALL_ALL_THREADS, BY_RAW_PRCTL };

static void install(enum how how, unsigned verdict)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, verdict),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    unsigned long address = (unsigned long)&program;
    int result = -1;
    CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    switch (how) {
    case BY_PRCTL:
        result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, address, 0, 0);
        break;
    case BY_SYSCALL:
        result = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, address);
        break;
    case BY_SYSCALL_ALL_THREADS:
        result = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                              SECCOMP_FILTER_FLAG_TSYNC, address);
        break;
    case BY_RAW_PRCTL:
        result =
            (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, address, 0, 0);
        break;
    }
    if (result != 0 && errno == EINVAL)
        check_skip("this kernel has no seccomp filters");
    CHECK_EQUAL(result, 0);
}

static void *count_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_t *mutex = &mutexes[i % LOCKS];
        CHECK_OK(pthread_mutex_lock(mutex));
        check_add(&counter, 1);
        if (i % 16 == 0)
            check_sleep_us(10);
        CHECK_OK(pthread_mutex_unlock(mutex));
    }
    return NULL;
}

static void *turn_body(void *ignored)
{
    (void)ignored;
    CHECK_OK(pthread_mutex_lock(&mutexes[0]));
    for (int i = 0; i < 100; i++) {
        while (turn != 1)
            CHECK_OK(pthread_cond_wait(&cond, &mutexes[0]));
        turn = 0;
        CHECK_OK(pthread_cond_signal(&cond));
    }
    CHECK_OK(pthread_mutex_unlock(&mutexes[0]));
    return NULL;
}

static void contend(void)
{
    pthread_t threads[3];
    rounds = check_rounds(2000);
    counter = 0;
    for (int i = 0; i < 3; i++)
        threads[i] = check_start(count_body, NULL);
    for (int i = 0; i < 3; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, 3L * rounds);
    threads[0] = check_start(turn_body, NULL);
    CHECK_OK(pthread_mutex_lock(&mutexes[0]));
    for (int i = 0; i < 100; i++) {
        turn = 1;
        CHECK_OK(pthread_cond_signal(&cond));
        while (turn != 0)
            CHECK_OK(pthread_cond_wait(&cond, &mutexes[0]));
    }
    CHECK_OK(pthread_mutex_unlock(&mutexes[0]));
    check_join(threads[0]);
}

/* When the filter is installed, every lock has been used but none contended. */
static void filtered(enum how how, unsigned verdict)
{
    for (int i = 0; i < LOCKS; i++) {
        CHECK_OK(pthread_mutex_lock(&mutexes[i]));
        CHECK_OK(pthread_mutex_unlock(&mutexes[i]));
    }
    CHECK_OK(check_try_elsewhere(&mutexes[0]));
    install(how, verdict);
    contend();
}

static void prctl_kills(void)
{
    filtered(BY_PRCTL, SECCOMP_RET_KILL_PROCESS);
}

static void prctl_refuses(void)
{
    filtered(BY_PRCTL, SECCOMP_RET_ERRNO | EPERM);
}

static void syscall_kills(void)
{
    filtered(BY_SYSCALL, SECCOMP_RET_KILL_PROCESS);
}

static void syscall_kills_all_threads(void)
{
    filtered(BY_SYSCALL_ALL_THREADS, SECCOMP_RET_KILL_PROCESS);
}

static void raw_prctl_kills(void)
{
    filtered(BY_RAW_PRCTL, SECCOMP_RET_KILL_PROCESS);
}

static void nosys(void)
{
    filtered(BY_PRCTL, SECCOMP_RET_ERRNO | ENOSYS);
}

/* The filter is installed while other threads use contended and uncontended locks. */
static void during_contention(void)
{
    pthread_t threads[3];
    rounds = check_rounds(6000);
    for (int i = 0; i < 3; i++)
        threads[i] = check_start(count_body, NULL);
    check_sleep_ms(2);
    install(BY_SYSCALL_ALL_THREADS, SECCOMP_RET_KILL_PROCESS);
    for (int i = 0; i < 3; i++)
        check_join(threads[i]);
    CHECK_EQUAL(counter, 3L * rounds);
    contend();
}

/* The program starts under the filter, as in a container. */
static void before_start(void)
{
    if (getenv("CHECK_FILTERED") == NULL) {
        char *words[] = {"seccomp", "before_start", NULL};
        setenv("CHECK_FILTERED", "1", 1);
        forbidden = SYS_membarrier; /* a start without prctl is impossible */
        install(BY_PRCTL, SECCOMP_RET_KILL_PROCESS);
        execv("/proc/self/exe", words);
        CHECK(!"execv returned");
    }
    contend();
}

/* The hooks pass on all other calls. */
static void hooks_pass_on(void)
{
    char name[16] = "";
    CHECK_EQUAL(prctl(PR_SET_NAME, "renamed", 0, 0, 0), 0);
    CHECK_EQUAL(prctl(PR_GET_NAME, name, 0, 0, 0), 0);
    CHECK(strcmp(name, "renamed") == 0);
    CHECK_EQUAL(syscall(SYS_gettid), gettid());
    errno = 0;
    CHECK_EQUAL(syscall(SYS_close, -1), -1);
    CHECK_EQUAL(errno, EBADF);
    errno = 0;
    CHECK_EQUAL(prctl(-1, 0, 0, 0, 0), -1);
    CHECK_EQUAL(errno, EINVAL);
    /* All six arguments are passed on: the case reads through the mapping that they
     * create. */
    long address = syscall(SYS_mmap, 0L, 4096L, 3L, 0x22L, -1L, 0L);
    CHECK_COMPARE(address, !=, -1);
    *(char *)address = 1;
    CHECK_EQUAL(syscall(SYS_munmap, address, 4096L), 0);
}

CHECK_MAIN(CASE(prctl_kills), CASE(prctl_refuses), CASE(syscall_kills),
           CASE(syscall_kills_all_threads), CASE(raw_prctl_kills), CASE(nosys),
           CASE(during_contention), CASE(before_start), CASE(hooks_pass_on))
