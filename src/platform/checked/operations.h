/* SPDX-License-Identifier: MIT */
/*
 * What lock code does on the checked platform: each of these is implemented by
 * src/explorer, which decides what happens. `function` and `text` say where in the
 * source, for counterexamples.
 */
#ifndef HASP_PLATFORM_CHECKED_OPERATIONS_H
#define HASP_PLATFORM_CHECKED_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum checked_order {
    CHECKED_RELAXED = 0,
    CHECKED_ACQUIRE = 1,
    CHECKED_RELEASE = 2,
    CHECKED_ACQ_REL = CHECKED_ACQUIRE | CHECKED_RELEASE,
};

enum checked_change { CHECKED_EXCHANGE, CHECKED_ADD, CHECKED_OR, CHECKED_AND };

struct checked_cell {
    const void *address;
    unsigned size;
    const char *function, *text;
};

uint64_t checked_load(struct checked_cell cell, enum checked_order order);
void checked_store(struct checked_cell cell, uint64_t value, enum checked_order order);
uint64_t checked_change(struct checked_cell cell, enum checked_change change,
                        uint64_t operand, enum checked_order order);
/* Strong; *expected receives the value seen; a failure is relaxed. */
bool checked_compare_exchange(struct checked_cell cell, uint64_t *expected,
                              uint64_t desired, enum checked_order order);
void checked_fence(const char *function);
bool checked_heavy_barrier(const char *function);
void checked_relax(const char *function);

/* Deadlines: {0, 0} is long ago, anything else may strike at any time. */
bool checked_deadline_passed(bool long_ago, const char *function);
enum checked_deadline { CHECKED_NEVER, CHECKED_LONG_AGO, CHECKED_ANY_TIME };
bool checked_park(struct checked_cell cell, uint32_t expected,
                  enum checked_deadline deadline);
void checked_unpark(struct checked_cell cell, uint32_t count);
void checked_requeue(struct checked_cell from, uint32_t expected,
                     struct checked_cell to);
uint64_t checked_now_ns(void);

uint32_t checked_spin_limit(void);
uint32_t checked_thread(void);
uint32_t checked_node(void);
uint32_t checked_fork_generation(void);
void *checked_pages(size_t bytes);
__attribute__((noreturn)) void checked_die(const char *text);

#endif
