/* SPDX-License-Identifier: MIT */
/*
 * Clients of elided rwlocks. A writer adds to two cells that are equal outside its
 * sections, and a reader compares them. As in elision_clients.c, the cells are relaxed:
 * if a transaction committed while another thread is inside that excludes it, one of
 * the two would see different values, or lose an addition.
 */
#include "elision/rwlock_list.h"
#include "explorer/clients/clients.h"
#include "explorer/clients/suitable.h"
#include "explorer/execution/services.h"
#include "explorer/base/variables.h"

#include <errno.h>

static struct atomic_u32 first, second, written;

static void write_one(void)
{
    const uint32_t seen = load_relaxed(&first);
    store_relaxed(&first, seen + 1);
    expect(load_relaxed(&second) == seen, "two sections ran at the same time");
    store_relaxed(&second, seen + 1);
}

static void compare(void)
{
    const uint32_t seen = load_relaxed(&second);
    expect(load_relaxed(&first) == seen, "a reader saw half of a writer's section");
}

static void give(void)
{
    begin_operation();
    client_rwlock_operations->unlock(&client_rwlock);
}

static void write_section(void)
{
    begin_operation();
    expect(client_rwlock_operations->write_lock(&client_rwlock) == 0, "no lock");
    write_one();
    give();
    fetch_add_relaxed(&written, 1);
}

static void read_section(void)
{
    begin_operation();
    expect(client_rwlock_operations->read_lock(&client_rwlock) == 0, "no lock");
    compare();
    give();
}

static void finish(void)
{
    expect(load_relaxed(&first) == load_relaxed(&written), "a section was lost");
    expect(load_relaxed(&second) == load_relaxed(&written), "a section was lost");
    begin_operation();
    expect(client_rwlock_operations->write_trylock(&client_rwlock) == 0,
           "the lock is held in the end");
    give();
    begin_operation();
    client_rwlock_operations->destroy(&client_rwlock);
}

static void two_writers(unsigned thread)
{
    write_section();
    if (thread == 0)
        write_section();
}

static void writer_and_reader(unsigned thread)
{
    if (thread == 0) {
        write_section();
        write_section();
    } else {
        read_section();
        read_section();
    }
}

static void mixed(unsigned thread)
{
    if (thread < 2)
        write_section();
    else
        read_section();
}

static void two_readers(unsigned thread)
{
    if (thread == 0)
        write_section();
    else
        read_section();
}

static void recursive(unsigned thread)
{
    if (thread == 0) {
        write_section();
        return;
    }
    begin_operation();
    expect(client_rwlock_operations->read_lock(&client_rwlock) == 0, "no lock");
    compare();
    begin_operation();
    expect(client_rwlock_operations->read_lock(&client_rwlock) == 0, "no recursion");
    compare();
    give();
    compare();
    give();
}

static void own(unsigned thread)
{
    if (thread == 0) {
        begin_operation();
        expect(client_rwlock_operations->write_lock(&client_rwlock) == 0, "no lock");
        write_one();
        begin_operation();
        expect(client_rwlock_operations->read_lock(&client_rwlock) == EDEADLK,
               "a writer reads its own lock");
        give();
        fetch_add_relaxed(&written, 1);
    } else {
        read_section();
    }
}

static void with_trylocks(unsigned thread)
{
    if (thread == 1) {
        write_section();
        return;
    }
    const bool writes = choose(2);
    begin_operation();
    int (*trylock)(struct rwlock *) = writes ? client_rwlock_operations->write_trylock
                                             : client_rwlock_operations->read_trylock;
    if (trylock(&client_rwlock) != 0)
        return;
    if (writes)
        write_one();
    else
        compare();
    give();
    fetch_add_relaxed(&written, writes);
}

static void with_deadlines(unsigned thread)
{
    if (thread == 1) {
        write_section();
        return;
    }
    begin_operation();
    if (client_rwlock_operations->read_timedlock(&client_rwlock, new_deadline()) != 0)
        return;
    compare();
    give();
}

const struct client elided_rwlock_clients[] = {
    {.name = "elided-writers",
     .summary = "two threads write, the first one twice",
     .threads = 2,
     .body = two_writers,
     .finish = finish},
    {.name = "elided-write-read",
     .summary = "one writes twice, the other reads twice",
     .threads = 2,
     .body = writer_and_reader,
     .finish = finish},
    {.name = "elided-mixed",
     .summary = "two write, one reads",
     .threads = 3,
     .body = mixed,
     .finish = finish,
     .alike = BIT(0) | BIT(1)},
    {.name = "elided-readers",
     .summary = "one writes, two read",
     .threads = 3,
     .body = two_readers,
     .finish = finish,
     .alike = BIT(1) | BIT(2)},
    {.name = "elided-recursive",
     .summary = "a reader locks again beside a writer",
     .threads = 2,
     .body = recursive,
     .finish = finish},
    {.name = "elided-own",
     .summary = "a writer reads its own lock, which must return EDEADLK",
     .threads = 2,
     .body = own,
     .finish = finish},
    {.name = "elided-preferred",
     .summary = "one writes twice, the other reads twice, of the kind that prefers "
                "writers",
     .threads = 2,
     .body = writer_and_reader,
     .finish = finish,
     .rwlock_kind = RWLOCK_WRITERS_FIRST},
    {.name = "elided-trylocks",
     .summary = "a trylock, for reading or writing, beside a writer",
     .threads = 2,
     .body = with_trylocks,
     .finish = finish},
    {.name = "elided-deadline",
     .summary = "a timed reader beside a writer",
     .threads = 2,
     .body = with_deadlines,
     .finish = finish},
};
const unsigned elided_rwlock_client_count =
    sizeof elided_rwlock_clients / sizeof elided_rwlock_clients[0];

int elided_rwlock_client_find(const char *name)
{
    const int found = elided_rwlock_find(name);
    return found > 0 && is_elided_rwlock((unsigned)found) ? found : -1;
}
