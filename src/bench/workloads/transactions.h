/* SPDX-License-Identifier: MIT */
/* Counts of the hardware transactions of elided sections, by how they ended. */
#ifndef HASP_BENCH_WORKLOADS_TRANSACTIONS_H
#define HASP_BENCH_WORKLOADS_TRANSACTIONS_H

#include <stdint.h>

enum transaction_end {
    ENDED_COMMITTED,
    ENDED_CONFLICT,
    ENDED_CAPACITY, /* too many lines, or nested too deeply */
    ENDED_BUSY,     /* the lock was held */
    ENDED_TRYLOCK,  /* a trylock inside */
    ENDED_OTHER,    /* a system call or an interrupt */
    TRANSACTION_ENDS,
};

struct transactions {
    uint64_t begun, ended[TRANSACTION_ENDS];
};

#endif
