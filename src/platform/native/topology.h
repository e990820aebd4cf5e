/* SPDX-License-Identifier: MIT */
/* CPUs and NUMA nodes as this process may use them. */
#ifndef HASP_PLATFORM_NATIVE_TOPOLOGY_H
#define HASP_PLATFORM_NATIVE_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

enum { TOPOLOGY_CPUS_MAX = 1024 };

/* Reads affinity, cgroup quota and sysfs once. `override` is "NODESxCPUS" ("2x4": two
 * nodes of four CPUs, laid over the real CPUs round robin), NULL or "" for the real
 * ones. Returns false, with the real topology in force, when the override does not
 * parse. */
bool topology_read(const char *override);

uint32_t cpu_count(void);
uint32_t node_count(void);
uint32_t current_node(void);

#endif
