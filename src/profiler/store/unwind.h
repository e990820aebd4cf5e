/* SPDX-License-Identifier: MIT */
#ifndef HASP_PROFILER_STORE_UNWIND_H
#define HASP_PROFILER_STORE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* What stands for all locks of one origin: the innermost frames. */
enum { STACKS_SITE_FRAMES = 4 };

/* Where return addresses lie on the calling thread's stack, and which. */
enum { STACKS_PROVEN = 6 };
struct stack_proof {
    uint32_t count;
    const uintptr_t *slot[STACKS_PROVEN];
    uintptr_t value[STACKS_PROVEN];
};

/* Whether they are still there. Only for the stack pointer of then: what lies above it
 * need not be a stack otherwise. */
static inline bool stack_proof_holds(const struct stack_proof *proof)
{
    for (uint32_t i = 0; i < proof->count; i++)
        if (*proof->slot[i] != proof->value[i])
            return false;
    return proof->count != 0;
}

/* Return addresses from `caller` on; how many. */
uint32_t stack_unwind(void *caller, uintptr_t *frames, uint32_t most);
uint32_t stack_unwind_proven(void *caller, uintptr_t *frames, uint32_t most,
                             struct stack_proof *proof);

/* Before anything is locked: the unwinder's own first steps. */
void stacks_warm_up(void);

#endif
