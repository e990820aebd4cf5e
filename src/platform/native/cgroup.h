/* SPDX-License-Identifier: MIT */
#ifndef HASP_PLATFORM_NATIVE_CGROUP_H
#define HASP_PLATFORM_NATIVE_CGROUP_H

#include <stdint.h>

/* Returns the tightest CPU quota of this process's cgroup and its ancestors, in CPUs,
 * rounded up; 0 if there is none. `membership` is the path of /proc/self/cgroup, `root`
 * of /sys/fs/cgroup, both of which may be v1, v2 or both. */
uint32_t cgroup_cpus(const char *membership, const char *root);

#endif
