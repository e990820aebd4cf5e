/* SPDX-License-Identifier: MIT */
/* Barriers whose algorithm is chosen when the program runs. */
#ifndef HASP_LIBRARY_BARRIER_H
#define HASP_LIBRARY_BARRIER_H

#include "barriers/barrier.h"

/* Returns 0 or EINVAL. */
int barrier_prepare(struct barrier *barrier, const char *name, unsigned count);

/* Returns true in one thread of each phase. */
bool barrier_meet(struct barrier *barrier);

/* Returns 0. */
int barrier_give_up(struct barrier *barrier);

#endif
