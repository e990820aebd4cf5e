/* SPDX-License-Identifier: MIT */
#include "profiler/sample/futex_owner.h"

#include "profiler/store/lock_registry.h"

#include <sys/syscall.h>

uint32_t futex_owner(const struct procfs_call *call)
{
    enum { LARGEST = 64, STEP = 4 }; /* bytes */
    if (call->number != SYS_futex)
        return 0;
    for (uint32_t offset = 0; offset < LARGEST; offset += STEP) {
        uint32_t number = registry_find((uintptr_t)call->argument[0] - offset);
        if (number && registry_record(number)->bytes > offset &&
            !registry_record(number)->died)
            return number;
    }
    return 0;
}
