/* SPDX-License-Identifier: MIT */
/* The program and its libraries: where they are mapped, and which builds they are. */
#ifndef HASP_PROFILER_STORE_MODULES_H
#define HASP_PROFILER_STORE_MODULES_H

#include "profiler/store/series.h"

/* Adds those that are new. Cheap when nothing was loaded since. */
void modules_scan(void);
void modules_forget(void);

#endif
