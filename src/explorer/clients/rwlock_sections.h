/* SPDX-License-Identifier: MIT */
/* Operations on the reader-writer lock under check, from which all its clients are
 * built. */
#ifndef HASP_EXPLORER_CLIENTS_RWLOCK_SECTIONS_H
#define HASP_EXPLORER_CLIENTS_RWLOCK_SECTIONS_H

#include "explorer/base/variables.h"
#include "explorer/clients/critical_sections.h"
#include "explorer/execution/services.h"

/* The section of a reader: it only reads what writers change. */
void read_section(void);

void read_lock(void);
void write_lock(void);
bool read_trylock(void);
bool write_trylock(void);
bool read_timedlock(void);
bool write_timedlock(void);
void read_unlock(void);
void write_unlock(void);

/* Unlocks by the operation that finds out whether it is held to read or to write. */
void either_unlock(void);

/* Lock, section, unlock. */
void read_once(void);
void write_once(void);

/* Checks that the lock is free and works, then destroys it. */
void finish_free_rwlock(void);

#endif
