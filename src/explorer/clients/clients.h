/* SPDX-License-Identifier: MIT */
/* The lists of clients: those of mutexes, and those of reader-writer locks. */
#ifndef HASP_EXPLORER_CLIENTS_CLIENTS_H
#define HASP_EXPLORER_CLIENTS_CLIENTS_H

#include "explorer/base/client.h"

extern const struct client clients[];
extern const unsigned client_count;

/* Those of reader-writer locks. */
extern const struct client rwlock_clients[];
extern const unsigned rwlock_client_count;

#endif
