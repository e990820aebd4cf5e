/* SPDX-License-Identifier: MIT */
/* Clients that can only end if readers share the lock, or if a thread that waits gets
 * its turn. */
#ifndef HASP_EXPLORER_CLIENTS_RWLOCK_SHARING_H
#define HASP_EXPLORER_CLIENTS_RWLOCK_SHARING_H

void readers_meet(unsigned thread);
void admitted_readers_meet(unsigned thread);
void writer_gives_up(unsigned thread);
void recursive_reader(unsigned thread);
void readers_after_writer(unsigned thread);

#endif
