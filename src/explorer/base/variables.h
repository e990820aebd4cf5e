/* SPDX-License-Identifier: MIT */
/* The lock under check, and the other variables that the threads of a client share. */
#ifndef HASP_EXPLORER_BASE_VARIABLES_H
#define HASP_EXPLORER_BASE_VARIABLES_H

#include "barriers/list/descriptor.h"
#include "delegation/list/descriptor.h"
#include "locks/list/descriptor.h"
#include "rwlocks/list/descriptor.h"
#include "spinlocks/list/descriptor.h"

extern struct lock client_lock;
extern const struct lock_operations *client_operations;
extern struct rwlock client_rwlock;
extern const struct rwlock_operations *client_rwlock_operations;
extern struct spinlock client_spinlock;
extern struct barrier client_barrier;
extern struct delegate client_delegate;

/* Returns whether the address is inside the lock under check. */
bool is_of_the_lock(const void *address);

/* Guarded by the lock: the compiler reports every access, and the explorer reports
 * those that are not ordered. */
extern uint32_t inside, sections;

extern struct atomic_u32 flag;
/* Accessed relaxed: they control the schedule and order nothing. */
extern struct atomic_u32 arrived, served;

/* Returns the name of a variable above, or NULL. */
const char *client_variable(const void *address);

#endif
