/* SPDX-License-Identifier: MIT */
/*
 * Operations of the simulated platform, implemented by src/simulator. Each costs the
 * running thread simulated time. Outside workers they take effect at once and cost
 * nothing.
 */
#ifndef HASP_PLATFORM_SIMULATED_OPERATIONS_H
#define HASP_PLATFORM_SIMULATED_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deadline;
struct held_nodes;

/* Kinds of read-modify-write operations, each with latencies of its own. OR and AND
 * cost as much as a compare-and-exchange. */
enum simulated_change {
    SIMULATED_EXCHANGE,
    SIMULATED_TEST_AND_SET,
    SIMULATED_ADD,
    SIMULATED_OR,
    SIMULATED_AND,
};

uint64_t simulated_load(const void *address, unsigned size);
void simulated_store(void *address, unsigned size, uint64_t value);
uint64_t simulated_change(void *address, unsigned size, enum simulated_change change,
                          uint64_t operand);
/* A strong compare-and-exchange; *expected receives the value read. */
bool simulated_compare_exchange(void *address, unsigned size, uint64_t *expected,
                                uint64_t desired);
void simulated_fence(void);
void simulated_prefetch(const void *address, bool writes);
bool simulated_heavy_barrier(void);

/* Waits until a line that was read since the last call is invalidated, for at most that
 * many spin iterations. Returns the number of iterations spent. */
uint32_t simulated_relax(uint32_t iterations);
/* Waits likewise, and yields the CPU after each `limit` iterations; *since_yield counts
 * those since the last yield. */
void simulated_relax_or_yield(uint32_t limit, uint32_t *since_yield);
void simulated_pause(uint32_t iterations);
void simulated_yield(void);
uint32_t simulated_spin_limit(void);

bool simulated_park(void *address, uint32_t expected, const struct deadline *deadline);
void simulated_unpark(void *address, uint32_t count);
void simulated_requeue(void *from, uint32_t expected, void *to);
bool simulated_deadline_passed(const struct deadline *deadline);

uint64_t simulated_now_ns(void);
uint64_t simulated_ticks(void);
uint64_t simulated_ticks_to_ns(uint64_t ticks);

uint32_t simulated_thread(void);
struct held_nodes *simulated_held_nodes(void);
uint32_t simulated_thread_if_known(void);
void simulated_expect_wait(bool waits);
uint32_t simulated_cpus(void);
uint32_t simulated_nodes(void);
uint32_t simulated_node(void);
uint32_t simulated_cohort(void);
void *simulated_pages(size_t bytes);
__attribute__((noreturn, cold)) void simulated_die(const char *text);

#endif
