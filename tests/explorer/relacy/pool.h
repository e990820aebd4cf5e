/* SPDX-License-Identifier: MIT */
#ifndef HASP_TESTS_EXPLORER_RELACY_POOL_H
#define HASP_TESTS_EXPLORER_RELACY_POOL_H

void pools_begin(void);
unsigned pools_taken(void);

#endif
