/* SPDX-License-Identifier: MIT */
/* Delegates whose executor is chosen when the program runs. */
#ifndef HASP_LIBRARY_DELEGATE_H
#define HASP_LIBRARY_DELEGATE_H

#include "delegation/delegate.h"
#include "delegation/server.h"

/* Returns 0, EINVAL for an unknown name, or ENOMEM. */
int delegate_prepare(struct delegate *delegate, const char *name);

void *delegate_call(struct delegate *delegate, void *(*section)(void *), void *context);

/* The same; the context has `bytes`, for a recorder; 0: not known. */
void *delegate_call_sized(struct delegate *delegate, void *(*section)(void *),
                          void *context, size_t bytes);

void delegate_give_up(struct delegate *delegate);

/* Returns the name of executor `index` of the library, or NULL beyond the last. */
const char *delegate_listed_name(unsigned index);

#endif
