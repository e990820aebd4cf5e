/* SPDX-License-Identifier: MIT */
/*
 * Parks a thread's registers on its stack, so that another thread can continue there,
 * with the first one's thread pointer (fs base).
 *
 * A signal may arrive at any instruction. Each of the two switches has one instruction
 * that commits it, the load of the stack pointer: registers_settle() takes a thread
 * that was interrupted before it back to the beginning, and any other to the end.
 */
#ifndef HASP_PLATFORM_NATIVE_REGISTERS_H
#define HASP_PLATFORM_NATIVE_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers that are parked at the top of a stack. */
struct registers {
    uint64_t stack;           /* the stack pointer */
    uint64_t thread_pointer;  /* the fs base */
    struct registers *runner; /* of the thread that continued here, and that clears it
                               * when it is back; or NULL */
};

/* Returns why this process cannot switch stacks and thread pointers, as the end of a
 * sentence, or NULL. */
const char *registers_obstacle(void);

/* Parks the caller's registers in `own`, calls wait(own) on another stack, and returns
 * what that returns. Or returns what registers_enter() has told another thread to
 * return here. */
uint32_t registers_park(struct registers *own, void *stack_end,
                        uint32_t (*wait)(struct registers *own));

/* Parks the caller's registers in `own` and continues at `other`, whose
 * registers_park() or _leave() returns `value` there. Returns what registers_leave() or
 * registers_resume() is told. */
uint32_t registers_enter(struct registers *own, struct registers *other,
                         uint32_t value);

/* Parks the caller's registers in `own` and continues at own->runner. Returns 0 at once
 * if that is NULL; otherwise what the thread that owns the registers returns from its
 * wait. */
uint32_t registers_leave(struct registers *own, uint32_t value);

/* Continues at `own` without parking anything: in a signal handler. */
__attribute__((noreturn)) void registers_resume(struct registers *own, uint32_t value);

/* In a signal handler with this context: makes the interrupted thread either begin its
 * switch again or have completed it. Uses no thread-local variable, and afterwards the
 * thread pointer fits the context. */
void registers_settle(void *context);

/* The interrupted stack pointer, and the signal mask that the context restores (its
 * first 64 bits). */
uint64_t context_stack(const void *context);
uint64_t *context_mask(void *context);

/* Returns a copy of the context below its own stack pointer if it is elsewhere (on an
 * alternate stack), so that it lasts as long as the stack. */
void *context_keep(void *context);

/* Continues at the context, on the thread that owns it, with this signal mask. */
__attribute__((noreturn)) void context_resume(void *context, uint64_t mask);

#endif
