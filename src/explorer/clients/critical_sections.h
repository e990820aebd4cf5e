/* SPDX-License-Identifier: MIT */
/* Operations on the lock under check, from which all clients are built. */
#ifndef HASP_EXPLORER_CLIENTS_CRITICAL_SECTIONS_H
#define HASP_EXPLORER_CLIENTS_CRITICAL_SECTIONS_H

#include "explorer/execution/services.h"
#include "explorer/base/variables.h"

void section(void); /* the critical section itself */
void lock(void);
bool trylock(void);
bool timedlock(void);
void unlock(void);

/* Lock, critical section, unlock. */
void enter(void);
void enter_before_deadline(void); /* with a timed lock; does nothing if that fails */
void enter_after_deadline(void);  /* with a timed lock; locks if that fails */

/* Checks that two critical sections ran. Does not touch the lock: it is destroyed. */
void finish_two_sections(void);

/* Checks that the lock is free and works, then destroys it. */
void finish_free(void);

#endif
