/* SPDX-License-Identifier: MIT */
#ifndef HASP_PROFILER_STORE_UNWIND_H
#define HASP_PROFILER_STORE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* The innermost frames that identify a site. */
enum { STACKS_SITE_FRAMES = 4 };

/* The innermost return addresses and their locations on the stack. */
enum { STACKS_PROVEN = 6 };
struct stack_proof {
    uint32_t count;
    const uintptr_t *slot[STACKS_PROVEN];
    uintptr_t value[STACKS_PROVEN];
};

/* Returns whether the addresses are still at these locations. The stack pointer must be
 * unchanged since then; otherwise the memory above it may not be a stack. */
static inline bool stack_proof_holds(const struct stack_proof *proof)
{
    for (uint32_t i = 0; i < proof->count; i++)
        if (*proof->slot[i] != proof->value[i])
            return false;
    return proof->count != 0;
}

/* Stores the return addresses from `caller` on. Returns their number, at least 1. */
uint32_t stack_unwind(void *caller, uintptr_t *frames, uint32_t most);
uint32_t stack_unwind_proven(void *caller, uintptr_t *frames, uint32_t most,
                             struct stack_proof *proof);

/* Lets the unwinder initialise itself before any lock is held. */
void stacks_warm_up(void);

#endif
