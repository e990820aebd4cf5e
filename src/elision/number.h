/* SPDX-License-Identifier: MIT */
#ifndef HASP_ELISION_NUMBER_H
#define HASP_ELISION_NUMBER_H

#include <stdlib.h>

/* Reads an unsigned number from `least` to `most`: no space or sign precedes it. `base`
 * is that of strtoul(). Returns where the number ends, or NULL. */
static inline const char *number_read(const char *text, int base, unsigned long least,
                                      unsigned long most, unsigned long *value)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    *value = strtoul(text, &end, base);
    return *value >= least && *value <= most ? end : NULL;
}

#endif
