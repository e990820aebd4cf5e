/* SPDX-License-Identifier: MIT */
#ifndef HASP_TESTS_EXPLORER_RELACY_POOL_H
#define HASP_TESTS_EXPLORER_RELACY_POOL_H

void pools_begin(void);
unsigned pools_taken(void);

struct held_nodes;
struct held_nodes *held_nodes_of(unsigned thread);
unsigned held_nodes_count(unsigned thread);

#endif
