/* SPDX-License-Identifier: MIT */
/* Accesses to plain variables of the code under check, which the compiler reports. */
#ifndef HASP_RELACY_PLAIN_ACCESSES_H
#define HASP_RELACY_PLAIN_ACCESSES_H

#include <stdbool.h>

/* Passes an access of `size` bytes on to Relacy, which detects data races. */
void access_plain(const void *address, unsigned size, bool write);

#endif
