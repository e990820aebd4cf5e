/* SPDX-License-Identifier: MIT */
/* The results of a run as a line of JSON. */
#ifndef HASP_BENCH_WORKLOADS_REPORT_H
#define HASP_BENCH_WORKLOADS_REPORT_H

#include "bench/workloads/workloads.h"

/* `lock` is NULL for workloads without locks. False: it could not be written. */
bool report_print(const struct run *run, const char *lock);

/* The workloads and their knobs, one JSON object a line. */
void report_workloads(void);

#endif
