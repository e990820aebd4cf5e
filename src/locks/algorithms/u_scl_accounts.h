/* SPDX-License-Identifier: MIT */
/*
 * The accounts of u_scl.h: how long each thread held the lock, and the resulting bans.
 * They are in side blocks of the lock, created at the first contention; a thread's
 * account is found by the remainder of its id, so their number is bounded.
 */
#ifndef HASP_LOCKS_ALGORITHMS_U_SCL_ACCOUNTS_H
#define HASP_LOCKS_ALGORITHMS_U_SCL_ACCOUNTS_H

#include "locks/lock.h"
#include "locks/memory/side_memory.h"

/* Times in accounts are in units of 64 ticks: each acquisition reads the clock twice,
 * and does not even convert the result. 32 bits wrap around in a minute or more, which
 * may cause a needless ban, but none longer than the longest one. */
enum { USCL_UNIT = 64, USCL_LATELY_NS = 200000000, USCL_LONGEST_BAN_NS = 500000000 };

struct u_scl_account {
    struct atomic_u32 since, used, asked;
};

enum {
    USCL_ACCOUNTS = SIDE_BLOCK_WORDS * sizeof(struct atomic_u32) /
        sizeof(struct u_scl_account), /* in a side block */
    USCL_ACCOUNT_BLOCKS = 6,
};

/* Both overlay the words of a side block. */
struct u_scl {
    struct atomic_u32 owner, holder, start, uses, sharers, nobody;
};

struct u_scl_accounts {
    struct u_scl_account each[USCL_ACCOUNTS];
};

static inline struct u_scl *u_scl_of(struct lock *lock)
{
    return (struct u_scl *)(void *)side_memory_get(&lock->state[3], 0)->words;
}

static inline struct u_scl_account *u_scl_account(struct lock *lock, uint32_t number)
{
    struct side_block *block =
        side_memory_get(&lock->state[3], 1 + number / USCL_ACCOUNTS);
    struct u_scl_accounts *accounts = (struct u_scl_accounts *)(void *)block->words;
    return &accounts->each[number % USCL_ACCOUNTS];
}

static inline uint32_t u_scl_mine(void)
{
    return current_thread() % (USCL_ACCOUNTS * USCL_ACCOUNT_BLOCKS);
}

static inline uint32_t u_scl_now(void)
{
    return (uint32_t)(ticks() / USCL_UNIT);
}

static inline uint64_t u_scl_ns(uint64_t units)
{
    return ticks_to_ns(units * USCL_UNIT);
}

/* Returns whether the thread asked recently, and again since its last slice began;
 * other threads do not wait for a thread that exits after a single use. */
static inline bool u_scl_shares(const struct u_scl_account *account, uint32_t now)
{
    uint32_t asked = load_relaxed(&account->asked);
    uint32_t since = load_relaxed(&account->since);
    return asked && u_scl_ns(now - asked) < USCL_LATELY_NS &&
           (!since || (int32_t)(asked - since) > 0);
}

/* Returns the number of sharing accounts, including the caller's. */
static inline uint32_t u_scl_sharers(struct lock *lock, uint32_t now)
{
    uint32_t sharers = 1;
    for (uint32_t i = 0; i < USCL_ACCOUNT_BLOCKS; i++) {
        struct side_block *block = side_memory_find(&lock->state[3], 1 + i);
        struct u_scl_accounts *accounts =
            block ? (struct u_scl_accounts *)(void *)block->words : NULL;
        for (uint32_t j = 0; accounts && j < USCL_ACCOUNTS; j++)
            sharers += u_scl_shares(&accounts->each[j], now);
    }
    return sharers;
}

/* Starts charging the holder. */
static inline void u_scl_begin(struct lock *lock, uint32_t number, uint32_t now)
{
    struct u_scl *scl = u_scl_of(lock);
    store_relaxed(&scl->holder, number + 1);
    store_relaxed(&scl->start, now);
}

/* Charges the holder for the time since u_scl_begin. */
static __attribute__((noinline, unused)) void u_scl_end(struct lock *lock)
{
    struct u_scl *scl = u_scl_of(lock);
    uint32_t holder = load_relaxed(&scl->holder);
    if (holder) {
        struct u_scl_account *account = u_scl_account(lock, holder - 1);
        uint32_t start = load_relaxed(&scl->start), held = u_scl_now() - start;
        store_relaxed(&account->used, load_relaxed(&account->used) + held);
        store_relaxed(&account->asked, start ? start : 1);
        store_relaxed(&scl->holder, 0);
        if (holder == load_relaxed(&scl->owner))
            store_relaxed(&scl->uses, load_relaxed(&scl->uses) + 1);
    }
}

/* Returns for how many nanoseconds the account is banned: until its share of the time
 * since its last slice began equals what it has used. */
static inline uint64_t u_scl_ban(struct lock *lock, const struct u_scl_account *account)
{
    uint32_t since = load_relaxed(&account->since), used = load_relaxed(&account->used);
    uint64_t due = (uint64_t)used * load_relaxed(&u_scl_of(lock)->sharers);
    uint32_t passed = u_scl_now() - since;
    if (!since || due <= passed)
        return 0;
    uint64_t ns = u_scl_ns(due - passed);
    return ns < USCL_LONGEST_BAN_NS ? ns : (uint64_t)USCL_LONGEST_BAN_NS;
}

#endif
