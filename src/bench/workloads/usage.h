/* SPDX-License-Identifier: MIT */
/* Prints the text of --help: options, workloads and knobs. */
#ifndef HASP_BENCH_WORKLOADS_USAGE_H
#define HASP_BENCH_WORKLOADS_USAGE_H

void usage_print(const char *program);

#endif
