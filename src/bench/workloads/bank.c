/* SPDX-License-Identifier: MIT */
/*
 * A bank: transfers between two random accounts, and audits that add all accounts up.
 * After V. Gramoli, R. Guerraoui, V. Trigonakis, "TM2C: a software transactional memory
 * for many-cores", EuroSys 2012. They are atomic by
 *
 *   lock          one lock for the bank,
 *   locks         a lock for each account, acquired in the order of the accounts,
 *   transactions  the transactions of hasp/transaction.h, or
 *   messages      the same with servers. On the simulated machine the first workers are
 *                 the servers.
 *
 * In a simulation the private data of a transaction (its read and write sets) cost
 * nothing; access_cycles stands for the instructions that maintain them.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"
#include "transacting.h"

enum atomic_by { BY_LOCK, BY_LOCKS, BY_TRANSACTIONS, BY_MESSAGES };
enum { OPENING_BALANCE = 1000 };

const char *const bank_atomic_by[] = {"lock", "locks", "transactions", "messages",
                                      NULL};

struct account {
    struct mutex mutex __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 balance;
    struct ledger ledger;
};

struct bank {
    struct account whole; /* its mutex is the bank's; it holds nothing */
    struct account *accounts;
    struct transacting transacting;
    unsigned serving; /* workers that serve */
    struct atomic_u32 ended __attribute__((aligned(CACHE_LINE)));
};

static uint64_t count_of(const struct run *run)
{
    return run->knobs[KNOB_ACCOUNTS];
}

static bool transacts(const struct run *run)
{
    return run->knobs[KNOB_ATOMIC_BY] >= BY_TRANSACTIONS;
}

static uint32_t servers_of(const struct run *run)
{
    bool by_messages = run->knobs[KNOB_ATOMIC_BY] == BY_MESSAGES;
    return by_messages ? (uint32_t)run->knobs[KNOB_SERVERS] : 0;
}

static bool refuse(struct run *run, const char *reason)
{
    explain(run, "%s", reason);
    run->refused = true;
    return false;
}

bool bank_prepare(struct run *run)
{
    uint64_t by = run->knobs[KNOB_ATOMIC_BY], count = count_of(run);
    const uint32_t servers = servers_of(run);
    const unsigned serving = servers && transacting_needs_servers() ? servers : 0;
    if (transacts(run) && !CAN_TRANSACT)
        return refuse(run, "this program has no transactions");
    if (by == BY_MESSAGES && (!servers || servers > TRANSACTING_SERVERS))
        return refuse(run, "messages need 1 to 8 servers");
    if (run->threads <= serving)
        return refuse(run, "the simulated machine needs a thread for each server, and "
                           "another one");
    if (by == BY_MESSAGES && run->threads - serving > TRANSACTING_CLIENTS)
        return refuse(run, "at most 64 threads have transactions over messages");
    struct bank *bank = run->shared = run_memory(run, sizeof *bank);
    if (!bank || !(bank->accounts = run_memory(run, count * sizeof *bank->accounts)))
        return false;
    bank->serving = serving;
    mutex_create(&bank->whole.mutex);
    for (uint64_t i = 0; by == BY_LOCKS && i < count; i++)
        mutex_create(&bank->accounts[i].mutex);
    return !transacts(run) ||
           transacting_prepare(run, &bank->transacting, (uint32_t)count + 2, servers);
}

void bank_enter(struct run *run, struct worker *worker)
{
    struct bank *bank = run->shared;
    if (transacts(run) && worker->index == 0)
        transacting_enter(&bank->transacting, run->threads, bank->serving);
    for (uint64_t i = worker->index; i < count_of(run); i += run->threads)
        store_relaxed(&bank->accounts[i].balance, OPENING_BALANCE);
}

/* Charges an access of a transaction, and returns the word to access. */
static struct atomic_u64 *accessed(const struct run *run, uint64_t account)
{
    const struct bank *bank = run->shared;
    if (run->knobs[KNOB_ACCESS_CYCLES])
        pause_cycles(run->knobs[KNOB_ACCESS_CYCLES]);
    return &bank->accounts[account].balance;
}

static bool load(struct run *run, struct worker *worker, uint64_t account,
                 uint64_t *balance)
{
    struct bank *bank = run->shared;
    return transacting_load(&bank->transacting, worker->index, accessed(run, account),
                            balance);
}

static bool store(struct run *run, struct worker *worker, uint64_t account,
                  uint64_t balance)
{
    struct bank *bank = run->shared;
    return transacting_store(&bank->transacting, worker->index, accessed(run, account),
                             balance);
}

static bool attempt_transfer(struct run *run, struct worker *worker, uint64_t from,
                             uint64_t to)
{
    uint64_t paid, received;
    return load(run, worker, from, &paid) && load(run, worker, to, &received) &&
           store(run, worker, from, paid - 1) && store(run, worker, to, received + 1);
}

static bool attempt_audit(struct run *run, struct worker *worker, uint64_t *sum)
{
    *sum = 0;
    for (uint64_t i = 0; i < count_of(run); i++) {
        uint64_t balance = 0;
        if (!load(run, worker, i, &balance))
            return false;
        *sum += balance;
    }
    return true;
}

