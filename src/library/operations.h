/* SPDX-License-Identifier: MIT */
/* The operations of the mutexes of a slot, for the library's own files. */
#ifndef HASP_LIBRARY_OPERATIONS_H
#define HASP_LIBRARY_OPERATIONS_H

#include "locks/list/descriptor.h"

const struct lock_operations *mutex_operations(uint32_t slot);

#endif
