/* SPDX-License-Identifier: MIT */
/*
 * The operations of lock code on the checked platform. src/explorer implements them and
 * decides their outcome. `function` is the calling function, for counterexamples.
 */
#ifndef HASP_PLATFORM_CHECKED_OPERATIONS_H
#define HASP_PLATFORM_CHECKED_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct held_nodes;

enum checked_order {
    CHECKED_RELAXED = 0,
    CHECKED_ACQUIRE = 1,
    CHECKED_RELEASE = 2,
    CHECKED_ACQ_REL = CHECKED_ACQUIRE | CHECKED_RELEASE,
};

enum checked_change { CHECKED_EXCHANGE, CHECKED_ADD, CHECKED_OR, CHECKED_AND };

/* `size` is in bytes. Arguments are passed in registers only, because everything on a
 * thread's stack is part of the state, even if it is dead. */
uint64_t checked_load(const void *cell, unsigned size, enum checked_order order,
                      const char *function);
void checked_store(const void *cell, unsigned size, uint64_t value,
                   enum checked_order order, const char *function);
uint64_t checked_change(const void *cell, unsigned size, enum checked_change change,
                        uint64_t operand, enum checked_order order,
                        const char *function);
/* A strong compare-and-exchange. Returns the value read; a failure is relaxed. */
uint64_t checked_compare_exchange(const void *cell, unsigned size, uint64_t expected,
                                  uint64_t desired, enum checked_order order,
                                  const char *function);
void checked_fence(const char *function);
void checked_light_barrier(const char *function);
bool checked_heavy_barrier(const char *function);
extern bool checked_without_barrier; /* heavy_barrier() fails */
void checked_relax(const char *function);

/* The deadline {0, 0} has passed; any other may pass at any time. */
bool checked_deadline_passed(bool long_ago, const char *function);
enum checked_deadline { CHECKED_NEVER, CHECKED_LONG_AGO, CHECKED_ANY_TIME };
/* The cells of these operations have four bytes. */
bool checked_park(const void *cell, uint32_t expected, enum checked_deadline deadline,
                  const char *function);
void checked_unpark(const void *cell, uint32_t count, const char *function);
void checked_requeue(const void *from, uint32_t expected, const void *to,
                     const char *function);
uint64_t checked_now_ns(void);

uint32_t checked_spin_limit(void);
uint32_t checked_thread(void);
/* Whether this thread has called thread_dies(); false for 0. */
bool checked_thread_gone(uint32_t thread);
bool checked_threads_can_die(void);
uint32_t checked_node(void);
uint32_t checked_fork_generation(void);
struct held_nodes *checked_held_nodes(void);
uint32_t checked_thread_if_known(void);
void *checked_pages(size_t bytes);
__attribute__((noreturn)) void checked_die(const char *text);

#endif
