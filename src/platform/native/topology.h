/* SPDX-License-Identifier: MIT */
/* CPUs and NUMA nodes as this process may use them. */
#ifndef HASP_PLATFORM_NATIVE_TOPOLOGY_H
#define HASP_PLATFORM_NATIVE_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

enum { TOPOLOGY_CPUS_MAX = 1024 };

/* Reads affinity, cgroup quota and sysfs once. `override` is NULL or "" for what is
 * really there, or for tests "NODESxCPUS" ("2x4": two nodes of four CPUs):
 *   2x4           laid over the real CPUs round robin
 *   2x4,threads   a thread stays on one node, picked by its id
 *   2x4,roam      the node changes each time that any thread asks: threads migrate
 *                 wherever they can
 * Returns false, with the real topology in force, when the override does not parse. */
bool topology_read(const char *override);

uint32_t cpu_count(void);
uint32_t node_count(void);
uint32_t current_node(void);

#endif
