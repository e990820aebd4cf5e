/* SPDX-License-Identifier: MIT */
/* Clients that wait on a condition variable: the interposer's own code (src/condition)
 * over the lock under check. */
#ifndef HASP_EXPLORER_CLIENTS_CONDITION_H
#define HASP_EXPLORER_CLIENTS_CONDITION_H

void condition_with_signal(unsigned thread);
void condition_with_late_signal(unsigned thread);
void condition_with_broadcast(unsigned thread);
void condition_with_leaver(unsigned thread);

#endif
