/* SPDX-License-Identifier: MIT */
/* The lists of clients, one for each kind of lock. */
#ifndef HASP_EXPLORER_CLIENTS_CLIENTS_H
#define HASP_EXPLORER_CLIENTS_CLIENTS_H

#include "explorer/base/client.h"

/* Clients of mutexes. */
extern const struct client clients[];
extern const unsigned client_count;

/* Clients of elided mutexes. */
extern const struct client elision_clients[];
extern const unsigned elision_client_count;

/* Clients of elided rwlocks. */
extern const struct client elided_rwlock_clients[];
extern const unsigned elided_rwlock_client_count;
int elided_rwlock_client_find(const char *name);

/* Clients of global mode (elision/global.h), over a few locks, elided or not. */
extern const struct client global_clients[];
extern const unsigned global_client_count, global_variants;
int global_variant_find(const char *name);
struct lock_descriptor global_client_uses(unsigned variant);

/* Clients of the lock `delegate`. */
extern const struct client borrowing_clients[];
extern const unsigned borrowing_client_count;

/* Clients of reader-writer locks. */
extern const struct client rwlock_clients[];
extern const unsigned rwlock_client_count;

/* Clients of spin locks and of barriers. The functions select the algorithm by its
 * index in the list. */
extern const struct client spinlock_clients[];
extern const unsigned spinlock_client_count;
void spinlock_client_uses(unsigned index);
extern const struct client barrier_clients[];
extern const unsigned barrier_client_count;
void barrier_client_uses(unsigned index);

/* Clients of channels. A channel has no list of algorithms, but its waiters have
 * policies, numbered from 1. */
extern const struct client channel_clients[];
extern const unsigned channel_client_count, channel_policies;
int channel_policy_find(const char *name);
struct lock_descriptor channel_client_uses(unsigned policy);
const struct lock_descriptor *channel_policy(unsigned policy);
uint32_t channel_policy_flags(unsigned policy); /* of a channel */

/* Clients of rings, which wait as channels do. */
extern const struct client ring_clients[];
extern const unsigned ring_client_count;
struct lock_descriptor ring_client_uses(unsigned policy);

/* Clients of shared barriers, which wait as channels do. */
extern const struct client shared_barrier_clients[];
extern const unsigned shared_barrier_client_count;
struct lock_descriptor shared_barrier_client_uses(unsigned policy);

/* Clients of executors (delegation/executors.def). */
extern const struct client executor_clients[];
extern const unsigned executor_client_count;
int executor_client_find(const char *name);
struct lock_descriptor executor_client_uses(unsigned index);

/* Clients of maps, numbered as a list of one. */
extern const struct client map_clients[];
extern const unsigned map_client_count, map_variants;
int map_variant_find(const char *name);
struct lock_descriptor map_client_uses(unsigned variant);

/* Clients of transactions, the same. */
extern const struct client transaction_clients[];
extern const unsigned transaction_client_count, transaction_variants;
int transaction_variant_find(const char *name);
struct lock_descriptor transaction_client_uses(unsigned variant);

#endif
