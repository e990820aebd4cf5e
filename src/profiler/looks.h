/* SPDX-License-Identifier: MIT */
/* A look at all threads: the locks that somebody waits for, and whether by spinning. */
#ifndef HASP_PROFILER_LOOKS_H
#define HASP_PROFILER_LOOKS_H

#include "profiler/file.h"

void looks_look(uint32_t tick);
void looks_forget(void);

#endif
