/* SPDX-License-Identifier: MIT */
#include "explorer/clients/rwlock_pairs.h"

#include "explorer/clients/rwlock_sections.h"

static struct rwlock other;
static uint32_t inside_other; /* guarded by it */

static void other_does(int (*operation)(struct rwlock *))
{
    begin_operation();
    expect(operation(&other) == 0, "an operation on the other lock returns an error");
}

static void read_other_section(void)
{
    expect(inside_other == 0, "a reader and a writer hold the other lock");
}

static void write_other_once(void)
{
    other_does(client_rwlock_operations->write_lock);
    inside_other++;
    inside_other--;
    other_does(client_rwlock_operations->write_unlock);
}

/* Holds both locks for reading, one of them perhaps twice, and releases them in the
 * order of the locks or in the other one. */
static void read_both(void)
{
    const bool again = choose(2), first = choose(2);
    read_lock();
    other_does(client_rwlock_operations->read_lock);
    if (again)
        read_lock();
    read_section();
    read_other_section();
    if (again)
        read_unlock();
    read_section();
    if (first) {
        read_unlock();
        read_other_section();
        other_does(client_rwlock_operations->unlock);
    } else {
        other_does(client_rwlock_operations->read_unlock);
        read_section();
        either_unlock();
    }
}

static void write_both(void)
{
    write_once();
    write_other_once();
}

void reader_of_two(unsigned thread)
{
    if (thread == 0)
        read_both();
    else
        write_both();
}

/* The same, where the reader has started the bias of both before. */
void biased_reader_of_two(unsigned thread)
{
    if (thread == 0) {
        read_once();
        other_does(client_rwlock_operations->read_lock);
        other_does(client_rwlock_operations->read_unlock);
        store_relaxed(&arrived, 1);
        read_both();
    } else {
        spin_until(load_relaxed(&arrived));
        write_both();
    }
}

void finish_two_rwlocks(void)
{
    write_other_once();
    other_does(client_rwlock_operations->destroy);
    finish_free_rwlock();
}
