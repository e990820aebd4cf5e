/* SPDX-License-Identifier: MIT */
/* Reads which CPUs share a last-level cache, from sysfs. */
#ifndef HASP_PLATFORM_NATIVE_COHORTS_H
#define HASP_PLATFORM_NATIVE_COHORTS_H

#include "platform/cohort_rule.h"

enum { COHORT_CPUS_MAX = 8192 }; /* as many as Linux supports */

struct cohorts {
    bool by_cache;
    uint32_t count;
    uint32_t caches, nodes, cpus; /* that are online; no caches: unknown */
};

/* `auto`, `cache` or `node`. Returns false, and changes nothing, for anything else. */
bool cohorts_parse(const char *text, enum cohort_choice *choice);

/* Reads cpu/ and node/ in the folder `root`, and applies the rule. Cohorts are nodes if
 * anything about the caches cannot be read. If they are caches, fills `of_cpu`. Does
 * not allocate memory that stays, and needs no large stack. */
struct cohorts cohorts_read(const char *root, enum cohort_choice choice,
                            uint8_t of_cpu[COHORT_CPUS_MAX]);

#endif
