/* SPDX-License-Identifier: MIT */
/* The states that have been seen, as 128-bit hashes, and with how few preemptions. */
#ifndef HASP_EXPLORER_VISITED_H
#define HASP_EXPLORER_VISITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void visited_clear(void);
size_t visited_count(void);

/* True when the state is new, or was only reached with more preemptions before. */
bool visit(const unsigned char *bytes, size_t size, uint8_t preemptions);

#endif