/* Transfers between two accounts, or audits all if `from` is `to`. Returns the sum that
 * an audit found. */
static uint64_t transact(struct run *run, struct worker *worker, uint64_t from,
                         uint64_t to)
{
    struct bank *bank = run->shared;
    uint64_t sum = 0;
    do {
        transacting_begin(&bank->transacting, worker->index);
        if (from == to)
            attempt_audit(run, worker, &sum);
        else
            attempt_transfer(run, worker, from, to);
    } while (!transacting_commit(&bank->transacting, worker->index));
    return sum;
}

static void acquire(struct run *run, struct worker *worker, struct account *account)
{
    uint64_t start = ticks();
    mutex_lock(run, &account->mutex);
    ledger_acquired(&account->ledger, run, worker, start, ticks());
}

static void release(struct run *run, struct account *account)
{
    account->ledger.released = ticks();
    mutex_unlock(run, &account->mutex);
}

static void transfer(struct bank *bank, uint64_t from, uint64_t to)
{
    struct atomic_u64 *paid = &bank->accounts[from].balance;
    struct atomic_u64 *received = &bank->accounts[to].balance;
    store_relaxed(paid, load_relaxed(paid) - 1);
    store_relaxed(received, load_relaxed(received) + 1);
}

static uint64_t audit(const struct run *run, struct bank *bank)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count_of(run); i++)
        sum += load_relaxed(&bank->accounts[i].balance);
    return sum;
}

/* Does the same as transact(), under the bank's lock. */
static uint64_t under_lock(struct run *run, struct worker *worker, uint64_t from,
                           uint64_t to)
{
    struct bank *bank = run->shared;
    uint64_t sum = 0;
    acquire(run, worker, &bank->whole);
    if (from == to)
        sum = audit(run, bank);
    else
        transfer(bank, from, to);
    release(run, &bank->whole);
    return sum;
}

/* Does the same as transact(), under the locks of the accounts. */
static uint64_t under_locks(struct run *run, struct worker *worker, uint64_t from,
                            uint64_t to)
{
    struct bank *bank = run->shared;
    uint64_t first = from < to ? from : to, second = from < to ? to : from, sum = 0;
    if (from != to) {
        acquire(run, worker, &bank->accounts[first]);
        acquire(run, worker, &bank->accounts[second]);
        transfer(bank, from, to);
        release(run, &bank->accounts[second]);
        release(run, &bank->accounts[first]);
        return 0;
    }
    for (uint64_t i = 0; i < count_of(run); i++)
        acquire(run, worker, &bank->accounts[i]);
    sum = audit(run, bank);
    for (uint64_t i = 0; i < count_of(run); i++)
        release(run, &bank->accounts[i]);
    return sum;
}

static uint64_t act(struct run *run, struct worker *worker, uint64_t from, uint64_t to)
{
    switch ((enum atomic_by)run->knobs[KNOB_ATOMIC_BY]) {
    case BY_LOCK:
        return under_lock(run, worker, from, to);
    case BY_LOCKS:
        return under_locks(run, worker, from, to);
    case BY_TRANSACTIONS:
    case BY_MESSAGES:
        return transact(run, worker, from, to);
    }
    return 0;
}

/* The last client that ends dismisses the servers. */
static void client_ends(const struct run *run, struct bank *bank)
{
    const uint32_t clients = run->threads - bank->serving;
    if (!bank->serving || fetch_add_acq_rel(&bank->ended, 1) + 1 != clients)
        return;
    for (unsigned i = 0; i < bank->serving; i++)
        transacting_dismiss(&bank->transacting, i);
}

void bank_work(struct run *run, struct worker *worker)
{
    struct bank *bank = run->shared;
    if (worker->index < bank->serving) {
        worker->aside = true;
        transacting_serve(&bank->transacting, worker->index);
        return;
    }
    const struct section section = section_of(run);
    const uint64_t count = count_of(run);
    for (;;) {
        bool audits = random_below(&worker->random, 100) < run->knobs[KNOB_READ];
        uint64_t from = random_below(&worker->random, count);
        uint64_t next = 1 + random_below(&worker->random, count - 1);
        uint64_t start = ticks();
        if (!run_goes_on(run, start))
            break;
        uint64_t sum = act(run, worker, from, audits ? from : (from + next) % count);
        if (audits && sum != count * OPENING_BALANCE)
            worker->balance++;
        run_count(run, worker, start, section_ended(&section));
        section_think(&section, worker);
    }
    client_ends(run, bank);
}

bool bank_check(struct run *run)
{
    struct bank *bank = run->shared;
    uint64_t wrong = 0, sum = audit(run, bank);
    for (unsigned i = 0; i < run->threads; i++)
        wrong += run->workers[i].balance;
    const uint64_t opened = count_of(run) * OPENING_BALANCE;
    if (!wrong && sum == opened)
        return true;
    explain(run, "%llu audits were wrong; the accounts hold %llu, opened with %llu",
            (unsigned long long)wrong, (unsigned long long)sum,
            (unsigned long long)opened);
    return false;
}
