/* SPDX-License-Identifier: MIT */
/*
 * The threads of a client: coroutines on stacks of their own, whose contents can be
 * saved and brought back, so that the search returns to an earlier state without doing
 * anything again.
 */
#include "explorer/model.h"

#include <string.h>
#include <ucontext.h>

enum { STACK = 64 << 10, CLEARED = 4096 };

static char stacks[THREADS][STACK] __attribute__((aligned(64)));
static void *contexts[THREADS][5]; /* of __builtin_setjmp: frame, label, stack, ... */
static void *searcher[5];
static int current;

bool on_a_stack(const void *address)
{
    const char *at = address;
    return at >= stacks[0] && at < stacks[THREADS];
}

/* What the explorer's own functions leave behind on a thread's stack would show in the
 * gaps of the frames that come to lie there, and tell equal states apart. */
__attribute__((noinline, noipa)) void coroutine_wipe(void)
{
    char dead[1024];
    memset(dead, 0, sizeof dead);
    __asm__ volatile("" : : "r"(dead) : "memory");
}

/* Apart, so that the compiler sees the other function's setjmp return. */
static __attribute__((noinline, noipa)) void enter(void **context)
{
    __builtin_longjmp(context, 1);
}

/* All registers that a call preserves are on the stack across __builtin_setjmp. */
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

/* The rest of the stack is dead; wiping it makes equal states equal byte by byte. */
size_t coroutine_save(int thread, unsigned char *into)
{
    char *from = live_from(thread);
    size_t size = (size_t)(stacks[thread] + STACK - from);
    char *wiped = from - CLEARED > stacks[thread] ? from - CLEARED : stacks[thread];
    memset(wiped, 0, (size_t)(from - wiped));
    memcpy(into, contexts[thread], sizeof contexts[thread]);
    memcpy(into + sizeof contexts[thread], from, size);
    return sizeof contexts[thread] + size;
}

size_t coroutine_restore(int thread, const unsigned char *saved)
{
    memcpy(contexts[thread], saved, sizeof contexts[thread]);
    char *from = live_from(thread);
    size_t size = (size_t)(stacks[thread] + STACK - from);
    char *wiped = from - CLEARED > stacks[thread] ? from - CLEARED : stacks[thread];
    memset(wiped, 0, (size_t)(from - wiped));
    memcpy(from, saved + sizeof contexts[thread], size);
    return sizeof contexts[thread] + size;
}
