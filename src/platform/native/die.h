/* SPDX-License-Identifier: MIT */
/* Messages on standard error. */
#ifndef HASP_PLATFORM_NATIVE_DIE_H
#define HASP_PLATFORM_NATIVE_DIE_H

/* Prints "hasp: text" and aborts the process. */
__attribute__((noreturn, cold)) void die(const char *text);

/* Prints "hasp: text detail" without a space in between, and without stdio, which may
 * lock or be closed. */
void complain(const char *text, const char *detail);

#endif
