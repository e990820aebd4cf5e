/* SPDX-License-Identifier: MIT */
/* What is a bug whatever the program does next. */
#ifndef HASP_PROFILER_BUGS_H
#define HASP_PROFILER_BUGS_H

#include "profiler/file.h"

/* The lock is taken and the caller will wait for it. */
void bugs_before_wait(struct recording *me, uint32_t lock, const void *object,
                      const struct record_as *as, void *caller);

#endif
