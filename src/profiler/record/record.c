/* SPDX-License-Identifier: MIT */
#include "profiler/record/record.h"

uint32_t record_lock_number(const void *object)
{
    return registry_locks ? registry_find((uintptr_t)object) : 0;
}
