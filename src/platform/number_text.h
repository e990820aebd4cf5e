/* SPDX-License-Identifier: MIT */
/* A number as decimal text, without stdio, which may lock. */
#ifndef HASP_PLATFORM_NUMBER_TEXT_H
#define HASP_PLATFORM_NUMBER_TEXT_H

#include <stdint.h>

struct number_text {
    char digits[11];
};

/* Writes the digits into `text` and returns the first of them. */
static inline const char *number_text(uint32_t number, struct number_text *text)
{
    char *at = text->digits + sizeof text->digits - 1;
    *at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    return at;
}

#endif
