/* SPDX-License-Identifier: MIT */
#ifndef HASP_PRELOAD_BARRIER_H
#define HASP_PRELOAD_BARRIER_H

/* Sets the algorithm of barriers that no plan names, by its index in the list; 0:
 * glibc's. */
void barrier_use(unsigned index);

#endif
