/* SPDX-License-Identifier: MIT */
/* Clients of reader-writer locks that fork: in the child, threads that waited in the
 * parent do not exist. */
#ifndef HASP_EXPLORER_CLIENTS_RWLOCK_FORKS_H
#define HASP_EXPLORER_CLIENTS_RWLOCK_FORKS_H

void rwlock_writer_forks(unsigned thread);
void rwlock_reader_forks(unsigned thread);

#endif
