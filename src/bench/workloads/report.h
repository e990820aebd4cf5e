/* SPDX-License-Identifier: MIT */
/* Prints results and descriptions as JSON lines. */
#ifndef HASP_BENCH_WORKLOADS_REPORT_H
#define HASP_BENCH_WORKLOADS_REPORT_H

#include "bench/workloads/workloads.h"

/* Prints the results of a run; `lock` is NULL for workloads without locks. Returns
 * false if stdout cannot be written. */
bool report_print(const struct run *run, const char *lock);

/* Prints the workloads and their knobs, one JSON object per line. */
void report_workloads(void);

#endif
