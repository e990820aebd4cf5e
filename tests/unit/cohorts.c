/* SPDX-License-Identifier: MIT */
/* Tests which groups of CPUs NUMA-aware locks see, in folders that look like sysfs. */
#include "check.h"

#include "platform/native/topology.h"
#include "platform/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 200 };
static char root[] = "/tmp/hasp-cohorts-XXXXXX";
static uint8_t of_cpu[COHORT_CPUS_MAX];

/* Writes a file, and makes the folders above it. */
static void write_file(const char *name, const char *text)
{
    char path[PATH];
    CHECK(snprintf(path, sizeof path, "%s/%s", root, name) < PATH);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void write_cache(unsigned cpu, const char *list)
{
    char name[PATH];
    snprintf(name, sizeof name, "cpu/cpu%u/cache/index3/shared_cpu_list", cpu);
    write_file(name, list);
}

/* A machine with `threads` CPUs for each core, 1 or 2; `cores` cores share each cache.
 * Linux numbers the first threads of all cores first. */
static void write_machine(unsigned caches, unsigned cores, unsigned threads,
                          const char *nodes)
{
    char text[PATH];
    const unsigned all = caches * cores;
    snprintf(text, sizeof text, "0-%u\n", threads * all - 1);
    write_file("cpu/online", text);
    write_file("node/has_cpu", nodes);
    for (unsigned cpu = 0; cpu < threads * all; cpu++) {
        unsigned first = cpu % all / cores * cores, last = first + cores - 1;
        if (threads == 1)
            snprintf(text, sizeof text, "%u-%u\n", first, last);
        else
            snprintf(text, sizeof text, "%u-%u,%u-%u\n", first, last, first + all,
                     last + all);
        write_cache(cpu, text);
    }
}

static void clear(void)
{
    char command[PATH];
    snprintf(command, sizeof command, "rm -rf %s/cpu %s/node", root, root);
    CHECK_EQUAL(system(command), 0);
    memset(of_cpu, 0, sizeof of_cpu);
}

static struct cohorts read_as(enum cohort_choice choice)
{
    return cohorts_read(root, choice, of_cpu);
}

static void check_rule(void)
{
    write_machine(4, 3, 2, "0-1\n");
    struct cohorts found = read_as(COHORTS_AUTO);
    CHECK(found.by_cache);
    CHECK_EQUAL(found.count, 4);
    CHECK_EQUAL(found.caches, 4);
    CHECK_EQUAL(found.cpus, 24);
    for (unsigned cpu = 0; cpu < 24; cpu++)
        CHECK_EQUAL(of_cpu[cpu], cpu % 12 / 3);
    found = read_as(COHORTS_NODE);
    CHECK(!found.by_cache);
    CHECK_EQUAL(found.count, 2);
    write_file("node/has_cpu", "0-3\n"); /* each cache is a node */
    CHECK(!read_as(COHORTS_AUTO).by_cache);
    CHECK(read_as(COHORTS_CACHE).by_cache);
    clear();
    write_machine(4, 3, 1, "0\n");
    CHECK_EQUAL(read_as(COHORTS_AUTO).count, 4);
    clear();
    write_machine(4, 2, 1, "0\n");
    CHECK(!read_as(COHORTS_AUTO).by_cache);
    clear();
    write_machine(8, 1, 2, "0\n"); /* as in virtual machines */
    CHECK(!read_as(COHORTS_AUTO).by_cache);
    CHECK_EQUAL(read_as(COHORTS_CACHE).count, 8);
    clear();
}

/* Neighbours share a cohort if there are more caches than the locks have queues. */
static void check_many(void)
{
    write_machine(32, 2, 2, "0-1\n");
    struct cohorts found = read_as(COHORTS_AUTO);
    CHECK(found.by_cache);
    CHECK_EQUAL(found.count, COHORTS_MAX);
    unsigned last = 0;
    for (unsigned cpu = 0; cpu < 64; cpu++) {
        CHECK(of_cpu[cpu] == last || of_cpu[cpu] == last + 1);
        CHECK_EQUAL(of_cpu[cpu], of_cpu[cpu / 2 * 2]);
        last = of_cpu[cpu];
    }
    CHECK_EQUAL(last, COHORTS_MAX - 1);
    CHECK(of_cpu[31] != of_cpu[32]); /* the sockets */
    clear();
}

/* Nothing is assumed about caches that cannot be read. */
static void check_holes(void)
{
    CHECK_EQUAL(read_as(COHORTS_CACHE).count, 1);
    const char *bad[] = {"", "\n", "8\n", "7-3\n", "x\n", "0-99999\n"};
    write_machine(4, 4, 2, "0\n");
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_cache(4, bad[i]);
        struct cohorts found = read_as(COHORTS_CACHE);
        CHECK(!found.by_cache && found.count == 1 && found.caches == 0);
    }
    write_cache(4, "4-7,20-23\n");
    write_file("cpu/online", "0-3,8-31\n"); /* a whole cache is offline */
    CHECK_EQUAL(read_as(COHORTS_AUTO).count, 4); /* 20 to 23 share it, as threads */
    clear();
}

static void check_choice(void)
{
    CHECK(!topology_choose_cohorts("caches"));
    CHECK(topology_choose_cohorts("node"));
    CHECK(!topology_cohorts().by_cache);
    CHECK_EQUAL(current_cohort(), current_node());
    CHECK(topology_choose_cohorts("cache"));
    CHECK(current_cohort() < topology_cohorts().count);
    CHECK(topology_read("4x2,threads")); /* overridden nodes are cohorts */
    CHECK(!topology_cohorts().by_cache);
    CHECK_EQUAL(current_cohort(), current_thread() % 4);
    CHECK(topology_choose_cohorts("auto"));
    CHECK(topology_read(""));
}

int main(void)
{
    CHECK(mkdtemp(root));
    check_rule();
    check_many();
    check_holes();
    check_choice();
    CHECK_EQUAL(rmdir(root), 0);
    return 0;
}
