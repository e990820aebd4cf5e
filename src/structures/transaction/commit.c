/* SPDX-License-Identifier: MIT */
#include "structures/transaction/commit.h"

#include "structures/transaction/services.h"
#include "structures/transaction/writes.h"

static uint64_t owner_of(const struct transaction *tx)
{
    return VERSION_LOCKED | (uint64_t)(uintptr_t)tx;
}

bool commit_awaits(struct atomic_u64 *lock, uint64_t *found, bool patient)
{
    uint32_t turns = patient ? yield_limit() : spin_limit();
    for (*found = version_read(lock); *found & VERSION_LOCKED;
         *found = version_read(lock)) {
        if (turns) {
            turns -= relax_at_most(turns);
        } else if (patient) {
            yield();
            relax();
        } else {
            return false;
        }
    }
    return true;
}

/* Returns the version that a stripe had before this commit locked it. */
static uint64_t version_before(const struct transaction *tx,
                               const struct atomic_u64 *lock)
{
    const struct tx_write *write = tx->writes;
    while (write->lock != lock)
        write++;
    return write->before;
}

/* Whether no word that was read has been written since tx->now. The caller has read a
 * later time from the clock (I2 of versions.h). */
static bool reads_are_valid(const struct transaction *tx)
{
    uint64_t own = owner_of(tx);
    for (uint32_t i = 0; i < tx->read_count; i++) {
        struct atomic_u64 *lock = tx_lock_of(tx, tx->reads[i]);
        uint64_t version = load_relaxed(lock);
        if (version == own) {
            if (tx->newest <= tx->now)
                continue; /* none of the stripes that it has locked is newer */
            version = version_before(tx, lock);
        }
        if (version > tx->now)
            return false;
    }
    return true;
}

static bool lock_stripe(struct transaction *tx, struct tx_write *write)
{
    struct atomic_u64 *lock = write->lock;
    uint64_t own = owner_of(tx), found = load_relaxed(lock);
    for (;;) {
        if (found == own) {
            write->before = TX_NOT_HELD;
            return true;
        }
        if (found & VERSION_LOCKED) {
            if (!commit_awaits(lock, &found, tx->alone))
                return false;
        } else if (version_take(lock, &found, own)) {
            write->before = found;
            if (found > tx->newest)
                tx->newest = found;
            return true;
        }
    }
}

/* Gives back the stripes of the first writes. */
static int give_up(struct transaction *tx, uint32_t count, uint64_t *cause)
{
    for (uint32_t i = 0; i < count; i++)
        if (tx->writes[i].before != TX_NOT_HELD)
            version_release(tx->writes[i].lock, tx->writes[i].before);
    return tx_fail(tx, TX_AGAIN, cause);
}

/* Takes the commit's time from the clock, and checks what was read. */
static int take_time(struct transaction *tx, uint64_t *time)
{
    if (tx->alone) {
        *time = clock_open(&tx->memory->clock);
        return TX_OK;
    }
    uint64_t before = clock_tick(&tx->memory->clock);
    *time = before + CLOCK_STEP;
    if (unlikely(before & CLOCK_CLOSED)) {
        tx->was_closed = true;
        return give_up(tx, tx->write_count, &tx->counts.closed);
    }
    /* Nobody has committed since the transaction's time, or what it read is checked. */
    if (before != tx->now && unlikely(!reads_are_valid(tx)))
        return give_up(tx, tx->write_count, &tx->counts.commit_changed);
    return TX_OK;
}

int commit_writes(struct transaction *tx)
{
    uint64_t time;
    struct tx_write *first = tx->writes, *end = first + tx->write_count;
    tx->newest = 0;
    for (struct tx_write *write = first; write < end; write++)
        if (unlikely(!lock_stripe(tx, write)))
            return give_up(tx, (uint32_t)(write - first), &tx->counts.commit_locked);
    int result = take_time(tx, &time);
    if (unlikely(result != TX_OK))
        return result;
    for (const struct tx_write *write = first; write < end; write++)
        store_release(write->word, write->value); /* I3 */
    for (const struct tx_write *write = first; write < end; write++)
        if (write->before != TX_NOT_HELD)
            version_release(write->lock, time);
    tx->own = time;
    return TX_OK;
}

void commit_forget(struct transaction *tx, const struct atomic_u64 *word)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tx->read_count; i++)
        if (tx->reads[i] != word)
            tx->reads[kept++] = tx->reads[i];
    tx->read_count = kept;
    if (tx->client)
        services_forget(tx, word);
}

/* Moves the transaction's time forward. */
static bool extend(struct transaction *tx)
{
    uint64_t now = clock_now(&tx->memory->clock);
    if (!reads_are_valid(tx))
        return false;
    tx->now = now;
    tx->counts.extended++;
    return true;
}

int tx_load_slowly(struct transaction *tx, const struct atomic_u64 *word,
                   uint64_t *value)
{
    if (tx->state != TX_OK)
        return tx->state;
    struct tx_write *write = writes_find(tx, word);
    if (write) {
        *value = write->value;
        return TX_OK;
    }
    if (tx->client)
        return services_load(tx, word, value);
    if (tx->read_count == tx->reads_most)
        return tx_fail(tx, TX_TOO_LARGE, &tx->counts.too_large);
    struct atomic_u64 *lock = tx_lock_of(tx, word);
    for (;;) {
        uint64_t version;
        if (!commit_awaits(lock, &version, tx->alone))
            return tx_fail(tx, TX_AGAIN, &tx->counts.load_locked);
        uint64_t found = load_acquire(word); /* I3 */
        if (!version_is_still(lock, version))
            continue;
        if (version > tx->now) {
            if (!extend(tx))
                return tx_fail(tx, TX_AGAIN, &tx->counts.load_changed);
            continue;
        }
        tx->reads[tx->read_count++] = word;
        *value = found;
        return TX_OK;
    }
}
