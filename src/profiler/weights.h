/* SPDX-License-Identifier: MIT */
/* Where time went: waits and holds by lock and stack (TRACE_WEIGHTS). */
#ifndef HASP_PROFILER_WEIGHTS_H
#define HASP_PROFILER_WEIGHTS_H

#include "profiler/file.h"

/* Summed up in the thread's own memory, and written now and then. */
void weights_wait(struct recording *me, uint32_t lock, uint32_t stack, uint64_t waited);
void weights_hold(struct recording *me, uint32_t lock, uint32_t stack, uint64_t weight,
                  uint64_t held);

/* Writes what is left. */
void weights_flush(struct recording *me);

bool weights_map(void);
void weights_forget(void);

#endif
