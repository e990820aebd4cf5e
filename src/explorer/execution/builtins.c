/* SPDX-License-Identifier: MIT */
/*
 * Called by the instrumented code for __atomic_load_n and __atomic_store_n of a pointer
 * that is not a cell: src/locks/memory/pool.c publishes its chunks in this way. It also
 * reads the pointers plainly where they are ordered anyway, so the value is kept in
 * plain memory as well.
 */
#include "explorer/memory/plain_accesses.h"

#include "platform/platform.h"

#include <string.h>

uint64_t __tsan_atomic64_load(const volatile uint64_t *address, int order);
uint64_t __tsan_atomic64_load(const volatile uint64_t *address, int order)
{
    return checked_load((const void *)(uintptr_t)address, sizeof *address,
                        order == __ATOMIC_RELAXED ? CHECKED_RELAXED : CHECKED_ACQUIRE,
                        "__atomic_load_n");
}

void __tsan_atomic64_store(volatile uint64_t *address, uint64_t value, int order);
void __tsan_atomic64_store(volatile uint64_t *address, uint64_t value, int order)
{
    plain_access((const void *)(uintptr_t)address, sizeof *address, true);
    checked_store((const void *)(uintptr_t)address, sizeof *address, value,
                  order == __ATOMIC_RELAXED ? CHECKED_RELAXED : CHECKED_RELEASE,
                  "__atomic_store_n");
    memcpy((void *)(uintptr_t)address, &value, sizeof value);
}
