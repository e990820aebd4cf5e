/* SPDX-License-Identifier: MIT */
/* Tests the native platform: parking, deadlines, fork generations, topology,
 * spinning. */
#include "check.h"

#include "platform/native/cgroup.h"
#include "platform/platform.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct atomic_u32 cell, other;

static void *sleeper(void *unused)
{
    while (load_acquire(&cell) == 1)
        CHECK(park(&cell, 1, NULL));
    return unused;
}

static void check_parking(void)
{
    struct deadline past = {CLOCK_MONOTONIC, {-5, 0}}, real = {CLOCK_REALTIME, {1, 0}};
    store_relaxed(&cell, 1);
    CHECK(park(&cell, 2, NULL)); /* another value: no sleep */
    CHECK(!park(&cell, 1, &past));
    CHECK(!park(&cell, 1, &real));
    CHECK(deadline_passed(&past) && deadline_passed(&real));
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, sleeper, NULL), 0);
    usleep(10000);
    requeue(&cell, 7, &other); /* the cell holds 1: nothing moves */
    requeue(&cell, 1, &other);
    store_release(&cell, 0);
    unpark(&other, 1);
    unpark(&cell, 1); /* in case the thread had not slept yet */
    pthread_join(thread, NULL);
}

static void check_child(uint32_t generation, uint32_t thread)
{
    _exit(fork_generation() != generation && fork_generation() == fork_generation() &&
                  current_thread() == thread
              ? 0
              : 1);
}

static void check_forks(void)
{
    uint32_t before = fork_generation();
    CHECK(before >= 1 && before < 0xffff);
    fork_watch();
    CHECK_EQUAL(fork_generation(), before);
    pid_t child = fork();
    if (child == 0) {
        thread_id_forget(); /* as the interposer's fork handler does */
        check_child(before, (uint32_t)getpid());
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    if (!getenv("MESON_EXE_WRAPPER")) /* user-mode emulation does not wipe the page */
        CHECK_EQUAL(status, 0);
    child = fork();
    if (child == 0) {
        thread_id_forget();
        fork_in_child();
        check_child(before, (uint32_t)getpid());
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(fork_generation(), before);
}

/* A child created by a raw clone, which runs no fork handler, while another thread of
 * the parent is starting a generation. */
static void check_raw_clone(void)
{
    uint32_t before = fork_generation();
    store_relaxed(&fork_page->detecting, 1);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        alarm(20); /* a wrong child would wait for ever for the parent's thread */
        _exit(fork_generation() != before ? 0 : 1);
    }
    store_relaxed(&fork_page->detecting, 0);
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    if (!getenv("MESON_EXE_WRAPPER"))
        CHECK_EQUAL(status, 0);
}

static void check_topology(void)
{
    const char *bad[] = {"x",   "2",    "2x",   "x4",   "0x4",
                         "2x0", "65x1", "2x4y", "-1x2", "9x999",
                         "2x4,", "2x4,thread", "2x4,roams", "2x4 roam"};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!topology_read(bad[i]));
    CHECK(topology_read(NULL));
    CHECK(cpu_count() >= 1 && node_count() >= 1);
    CHECK(current_node() < node_count());
    CHECK(topology_read("2x4"));
    CHECK_EQUAL(cpu_count(), 8);
    CHECK_EQUAL(node_count(), 2);
    CHECK(current_node() < 2);
    CHECK(topology_read("4x2,threads"));
    CHECK_EQUAL(node_count(), 4);
    for (int i = 0; i < 9; i++)
        CHECK_EQUAL(current_node(), current_thread() % 4);
    CHECK(topology_read("4x2,roam"));
    uint32_t before = current_node();
    for (int i = 0; i < 9; i++) {
        uint32_t now = current_node();
        CHECK(now < 4 && now != before);
        before = now;
    }
    CHECK(topology_read(""));
}

static void check_affinity(void)
{
    cpu_set_t all, one;
    CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    CHECK_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
    topology_read(NULL);
    CHECK_EQUAL(cpu_count(), 1);
    sched_setaffinity(0, sizeof all, &all);
    topology_read(NULL);
}

/* Makes the kernel refuse masks of up to 1,024 CPUs, as a kernel with more CPU ids
 * does. Returns false if seccomp filters are not available. */
static bool pretend_many_cpu_ids(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getaffinity, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 1024 / 8, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void check_many_cpu_ids(void)
{
    topology_read("");
    uint32_t before = cpu_count();
    pid_t child = fork();
    if (child == 0) {
        if (pretend_many_cpu_ids())
            topology_read("");
        else
            fputs("no seccomp filters: over 1,024 CPU ids are not tested\n", stderr);
        _exit(cpu_count() == before ? 0 : 1);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static char cgroups[] = "/tmp/hasp-cgroups-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", cgroups, name);
    for (char *slash = path + sizeof cgroups; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static uint32_t quota(const char *membership)
{
    char path[256];
    write_file("membership", membership);
    snprintf(path, sizeof path, "%s/membership", cgroups);
    return cgroup_cpus(path, cgroups);
}

static void check_nested_quotas(void)
{
    CHECK(mkdtemp(cgroups) != NULL);
    CHECK_EQUAL(quota("0::/"), 0);
    write_file("a/cpu.max", "250000 100000\n");
    write_file("a/b/cpu.max", "max 100000\n");
    write_file("a/tight/cpu.max", "150000 100000\n");
    write_file("unified/u/cpu.max", "70000 10000\n");
    write_file("cpu/x/cpu.cfs_quota_us", "400000\n");
    write_file("cpu/x/cpu.cfs_period_us", "100000\n");
    write_file("cpu/x/y/cpu.cfs_quota_us", "-1\n");
    CHECK_EQUAL(quota("0::/a/b/c\n"), 3); /* the quota of an ancestor, rounded up */
    CHECK_EQUAL(quota("0::/a/tight\n"), 2);
    CHECK_EQUAL(quota("0::/u"), 7);
    CHECK_EQUAL(quota("2:cpu,cpuacct:/x/y\n1:cpuset:/\n0::/\n"), 4);
    CHECK_EQUAL(quota("2:cpuset:/x/y\n"), 0);
    CHECK_EQUAL(quota("2:cpu:/x\n0::/a/tight\n"), 2);
    write_file("cpu.max", "90000 100000\n");
    CHECK_EQUAL(quota("0::/path/outside/of/the/container\n"), 1);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", cgroups);
    CHECK_EQUAL(system(command), 0);
}

static void check_spinning(void)
{
    uint32_t guessed = spinning_calibrate();
    CHECK(guessed >= 20);
    spinning_set_park_cost(1000);
    uint32_t low = spinning_calibrate();
    spinning_set_park_cost(1000000);
    CHECK(spinning_calibrate() > low); /* the dearer a sleep, the longer the spin */
}

int main(void)
{
    CHECK_EQUAL(current_thread(), (uint32_t)syscall(SYS_gettid));
    check_parking();
    check_forks();
    check_raw_clone();
    check_topology();
    check_affinity();
    check_many_cpu_ids();
    check_nested_quotas();
    check_spinning();
    return 0;
}
