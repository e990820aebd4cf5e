/* SPDX-License-Identifier: MIT */
/* The last words. */
#ifndef HASP_PLATFORM_NATIVE_DIE_H
#define HASP_PLATFORM_NATIVE_DIE_H

__attribute__((noreturn, cold)) void die(const char *text);

/* One line on the standard error, without stdio (which may lock or be closed). */
void complain(const char *text, const char *detail);

#endif
