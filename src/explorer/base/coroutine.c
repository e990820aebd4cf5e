/* SPDX-License-Identifier: MIT */
#include "explorer/base/coroutine.h"

#include "explorer/base/limits.h"

#include <stdbool.h>
#include <string.h>
#include <ucontext.h>

enum { STACK = 64 << 10, WIPED = 1024 };

static char stacks[THREADS][STACK] __attribute__((aligned(64)));
static void *contexts[THREADS][5]; /* of __builtin_setjmp: frame, label, stack, ... */
static void *searcher[5];
static int current;

int stack_of(const void *address)
{
    const char *at = address;
    bool is_one = at >= stacks[0] && at < stacks[0] + sizeof stacks;
    return is_one ? (int)((at - stacks[0]) / STACK) : -1;
}

/* The explorer's own functions leave values on a thread's stack. Later frames have gaps
 * in which these values would show, and equal states would compare as different. */
__attribute__((noinline, noipa)) void coroutine_wipe(void)
{
    char dead[WIPED];
    memset(dead, 0, sizeof dead);
    __asm__ volatile("" : : "r"(dead) : "memory");
}

/* This is a function of its own, because the target of __builtin_longjmp must be in
 * another function.
 */
static __attribute__((noinline, noipa)) void enter(void **context)
{
    __builtin_longjmp(context, 1);
}

/* __builtin_setjmp makes the compiler spill all call-preserved registers. */
__attribute__((noinline)) void coroutine_yield(void)
{
    if (!__builtin_setjmp(contexts[current]))
        enter(searcher);
}

__attribute__((noinline)) void coroutine_resume(int thread)
{
    current = thread;
    if (!__builtin_setjmp(searcher))
        enter(contexts[thread]);
}

__attribute__((noinline)) void coroutine_start(int thread, void (*body)(void))
{
    static ucontext_t first, back;
    memset(stacks[thread], 0, STACK);
    getcontext(&first);
    first.uc_stack.ss_sp = stacks[thread];
    first.uc_stack.ss_size = STACK;
    first.uc_link = NULL;
    makecontext(&first, body, 0);
    current = thread;
    if (!__builtin_setjmp(searcher))
        swapcontext(&back, &first);
}

static char *live_from(int thread)
{
    return (char *)contexts[thread][2];
}

uint64_t coroutine_digest(int thread)
{
    const char *at = live_from(thread), *end = stacks[thread] + STACK;
    uint64_t digest = (uint64_t)(end - at), word;
    for (; at + sizeof word <= end; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        digest = (digest ^ word) * 0x9e3779b97f4a7c15;
        digest ^= digest >> 29;
    }
    return digest;
}

/* Saves the registers and the live part of the stack. */
size_t coroutine_save(int thread, unsigned char *into)
{
    char *from = live_from(thread);
    size_t size = (size_t)(stacks[thread] + STACK - from);
    memcpy(into, contexts[thread], sizeof contexts[thread]);
    memcpy(into + sizeof contexts[thread], from, size);
    return sizeof contexts[thread] + size;
}

size_t coroutine_restore(int thread, const unsigned char *saved)
{
    memcpy(contexts[thread], saved, sizeof contexts[thread]);
    char *from = live_from(thread);
    size_t size = (size_t)(stacks[thread] + STACK - from);
    memcpy(from, saved + sizeof contexts[thread], size);
    return sizeof contexts[thread] + size;
}
