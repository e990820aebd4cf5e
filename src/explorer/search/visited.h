/* SPDX-License-Identifier: MIT */
/*
 * The set of visited states, each as a hash of 119 bits and the least number of
 * preemptions that it was reached with.
 *
 * A state whose hash equals that of another one is not explored. Among 20 million
 * states (2^48 pairs) the probability that this happens at all is below 2^-70. (One bit
 * of the 128 marks occupied entries, and eight hold the preemptions.)
 */
#ifndef HASP_EXPLORER_SEARCH_VISITED_H
#define HASP_EXPLORER_SEARCH_VISITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void visited_clear(void);
size_t visited_count(void);

/* Returns true if the state is new, or was only reached with more preemptions before.
 */
bool visit(const unsigned char *bytes, size_t size, uint8_t preemptions);

#endif
