/* SPDX-License-Identifier: MIT */
/* Clients that wait on a condition variable: the interposer's own code (src/condition)
 * over the lock under check. */
#ifndef HASP_EXPLORER_CLIENTS_CONDITION_H
#define HASP_EXPLORER_CLIENTS_CONDITION_H

#include <stdbool.h>

/* NULL, or called before a thread waits, as the interposer does. */
extern void (*condition_client_prepares)(void);

/* Parts of such clients. The caller of the first one holds the lock; of the second
 * one, if it says so. */
void condition_client_waits(void);
void condition_client_signals(bool holds);

void condition_with_signal(unsigned thread);
void condition_with_late_signal(unsigned thread);
void condition_with_broadcast(unsigned thread);
void condition_with_leaver(unsigned thread);

#endif
