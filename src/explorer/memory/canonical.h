/* SPDX-License-Identifier: MIT */
/* The canonical form of a state. */
#ifndef HASP_EXPLORER_MEMORY_CANONICAL_H
#define HASP_EXPLORER_MEMORY_CANONICAL_H

/* Makes states equal if no thread can distinguish them: drops messages that all threads
 * have passed and views that all threads have joined. */
void canonicalise(void);

#endif
