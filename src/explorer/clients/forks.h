/* SPDX-License-Identifier: MIT */
/* Clients that fork: the other threads do not exist in the child. */
#ifndef HASP_EXPLORER_CLIENTS_FORKS_H
#define HASP_EXPLORER_CLIENTS_FORKS_H

void fork_while_held(unsigned thread);
void fork_after_grant(unsigned thread);
void fork_after_grant_by_waiter(unsigned thread);

#endif
