/* SPDX-License-Identifier: MIT */
/* Clients of the locks that one thread at a time holds: mutexes and spin locks. */
#ifndef HASP_EXPLORER_CLIENTS_EXCLUSIVE_H
#define HASP_EXPLORER_CLIENTS_EXCLUSIVE_H

#include "explorer/clients/critical_sections.h"

/* Each thread enters, the first one twice. */
void exclusion(unsigned thread);
void finish_exclusion(void); /* for three threads */

/* Enters. Returns whether this was the second critical section. */
bool enter_as_last(void);

void unlock_by_another(unsigned thread);

#endif
