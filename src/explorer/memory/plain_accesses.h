/* SPDX-License-Identifier: MIT */
/* Plain memory: the compiler reports every access of the code under check to memory
 * that threads share, and the explorer checks it for races. (The code is instrumented
 * for ThreadSanitizer, whose runtime is not linked.) */
#ifndef HASP_EXPLORER_MEMORY_PLAIN_ACCESSES_H
#define HASP_EXPLORER_MEMORY_PLAIN_ACCESSES_H

#include <stdbool.h>

void plain_access(const void *address, unsigned size, bool write);

#endif
