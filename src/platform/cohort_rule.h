/* SPDX-License-Identifier: MIT */
/*
 * The rule by which NUMA-aware locks group the CPUs, natively and simulated.
 *
 * A cohort is a NUMA node, or the CPUs of one last-level cache if there are more such
 * caches than nodes and on average COHORT_CPUS_LEAST CPUs share one. With fewer, most
 * threads have their cohort to themselves: simulated with a thread on each CPU, all
 * locks but one gain with 3 CPUs to a cache, and some lose with 2 (docs/cohorts.md).
 * Virtual machines often show a cache for each CPU, which means nothing.
 */
#ifndef HASP_PLATFORM_COHORT_RULE_H
#define HASP_PLATFORM_COHORT_RULE_H

#include <stdbool.h>
#include <stdint.h>

/* Locks have queues for that many cohorts; neighbours share one beyond that. */
enum { COHORTS_MAX = 23, COHORT_CPUS_LEAST = 3 };

enum cohort_choice { COHORTS_AUTO, COHORTS_CACHE, COHORTS_NODE };

/* Returns whether cohorts are last-level caches rather than nodes with CPUs. */
static inline bool cohorts_are_caches(enum cohort_choice choice, uint32_t caches,
                                      uint32_t nodes, uint32_t cpus)
{
    if (choice == COHORTS_AUTO)
        return caches > nodes && cpus / caches >= COHORT_CPUS_LEAST;
    return choice == COHORTS_CACHE && caches > 0;
}

static inline uint32_t cohort_count_of(uint32_t caches)
{
    return caches < COHORTS_MAX ? caches : COHORTS_MAX;
}

/* If there are too many caches, the last ones share cohorts, in pairs if that is
 * enough: the first ones are used first. */
static inline uint32_t cohort_of_cache(uint32_t cache, uint32_t caches)
{
    if (caches > 2 * COHORTS_MAX)
        return cache * COHORTS_MAX / caches;
    const uint32_t alone = 2 * COHORTS_MAX - caches;
    return caches <= COHORTS_MAX || cache < alone ? cache : alone + (cache - alone) / 2;
}

#endif
