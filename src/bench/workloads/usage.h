/* SPDX-License-Identifier: MIT */
/* What --help prints: options, workloads with their knobs, and what these mean. */
#ifndef HASP_BENCH_WORKLOADS_USAGE_H
#define HASP_BENCH_WORKLOADS_USAGE_H

void usage_print(const char *program);

#endif
