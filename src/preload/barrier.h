/* SPDX-License-Identifier: MIT */
#ifndef HASP_PRELOAD_BARRIER_H
#define HASP_PRELOAD_BARRIER_H

/* Selects the algorithm of barriers that no plan names; NULL or "": glibc's. Ends the
 * process with a message if there is none of that name. */
void barrier_choose(const char *name);

#endif
