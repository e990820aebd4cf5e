/* SPDX-License-Identifier: MIT */
#include "structures/transaction/direct.h"

#include "structures/transaction/commit.h"
#include "structures/transaction/services.h"
#include "structures/turn.h"

static struct atomic_u64 *lock_of(struct tx_memory *memory,
                                  const struct atomic_u64 *word)
{
    return &memory->locks[((uintptr_t)word >> memory->shift) & (memory->stripes - 1)];
}

uint64_t direct_load(struct tx_memory *memory, const struct atomic_u64 *word)
{
    if (memory->services)
        return services_direct_load(memory, word);
    struct atomic_u64 *lock = lock_of(memory, word);
    uint64_t version, found;
    do {
        commit_awaits(lock, &version, true);
        found = load_acquire(word);
    } while (!version_is_still(lock, version));
    return found;
}

/* Locks the stripe, and returns its version. No transaction has this owner. */
static uint64_t take(struct atomic_u64 *lock)
{
    uint64_t version;
    do
        commit_awaits(lock, &version, true);
    while (!version_take(lock, &version, VERSION_LOCKED));
    return version;
}

void direct_store(struct tx_memory *memory, struct atomic_u64 *word, uint64_t value)
{
    if (memory->services) {
        services_direct_store(memory, word, value);
        return;
    }
    struct atomic_u64 *lock = lock_of(memory, word);
    for (;;) {
        uint64_t version = take(lock);
        uint64_t before = clock_tick(&memory->clock);
        if (likely(!(before & CLOCK_CLOSED))) {
            store_release(word, value);
            version_release(lock, before + CLOCK_STEP);
            return;
        }
        version_release(lock, version);
        memory->operations.lock(&memory->alone);
        memory->operations.unlock(&memory->alone);
    }
}

bool direct_await_all(struct tx_memory *memory)
{
    uint64_t first = epochs_advance(memory->epochs), now = first;
    uint32_t turns = 0;
    while (now && now < first + EPOCHS_APART) {
        wait_a_turn(&turns);
        now = epochs_advance(memory->epochs);
    }
    return now != 0;
}
