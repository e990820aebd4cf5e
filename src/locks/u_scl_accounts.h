/* SPDX-License-Identifier: MIT */
/*
 * The accounts of u_scl.h: who held the lock for how long, and what follows. They lie
 * in parts of the lock, made at the first contention; a thread's account is found by
 * the remainder of its id, so there is a bounded number of them.
 */
#ifndef HASP_LOCKS_U_SCL_ACCOUNTS_H
#define HASP_LOCKS_U_SCL_ACCOUNTS_H

#include "locks/lock.h"
#include "locks/parts.h"

/* Times of accounts, in units of 64 ns: so 32 bits wrap around in minutes. That may ban
 * for no reason, but not for longer than the longest ban. */
enum {
    USCL_UNIT_NS = 64,
    USCL_LATELY = 200000000 / USCL_UNIT_NS,
    USCL_LONGEST_BAN = 500000000 / USCL_UNIT_NS,
};

struct u_scl_account {
    struct atomic_u32 since, used, asked;
};

enum {
    USCL_ACCOUNTS = PART_WORDS * sizeof(struct atomic_u32) /
                    sizeof(struct u_scl_account), /* in a part */
    USCL_ACCOUNT_PARTS = 6,
};

/* Both lie over the words of a part. */
struct u_scl {
    struct atomic_u32 owner, holder, start, uses, sharers, nobody;
};

struct u_scl_accounts {
    struct u_scl_account each[USCL_ACCOUNTS];
};

static inline struct u_scl *u_scl_of(struct lock *lock)
{
    return (struct u_scl *)(void *)parts_get(&lock->state[3], 0)->words;
}

static inline struct u_scl_account *u_scl_account(struct lock *lock, uint32_t number)
{
    struct part *part = parts_get(&lock->state[3], 1 + number / USCL_ACCOUNTS);
    struct u_scl_accounts *accounts = (struct u_scl_accounts *)(void *)part->words;
    return &accounts->each[number % USCL_ACCOUNTS];
}

static inline uint32_t u_scl_mine(void)
{
    return current_thread() % (USCL_ACCOUNTS * USCL_ACCOUNT_PARTS);
}

static inline uint32_t u_scl_now(void)
{
    return (uint32_t)(ticks_to_ns(ticks()) / USCL_UNIT_NS);
}

/* Asked for lately, and again since its last slice began: a thread that exits after a
 * single use is not waited for. */
static inline bool u_scl_shares(const struct u_scl_account *account, uint32_t now)
{
    uint32_t asked = load_relaxed(&account->asked);
    uint32_t since = load_relaxed(&account->since);
    return asked && now - asked < USCL_LATELY &&
           (!since || (int32_t)(asked - since) > 0);
}

/* How many accounts do, whoever asks included. */
static inline uint32_t u_scl_sharers(struct lock *lock, uint32_t now)
{
    uint32_t sharers = 1;
    for (uint32_t i = 0; i < USCL_ACCOUNT_PARTS; i++) {
        struct part *part = parts_look(&lock->state[3], 1 + i);
        struct u_scl_accounts *accounts =
            part ? (struct u_scl_accounts *)(void *)part->words : NULL;
        for (uint32_t j = 0; accounts && j < USCL_ACCOUNTS; j++)
            sharers += u_scl_shares(&accounts->each[j], now);
    }
    return sharers;
}

/* The holder begins to pay. */
static inline void u_scl_begin(struct lock *lock, uint32_t number)
{
    struct u_scl *scl = u_scl_of(lock);
    store_relaxed(&scl->holder, number + 1);
    store_relaxed(&scl->start, u_scl_now());
}

/* And at the end it has paid. */
static __attribute__((noinline, unused)) void u_scl_end(struct lock *lock)
{
    struct u_scl *scl = u_scl_of(lock);
    uint32_t holder = load_relaxed(&scl->holder);
    if (holder) {
        struct atomic_u32 *used = &u_scl_account(lock, holder - 1)->used;
        uint32_t held = u_scl_now() - load_relaxed(&scl->start);
        store_relaxed(used, load_relaxed(used) + held);
        store_relaxed(&scl->holder, 0);
    }
    store_relaxed(&scl->uses, load_relaxed(&scl->uses) + 1);
}

/* How much longer the account may not be used: its share of the time since its last
 * slice began is to have been as much as it has used. */
static inline uint32_t u_scl_ban(struct lock *lock, const struct u_scl_account *account)
{
    uint32_t since = load_relaxed(&account->since), used = load_relaxed(&account->used);
    uint64_t due = (uint64_t)used * load_relaxed(&u_scl_of(lock)->sharers);
    uint32_t passed = u_scl_now() - since;
    if (!since || due <= passed)
        return 0;
    return due - passed < USCL_LONGEST_BAN ? (uint32_t)(due - passed)
                                           : (uint32_t)USCL_LONGEST_BAN;
}

#endif
