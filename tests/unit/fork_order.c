/* SPDX-License-Identifier: MIT */
/*
 * Checks the order of the two loads in fork_generation(), as on a weakly ordered
 * processor. The first load shows that the fork has been detected. If it is not an
 * acquire, the second one may return the generation from before the fork.
 */
#include "check.h"

#include <stdbool.h>
#include <stdint.h>

struct atomic_u32 {
    uint32_t raw;
};

enum { OLD_GENERATION = 1, NEW_GENERATION = 2 };

static bool ordered;

static uint32_t load(const struct atomic_u32 *cell, bool acquire);

#define load_relaxed(cell) load(cell, false)
#define load_acquire(cell) load(cell, true)
#define unlikely(condition) (condition)

#include "platform/native/fork.h"

/* Detected by another thread. */
static struct fork_page page = {.unforked = {UNFORKED_SINCE}};
struct fork_page *fork_page = &page;
struct atomic_u32 fork_generation_number = {NEW_GENERATION};

static uint32_t load(const struct atomic_u32 *cell, bool acquire)
{
    if (cell == &fork_generation_number && !ordered)
        return OLD_GENERATION;
    ordered = ordered || acquire;
    return cell->raw;
}

void fork_detected(void)
{
    CHECK(false);
}

int main(void)
{
    CHECK_EQUAL(fork_generation(), NEW_GENERATION);
    return 0;
}
