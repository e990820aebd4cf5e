/* SPDX-License-Identifier: MIT */
/* The state of transactions that are undone. Private to undo*.c. */
#ifndef HASP_PLATFORM_NATIVE_UNDO_STATE_H
#define HASP_PLATFORM_NATIVE_UNDO_STATE_H

#include "platform/native/undo.h"
#include "platform/platform.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>

enum {
    PAGE = 4096,
    PAGES = 1024,   /* capacity */
    REGIONS = 512,
    THREADS = 256,
    STACK_COUNT = THREADS + 2, /* also the owner's, and its descriptor */
    STACKS = 8 << 20, /* bytes, of all stacks together */
    DISPATCH = 59, DISPATCH_OFF = 0, DISPATCH_ON = 1, /* prctl */
    PATIENCE = 20000, /* yields until a thread that does not stop is given up */
};

struct region {
    uintptr_t begin, end;
};

/* In memory that is shared, and therefore neither protected nor rolled back. */
struct undo {
    struct atomic_u32 owner; /* 1: a thread has begun */
    struct atomic_u32 epoch, stopping, stopped;
    uint32_t depth;
    const void *thread; /* the owner's thread-local storage */
    volatile uint8_t blocks; /* system calls of the owner */
    bool open, decided;
    uint32_t status, random, aborts_after; /* writes; 0: at the end; UINT32_MAX: no */
    uint32_t region_count, page_count, stack_count;
    jmp_buf at_begin;
    stack_t before; /* the owner's alternate stack */
    uint32_t tids[THREADS];
    uintptr_t tops[THREADS]; /* of stopped threads: stack pointers */
    struct region regions[REGIONS], stacks[STACK_COUNT];
    uintptr_t pages[PAGES];
    char maps[1 << 18], handler_stack[1 << 16], stack_copies[STACKS];
    char page_copies[PAGES][PAGE];
};

extern struct undo *undo __attribute__((visibility("hidden")));

/* Makes a system call without errno, which is protected memory. */
static inline long call(long number, long a, long b, long c, long d)
{
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

/* Stops all other threads. Returns false if one does not stop. */
bool undo_stop_others(void);
void undo_let_others_go(void);
void undo_stopped(int signal, siginfo_t *info, void *context);

/* Copies the used part of all stacks, the caller's from `mine` on, and protects all
 * other private memory. Returns false if there is too much. */
bool undo_protect(uintptr_t mine);
void undo_unprotect(void);
bool undo_is_protected(uintptr_t address);
void undo_save_page(uintptr_t page);
void undo_restore(void);

#endif
