/* SPDX-License-Identifier: MIT */
#include "explorer/clients/rwlock_forks.h"

#include "explorer/clients/rwlock_sections.h"
#include "rwlocks/read_holds.h"

/* Forks as the interposer does: its handler runs in the child before any thread
 * starts. */
static void fork_with_handler(void)
{
    fork_here();
    read_holds_in_child();
    store_release(&flag, 1);
}

/* Reads or writes in the thread that starts in the child. */
static void use_in_child(void)
{
    spin_until(load_acquire(&flag));
    if (choose(2))
        read_once();
    else
        write_once();
}

void rwlock_writer_forks(unsigned thread)
{
    if (thread == 0) {
        write_lock();
        section();
        fork_with_handler();
        section();
        write_unlock();
    } else if (thread == 3) {
        use_in_child();
    } else if (thread == 2) {
        read_once();
    } else {
        write_once();
    }
}

void rwlock_reader_forks(unsigned thread)
{
    if (thread == 0) {
        read_lock();
        store_relaxed(&arrived, 1);
        read_section();
        fork_with_handler();
        read_section();
        read_unlock();
    } else if (thread == 3) {
        use_in_child();
    } else {
        spin_until(load_relaxed(&arrived));
        write_once();
    }
}
