/* SPDX-License-Identifier: MIT */
#include "explorer/clients/clients.h"
#include "explorer/clients/rwlock_forks.h"
#include "explorer/clients/rwlock_pairs.h"
#include "explorer/clients/rwlock_sections.h"
#include "explorer/clients/rwlock_sharing.h"
#include "explorer/clients/suitable.h"
#include "explorer/memory/lifetime.h"

#include <errno.h>
#include <string.h>

static void two_writers(unsigned thread)
{
    write_once();
    if (thread == 0)
        write_once();
}

static void finish_writers(void)
{
    expect(sections == 3, "a critical section was lost");
    finish_free_rwlock();
}

static void writer_and_reader(unsigned thread)
{
    for (int i = 0; i < 2; i++)
        if (thread == 0)
            write_once();
        else
            read_once();
}

static void writers_and_reader(unsigned thread)
{
    if (thread == 2)
        read_once();
    else
        two_writers(thread);
}

static void writer_and_readers(unsigned thread)
{
    if (thread == 0)
        two_writers(thread);
    else
        read_once();
}

static void with_trylocks(unsigned thread)
{
    if (thread == 0) {
        write_once();
    } else if (thread == 1) {
        read_once();
    } else if (choose(2)) {
        if (read_trylock()) {
            read_section();
            either_unlock();
        }
    } else if (write_trylock()) {
        section();
        either_unlock();
    }
}

static void write_before_deadline(void)
{
    if (!write_timedlock())
        return;
    section();
    write_unlock();
}

static void read_before_deadline(void)
{
    if (!read_timedlock())
        return;
    read_section();
    read_unlock();
}

/* A writer and a reader that may time out, beside a writer that does not. */
static void with_deadlines(unsigned thread)
{
    if (thread == 0)
        write_once();
    else if (thread == 1)
        write_before_deadline();
    else
        read_before_deadline();
}

/* A writer that has timed out keeps nobody out. */
static void write_deadline_among_readers(unsigned thread)
{
    if (thread == 0) {
        write_before_deadline();
        read_once();
    } else {
        read_once();
    }
}

/* The thread that was the last to enter destroys the lock, while the other one may
 * still be inside its unlock. */
static void last_destroys(unsigned thread)
{
    bool reads = thread == 1 && choose(2);
    if (reads)
        read_lock();
    else
        write_lock();
    section(); /* of the reader, too: its only rival is a writer */
    bool last = sections == 2;
    if (reads)
        read_unlock();
    else
        write_unlock();
    if (!last)
        return;
    begin_operation();
    client_rwlock_operations->destroy(&client_rwlock);
    lock_is_destroyed();
}

/* The first thread locks, the second unlocks for it, and the third one writes. */
static void read_unlocked_by_another(unsigned thread)
{
    if (thread == 0) {
        read_lock();
        read_section();
        store_release(&flag, 1);
    } else if (thread == 1) {
        spin_until(load_acquire(&flag));
        read_section();
        either_unlock();
    } else {
        write_once();
    }
}

static void write_unlocked_by_another(unsigned thread)
{
    if (thread == 0) {
        write_lock();
        section();
        store_release(&flag, 1);
    } else if (thread == 1) {
        spin_until(load_acquire(&flag));
        section();
        either_unlock();
    } else {
        read_once();
    }
}

/* A writer that locks again gets EDEADLK. */
static void own_lock(unsigned thread)
{
    if (thread == 1) {
        read_once();
        return;
    }
    write_lock();
    begin_operation();
    int again = client_rwlock_operations->write_lock(&client_rwlock);
    expect(again == EDEADLK, "the writer locks again without an error");
    begin_operation();
    again = client_rwlock_operations->read_lock(&client_rwlock);
    expect(again == EDEADLK, "the writer reads without an error");
    section();
    write_unlock();
}

static void migration(unsigned thread)
{
    if (thread == 0) {
        write_once();
        return;
    }
    read_lock();
    move_to_node(choose(2));
    read_section();
    read_unlock();
}

/* The readers of a rwlock made of a mutex exclude each other, and the mutex decides
 * who is next. */
static bool shares(const struct lock_descriptor *lock)
{
    return strncmp(lock->name, "mutex:", 6) != 0;
}

/* Only readers that enter by their records need the barrier. */
static bool is_biased(const struct lock_descriptor *lock)
{
    return strncmp(lock->name, "bravo+", 6) == 0;
}

