/* SPDX-License-Identifier: MIT */
/*
 * Stacks: taken within a budget, kept once each.
 *
 * A thread looks a stack up by the return address and the stack pointer first. Two
 * callers of one wrapper may agree in both; so it also keeps where the next return
 * addresses lay on the stack, and sees whether they are still there. It unwinds what is
 * new, but only while it has spent little of its time on that; else the last stack of
 * the same return address has to do. Not so for origins of locks, which are always
 * exact.
 */
#ifndef HASP_PROFILER_STACKS_H
#define HASP_PROFILER_STACKS_H

#include "profiler/file.h"

/* What stands for all locks of one origin: the innermost frames. */
enum { STACKS_SITE_FRAMES = 4 };

/* The number of the stack that begins with `caller`, or 0. */
uint32_t stack_take(struct recording *me, void *caller);

/* The same, whatever it takes: for what names a lock. */
uint32_t stack_of_origin(struct recording *me, void *caller);

/* What was known of the stack of an earlier thread with the same record is gone. */
void stacks_begin_thread(struct recording *me);

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

/* The same for frames that are at hand. */
uint32_t stack_intern(const uintptr_t *frames, uint32_t depth);

/* Return addresses from `caller` on; how many. */
uint32_t stack_unwind(void *caller, uintptr_t *frames, uint32_t most);
uint32_t stack_unwind_proven(void *caller, uintptr_t *frames, uint32_t most,
                             struct stack_proof *proof);

/* The stack that stands for those with the same innermost frames. */
uint32_t stack_site(uint32_t stack);

/* Before anything is locked: the unwinder's own first steps. */
void stacks_warm_up(void);
bool stacks_map(void);
void stacks_forget(void);

#endif
