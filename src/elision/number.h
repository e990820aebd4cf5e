/* SPDX-License-Identifier: MIT */
#ifndef HASP_ELISION_NUMBER_H
#define HASP_ELISION_NUMBER_H

#include <stdint.h>
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

/* Reads the seed of pseudorandom outcomes. Returns NULL, or what is wrong. */
static inline const char *seed_read(const char *text, uint32_t *seed)
{
    unsigned long value;
    const char *end = number_read(text, 10, 1, UINT32_MAX, &value);
    if (!end || *end)
        return "a seed is a number from 1 to 4294967295";
    *seed = (uint32_t)value;
    return NULL;
}

#endif
