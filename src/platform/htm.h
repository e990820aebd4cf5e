/* SPDX-License-Identifier: MIT */
/*
 * Hardware transactions: an optional part of the platform contract. (The transactions
 * of src/structures/transaction/ are software.)
 *
 * htm_offered() returns whether the machine has them. If not, no other function of this
 * header may be called.
 *
 * htm_begin() returns HTM_STARTED; everything up to the matching htm_commit() then
 * takes effect at once or not at all. If the transaction aborts, the outermost
 * htm_begin() returns a second time, with the stack and all cells as they were at the
 * first, and a status that gives the reason. HTM_RETRY means that another attempt may
 * succeed. Nesting is flat: an abort rolls back every level, and only the outermost
 * commit takes effect.
 *
 * A transaction aborts when another thread writes a line that it has read or written,
 * or reads a line that it has written (the responder loses); when it accesses more
 * lines than the caches can track; when it nests too deeply; on an interrupt; when it
 * parks, wakes another thread or yields; and on htm_abort(code). On a simulated
 * machine, plain variables outside the stack are not rolled back.
 *
 * htm_depth() returns the caller's nesting level; 0 outside a transaction.
 *
 * htm_emulated() returns whether transactions are emulated for tests: they are neither
 * isolated nor rolled back, and htm_abort() returns. The caller then has to exclude
 * other threads itself, before its transaction reads or writes anything. An inner
 * htm_begin() may return the status of an abort, too.
 *
 * htm_thread() returns the calling thread's HTM_THREAD_WORDS words, zero in a new
 * thread, for the code that elides locks; it may be called in any case.
 * htm_thread_begins(), called outside a
 * transaction, requests a call of elision_thread_ends() when the thread ends.
 */
#ifndef HASP_PLATFORM_HTM_H
#define HASP_PLATFORM_HTM_H

#include <stdbool.h>
#include <stdint.h>

/* The bits of a status are those of x86's RTM. */
#define HTM_STARTED UINT32_MAX
enum {
    HTM_EXPLICIT = 1,
    HTM_RETRY = 2,
    HTM_CONFLICT = 4,
    HTM_CAPACITY = 8,
    HTM_DEBUG = 16,
    HTM_NESTED = 32, /* with other bits: aborted in an inner transaction */
};

enum { HTM_THREAD_WORDS = 120 };

/* Returns the code that was passed to htm_abort(). */
static inline uint8_t htm_code(uint32_t status)
{
    return (uint8_t)(status >> 24);
}

/* Returns the status of a transaction that htm_abort(code) aborts. */
static inline uint32_t htm_explicit(uint8_t code)
{
    return HTM_EXPLICIT | (uint32_t)code << 24;
}

bool htm_offered(void);
uint32_t htm_begin(void);
void htm_commit(void);
void htm_abort(uint8_t code);
unsigned htm_depth(void);
bool htm_emulated(void);
void *htm_thread(void);
void htm_thread_begins(void);

#endif
