/* SPDX-License-Identifier: MIT */
#ifndef HASP_SIMULATOR_RUN_H
#define HASP_SIMULATOR_RUN_H

/* Runs `count` threads until all have ended, thread i on cpus[i] (-1, or cpus NULL: any
 * CPU). */
void threads_run(unsigned count, const int *cpus,
                 void (*body)(unsigned index, void *argument), void *argument);

#endif