const struct client rwlock_clients[] = {
    {.name = "writers",
     .summary = "two threads write, the first one twice",
     .threads = 2,
     .body = two_writers,
     .finish = finish_writers},
    {.name = "write-read",
     .summary = "a thread writes twice, another reads twice",
     .threads = 2,
     .body = writer_and_reader,
     .finish = finish_free_rwlock},
    {.name = "fenced",
     .summary = "the same where nobody has registered for heavy barriers",
     .threads = 2,
     .suits = is_biased,
     .body = writer_and_reader,
     .finish = finish_free_rwlock,
     .without_barrier = true},
    {.name = "mixed",
     .summary = "two threads write, the first one twice, and one reads",
     .threads = 3,
     .body = writers_and_reader,
     .finish = finish_free_rwlock},
    {.name = "readers",
     .summary = "a thread writes twice, and two read",
     .threads = 3,
     .body = writer_and_readers,
     .finish = finish_free_rwlock,
     .alike = BIT(1) | BIT(2)},
    {.name = "together",
     .summary = "two readers hold the lock at once, and a writer comes later",
     .threads = 3,
     .suits = shares,
     .body = readers_meet,
     .finish = finish_free_rwlock,
     .alike = BIT(0) | BIT(1)},
    {.name = "admitted",
     .summary = "two readers that waited for a writer hold the lock at once",
     .threads = 3,
     .suits = shares,
     .body = admitted_readers_meet,
     .finish = finish_free_rwlock,
     .alike = BIT(0) | BIT(1)},
    {.name = "trylocks",
     .summary = "a trylock, for reading or writing, beside a reader and a writer",
     .threads = 3,
     .body = with_trylocks,
     .finish = finish_free_rwlock},
    {.name = "timed",
     .summary = "a timed writer and a timed reader beside a writer",
     .threads = 3,
     .body = with_deadlines,
     .finish = finish_free_rwlock},
    {.name = "timed-writer",
     .summary = "a timed writer that reads afterwards, among two readers",
     .threads = 3,
     .body = write_deadline_among_readers,
     .finish = finish_free_rwlock,
     .alike = BIT(1) | BIT(2)},
    {.name = "gives-up",
     .summary = "a writer that gives up lets a reader in that waited after it",
     .threads = 3,
     .suits = shares,
     .body = writer_gives_up,
     .finish = finish_free_rwlock},
    {.name = "recursive",
     .summary = "a reader locks again while a writer may be waiting",
     .threads = 2,
     .body = recursive_reader,
     .finish = finish_free_rwlock},
    {.name = "recursive-among",
     .summary = "a reader locks again while two writers may be waiting",
     .threads = 3,
     .body = recursive_reader,
     .finish = finish_free_rwlock},
    {.name = "two",
     .summary = "a thread reads two locks at once, in any order; another writes both",
     .threads = 2,
     .body = reader_of_two,
     .finish = finish_two_rwlocks},
    {.name = "two-biased",
     .summary = "the same once the reader has started the bias of both locks",
     .threads = 2,
     .suits = is_biased,
     .body = biased_reader_of_two,
     .finish = finish_two_rwlocks},
    {.name = "writers-first",
     .summary = "of the kind that prefers writers: no reader overtakes a waiting one",
     .threads = 3,
     .suits = shares,
     .body = readers_after_writer,
     .finish = finish_free_rwlock,
     .every_step = true,
     .rwlock_kind = RWLOCK_WRITERS_FIRST,
     .alike = BIT(0) | BIT(2)},
    {.name = "preferred",
     .summary = "a thread writes twice, and two read; the kind prefers writers",
     .threads = 3,
     .body = writer_and_readers,
     .finish = finish_free_rwlock,
     .rwlock_kind = RWLOCK_WRITERS_FIRST,
     .alike = BIT(1) | BIT(2)},
    {.name = "own",
     .summary = "a writer that locks again gets an error",
     .threads = 2,
     .body = own_lock,
     .finish = finish_free_rwlock},
    {.name = "read-by-another",
     .summary = "a read lock is unlocked by another thread while a writer waits",
     .threads = 3,
     .body = read_unlocked_by_another,
     .finish = finish_free_rwlock},
    {.name = "write-by-another",
     .summary = "a write lock is unlocked by another thread while a reader waits",
     .threads = 3,
     .body = write_unlocked_by_another,
     .finish = finish_free_rwlock},
    {.name = "last",
     .summary = "the last user destroys the lock while the other may be releasing it",
     .threads = 2,
     .body = last_destroys,
     .finish = finish_two_sections,
     .every_step = true},
    {.name = "spurious",
     .summary = "a writer and two readers; each may wake up spuriously once",
     .threads = 3,
     .suits = parks,
     .body = writer_and_readers,
     .finish = finish_free_rwlock,
     .spurious_wakeups = 1,
     .alike = BIT(1) | BIT(2)},
    {.name = "nodes",
     .summary = "a writer and two readers on two NUMA nodes",
     .threads = 3,
     .suits = is_numa,
     .body = writer_and_readers,
     .finish = finish_free_rwlock,
     .nodes = {0, 1, 0, 0}},
    {.name = "migration",
     .summary = "readers that move to another NUMA node while they hold the lock",
     .threads = 3,
     .suits = is_numa,
     .body = migration,
     .finish = finish_free_rwlock,
     .nodes = {0, 1, 0, 0}},
    {.name = "fork",
     .summary = "the writer forks; a writer and a reader vanish, and a thread starts",
     .threads = 4,
     .body = rwlock_writer_forks,
     .finish = finish_free_rwlock,
     .child = 3,
     .every_step = true},
    {.name = "fork-reader",
     .summary = "a reader forks; two writers vanish, and a thread starts",
     .threads = 4,
     .body = rwlock_reader_forks,
     .finish = finish_free_rwlock,
     .child = 3,
     .every_step = true,
     .alike = BIT(1) | BIT(2)},
};
const unsigned rwlock_client_count = sizeof rwlock_clients / sizeof rwlock_clients[0];
