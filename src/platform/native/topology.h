/* SPDX-License-Identifier: MIT */
/* CPUs and NUMA nodes that this process may use. */
#ifndef HASP_PLATFORM_NATIVE_TOPOLOGY_H
#define HASP_PLATFORM_NATIVE_TOPOLOGY_H

#include "platform/native/cohorts.h"

/* Reads the affinity mask, the cgroup quota and the nodes from sysfs. `override` is
 * NULL or "" for the real topology, or for tests "NODESxCPUS", "2x4" being two nodes of
 * four CPUs:
 *   2x4           the real CPUs are assigned to nodes round robin
 *   2x4,threads   a thread stays on one node, chosen by its id
 *   2x4,roam      each call of current_node() returns the next node, as if threads
 *                 migrated all the time
 * Returns false, and uses the real topology, if the override does not parse. */
bool topology_read(const char *override);

/* Chooses what cohorts are, "auto", "cache" or "node". Returns false, and changes
 * nothing, for anything else. Call this before topology_read(): overridden nodes are
 * cohorts, whatever the choice. */
bool topology_choose_cohorts(const char *choice);

struct cohorts topology_cohorts(void);

uint32_t cpu_count(void);
uint32_t array_slots(void);
uint32_t node_count(void);
uint32_t current_node(void);
uint32_t current_cohort(void);

#endif
