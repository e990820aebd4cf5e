/* SPDX-License-Identifier: MIT */
/* CPUs and NUMA nodes that this process may use. */
#ifndef HASP_PLATFORM_NATIVE_TOPOLOGY_H
#define HASP_PLATFORM_NATIVE_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the affinity mask, the cgroup quota and the nodes from sysfs. `override` is
 * NULL or "" for the real topology, or for tests "NODESxCPUS", "2x4" being two nodes of
 * four CPUs:
 *   2x4           the real CPUs are assigned to nodes round robin
 *   2x4,threads   a thread stays on one node, chosen by its id
 *   2x4,roam      each call of current_node() returns the next node, as if threads
 *                 migrated all the time
 * Returns false, and uses the real topology, if the override does not parse. */
bool topology_read(const char *override);

uint32_t cpu_count(void);
uint32_t node_count(void);
uint32_t current_node(void);

#endif
