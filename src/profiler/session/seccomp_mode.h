/* SPDX-License-Identifier: MIT */
/*
 * A program that installs a seccomp filter may be killed by the recorder's next system
 * call. From then on the recorder only maps memory: there is no sampler, the file does
 * not grow (chunks are reserved in advance), and CPU times are not read.
 */
#ifndef HASP_PROFILER_SESSION_SECCOMP_MODE_H
#define HASP_PROFILER_SESSION_SECCOMP_MODE_H

/* Called before the filter is installed. */
void seccomp_mode_begins(void);

#endif
