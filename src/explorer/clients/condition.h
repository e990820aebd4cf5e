/* SPDX-License-Identifier: MIT */
#ifndef HASP_EXPLORER_CLIENTS_CONDITION_H
#define HASP_EXPLORER_CLIENTS_CONDITION_H

/* One thread waits on a condition variable, one signals it, one uses the lock. */
void condition(unsigned thread);

#endif
