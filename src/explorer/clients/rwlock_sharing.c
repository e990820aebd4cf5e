/* SPDX-License-Identifier: MIT */
#include "explorer/clients/rwlock_sharing.h"

#include "explorer/clients/queues.h"
#include "explorer/clients/rwlock_sections.h"

/* Holds the lock for reading until another reader holds it, too. */
static void meet(void)
{
    read_lock();
    fetch_add_relaxed(&served, 1);
    spin_until(load_relaxed(&served) == 2);
    read_section();
    read_unlock();
}

/* Two readers meet, and a writer comes later. */
void readers_meet(unsigned thread)
{
    if (thread < 2) {
        meet();
    } else {
        spin_until(load_relaxed(&served) == 2);
        write_once();
    }
}

/* Two readers that waited for a writer meet. */
void admitted_readers_meet(unsigned thread)
{
    if (thread == 2) {
        write_lock();
        store_relaxed(&arrived, 1);
        section();
        write_unlock();
    } else {
        spin_until(load_relaxed(&arrived));
        meet();
    }
}

/* The lock is read until another reader has entered, before or after the end of a
 * writer that waits with a deadline. */
void writer_gives_up(unsigned thread)
{
    if (thread == 0) {
        read_lock();
        store_relaxed(&arrived, 1);
        spin_until(load_relaxed(&served));
        read_section();
        read_unlock();
    } else if (thread == 1) {
        spin_until(load_relaxed(&arrived));
        if (write_timedlock()) {
            section();
            write_unlock();
        }
    } else {
        spin_until(load_relaxed(&arrived));
        read_lock();
        store_relaxed(&served, 1);
        read_section();
        read_unlock();
    }
}

/* A reader locks again while a writer may be waiting. */
void recursive_reader(unsigned thread)
{
    if (thread == 0) {
        read_lock();
        store_relaxed(&arrived, 1);
        read_section();
        read_lock();
        read_section();
        read_unlock();
        read_section();
        either_unlock();
    } else {
        if (thread == 1)
            spin_until(load_relaxed(&arrived));
        write_once();
    }
}

/* For locks that prefer writers: no reader enters while a writer waits. */
void readers_after_writer(unsigned thread)
{
    if (thread == 1) {
        write_once();
        return;
    }
    read_lock();
    bool waiting = sees_waiting(1);
    read_unlock();
    read_lock();
    expect(!waiting || !has_not_moved(1), "a reader overtakes a writer that waits");
    read_unlock();
}
