/* SPDX-License-Identifier: MIT */
#ifndef HASP_SIMULATOR_RUN_H
#define HASP_SIMULATOR_RUN_H

/* Makes `count` threads with these bodies, on these CPUs (-1, or NULL: any), and runs
 * them to their end. */
void threads_run(unsigned count, const int *cpus,
                 void (*body)(unsigned index, void *argument), void *argument);

#endif
