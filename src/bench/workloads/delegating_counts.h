/* SPDX-License-Identifier: MIT */
/* What an object or a server has done; see include/hasp/delegate.h. */
#ifndef HASP_BENCH_WORKLOADS_DELEGATING_COUNTS_H
#define HASP_BENCH_WORKLOADS_DELEGATING_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct delegating_counts {
    uint64_t sections, holds, longest, lines, serialised, replaced;
    bool of_server;
};

#endif
