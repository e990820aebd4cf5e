/* SPDX-License-Identifier: MIT */
/*
 * Transparent delegation, for the rest of the interposer. BORROWS is 1 in
 * libhasp-delegate.so, which `hasp run --lock delegate` preloads instead of libhasp.so.
 */
#ifndef HASP_PRELOAD_BORROWING_BORROWING_H
#define HASP_PRELOAD_BORROWING_BORROWING_H

#include "platform/borrows.h"

#include <stdbool.h>

struct lock;

struct borrow_environment {
    const char *off;        /* HASP_BORROWING: "never" forbids it */
    const char *slice_ms;   /* HASP_BORROWING_SLICE_MS */
    const char *statistics; /* HASP_BORROWING_STATISTICS: a file to append to */
    const char *preloaded;  /* LD_PRELOAD */
};

/* Makes the process borrow sections, or says why it does not. */
void borrow_prepare(struct borrow_environment with);

/* In the child of a fork. */
void borrow_forked(void);

/* If the caller is in a borrowed stretch, continues on the owner's kernel thread. */
void borrow_hand_back(void);

/* Ends borrowing for good: returns when no stretch lasts. Called before a thread
 * changes its identity in the kernel. */
void borrow_stop(void);

/* At the entry of functions that may block or that depend on the kernel's thread. */
static inline void before_kernel(void)
{
    if (BORROWS)
        borrow_hand_back();
}

/* At the unlock of a mutex: only that of the stretch's own lock may end the stretch. */
void borrow_before_unlock(const struct lock *lock);

static inline void before_unlock(const struct lock *lock)
{
    if (BORROWS)
        borrow_before_unlock(lock);
}

#endif
