/* SPDX-License-Identifier: MIT */
/* Clients with two reader-writer locks: the record of a thread holds both. */
#ifndef HASP_EXPLORER_CLIENTS_RWLOCK_PAIRS_H
#define HASP_EXPLORER_CLIENTS_RWLOCK_PAIRS_H

void reader_of_two(unsigned thread);
void biased_reader_of_two(unsigned thread);
void finish_two_rwlocks(void);

#endif
