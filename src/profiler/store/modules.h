/* SPDX-License-Identifier: MIT */
/* The mappings and build-ids of the program and its libraries. */
#ifndef HASP_PROFILER_STORE_MODULES_H
#define HASP_PROFILER_STORE_MODULES_H

#include "profiler/store/series.h"

/* Adds new modules. Cheap when nothing was loaded since the last call. */
void modules_scan(void);
void modules_forget(void);

/* Returns whether an address is in a module that has been added. */
bool modules_contain(uint64_t address);

#endif
