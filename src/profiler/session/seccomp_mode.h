/* SPDX-License-Identifier: MIT */
/*
 * A program that installs a seccomp filter may die of the next system call that is not
 * its own. From then on the recorder makes none but to map memory: no sampler, no
 * growing file (it takes its share before), no CPU times.
 */
#ifndef HASP_PROFILER_SESSION_SECCOMP_MODE_H
#define HASP_PROFILER_SESSION_SECCOMP_MODE_H

/* Before the filter is in place. */
void seccomp_mode_begins(void);

#endif
