/* SPDX-License-Identifier: MIT */
/*
 * index3 is the last-level cache wherever a node can have several. Only the first CPU
 * of each cache is looked up, so a server takes a few dozen small reads.
 */
#include "platform/native/cohorts.h"

#include "platform/native/small_file.h"
#include "platform/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum { CACHES_MAX = UINT8_MAX, LIST_BYTES = 8192 };

/* What takes too much space for a stack. */
struct scratch {
    uint8_t cache_of[COHORT_CPUS_MAX]; /* number of the cache + 1, or 0 */
    char online[LIST_BYTES], sharing[LIST_BYTES];
};

struct range {
    unsigned long first, last;
};

/* Takes the next range off a list such as "0-3,8\n". */
static bool next_range(const char **list, struct range *range)
{
    char *end;
    if (**list < '0' || **list > '9')
        return false;
    range->first = range->last = strtoul(*list, &end, 10);
    if (*end == '-')
        range->last = strtoul(end + 1, &end, 10);
    *list = *end == ',' ? end + 1 : end;
    return range->first <= range->last && range->last < COHORT_CPUS_MAX;
}

static bool read_list(const char *root, const char *name, char list[LIST_BYTES])
{
    char path[256];
    int length = snprintf(path, sizeof path, "%s/%s", root, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    long got = small_file_read(path, list, LIST_BYTES);
    return got > 0 && got < LIST_BYTES - 1; /* else it may have been cut */
}

static uint32_t count_of(const char *list)
{
    struct range range;
    uint32_t count = 0;
    while (next_range(&list, &range))
        count += (uint32_t)(range.last - range.first) + 1;
    return count;
}

/* Marks the CPUs that share the cache of `cpu`. Returns false if it cannot be read. */
static bool mark_sharers(const char *root, unsigned long cpu, uint32_t cache,
                         struct scratch *scratch)
{
    char name[64];
    const char *list = scratch->sharing;
    struct range range;
    snprintf(name, sizeof name, "cpu/cpu%lu/cache/index3/shared_cpu_list", cpu);
    if (cache == CACHES_MAX || !read_list(root, name, scratch->sharing))
        return false;
    while (next_range(&list, &range))
        memset(scratch->cache_of + range.first, (int)cache + 1,
               range.last - range.first + 1);
    return scratch->cache_of[cpu] == cache + 1;
}

/* Returns the number of caches of the online CPUs, or 0 if one cannot be read. */
static uint32_t find_caches(const char *root, struct scratch *scratch)
{
    const char *list = scratch->online;
    struct range range;
    uint32_t caches = 0;
    while (next_range(&list, &range))
        for (unsigned long cpu = range.first; cpu <= range.last; cpu++)
            if (!scratch->cache_of[cpu] &&
                !mark_sharers(root, cpu, caches++, scratch))
                return 0;
    return caches;
}

static struct cohorts find_cohorts(const char *root, enum cohort_choice choice,
                           struct scratch *scratch, uint8_t of_cpu[COHORT_CPUS_MAX])
{
    struct cohorts found = {.nodes = 1};
    if (read_list(root, "node/has_cpu", scratch->sharing))
        found.nodes = count_of(scratch->sharing);
    found.count = found.nodes = found.nodes ? found.nodes : 1;
    if (!read_list(root, "cpu/online", scratch->online))
        return found;
    found.cpus = count_of(scratch->online);
    found.caches = find_caches(root, scratch);
    found.by_cache = found.caches && cohorts_are_caches(choice, found.caches,
                                                        found.nodes, found.cpus);
    if (!found.by_cache)
        return found;
    found.count = cohort_count_of(found.caches);
    for (unsigned cpu = 0; cpu < COHORT_CPUS_MAX; cpu++)
        of_cpu[cpu] = scratch->cache_of[cpu]
                          ? (uint8_t)cohort_of_cache(scratch->cache_of[cpu] - 1u,
                                                     found.caches)
                          : 0;
    return found;
}

bool cohorts_parse(const char *text, enum cohort_choice *choice)
{
    static const char *const names[] = {
        [COHORTS_AUTO] = "auto", [COHORTS_CACHE] = "cache", [COHORTS_NODE] = "node"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i]) == 0) {
            *choice = (enum cohort_choice)i;
            return true;
        }
    return false;
}

struct cohorts cohorts_read(const char *root, enum cohort_choice choice,
                            uint8_t of_cpu[COHORT_CPUS_MAX])
{
    struct scratch *scratch = map_pages(sizeof *scratch);
    if (!scratch)
        return (struct cohorts){.count = 1, .nodes = 1};
    struct cohorts found = find_cohorts(root, choice, scratch, of_cpu);
    raw_syscall(SYS_munmap, (long)scratch, sizeof *scratch, 0, 0, 0, 0);
    return found;
}
