/* SPDX-License-Identifier: MIT */
/*
 * The threads of a process that borrows sections (borrowing/request.h).
 *
 * B1. While a thread's request is OFFERED or BORROWED, its kernel thread is on the
 *     waiting stack of its record, uses no thread-local variable, and calls nothing
 *     that may. So nobody else uses its thread pointer while a borrower does.
 * B2. `registers.runner` is not NULL from before a stretch begins until after it has
 *     ended; the borrower alone changes it. A context whose stack pointer is outside
 *     the waiting stack is in a stretch exactly while it is not NULL.
 * B3. A function that may block, names the kernel's thread, or changes it, hands the
 *     stretch back first (functions.def): it then runs on the owner's kernel thread.
 * B4. A signal that arrives at a borrower in a stretch hands it back, too, whatever it
 *     interrupts, and is then delivered to the borrower in its own context; one that
 *     arrives at a waiting owner is delivered after it has left its waiting stack
 *     (signals.c).
 * B5. An owner whose stretch takes long sends the borrower a signal of Hasp's own, so
 *     that B4 ends the stretch. Hence a stretch that blocks, spins or computes delays
 *     the borrower for two slices, and not for ever.
 */
#ifndef HASP_PRELOAD_BORROWING_THREAD_H
#define HASP_PRELOAD_BORROWING_THREAD_H

#include "borrowing/run.h"
#include "platform/native/registers.h"
#include "preload/borrowing/borrowing.h"

enum { BORROW_SLICE_MS = 10, WAITING_STACK_BYTES = 65536 };

struct borrow_thread {
    struct registers registers; /* first: functions.c reads the runner */
    struct borrow_thread *next; /* of all records; never unlinked */
    struct lock *lock;          /* the lock that it waits for, or holds in a stretch */
    struct waiter *request;
    void *context;    /* of an interrupted stretch that was handed back, or NULL */
    uint64_t mask;    /* the signal mask to restore, if `masked` */
    struct atomic_u32 masked;  /* signals were kept from the waiting stack */
    struct atomic_u32 borrows; /* it is between borrow_begin() and borrow_end() */
    struct atomic_u32 thread;  /* its id; 0 while nobody uses the record */
    uint64_t ended[STRETCH_HANDED_BACK + 1]; /* stretches that it ran, by their end */
    uint64_t interrupted;                    /* those that a signal handed back */
};

/* The calling thread's record; NULL until it first waits or borrows. */
extern __thread struct borrow_thread *borrow_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The alternate signal stack that the thread has set, from its beginning to its end. */
struct borrow_alternate {
    uint64_t begin, end;
};
extern __thread struct borrow_alternate borrow_alternate
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline bool borrow_in_stretch(void)
{
    const struct borrow_thread *self = borrow_self;
    return unlikely(self && self->registers.runner);
}

/* Whether this process borrows; set by borrow_prepare(). */
extern struct atomic_u32 borrowing __attribute__((visibility("hidden")));

/* How long an owner sleeps until it looks after its stretch (B5). */
extern uint64_t borrow_slice_ns __attribute__((visibility("hidden")));

/* The signal of B5, or 0. */
extern int borrow_signal __attribute__((visibility("hidden")));

/* Returns whether the stack pointer is on the record's waiting stack. */
static inline bool borrow_waits(const struct borrow_thread *self, uint64_t stack)
{
    uint64_t end = (uint64_t)self; /* the stack is below the record */
    return stack <= end && stack > end - WAITING_STACK_BYTES;
}

/* Stretches of the process. */
struct borrow_counts {
    uint64_t unlocked, handed_back, interrupted;
};
struct borrow_counts borrow_counts(void);

/* The key whose destructor gives a thread's record back. */
void borrow_watch_threads(void);

/* Sends the signal of B5 to the thread of a record. */
void borrow_kick(struct borrow_thread *thread);

/* Sets the signal mask of the kernel's thread (its first 64 bits). */
void borrow_set_mask(uint64_t mask);

#endif
