/* SPDX-License-Identifier: MIT */
#include "profiler/store/descriptors.h"

#include "platform/platform.h"

#include <fcntl.h>
#include <sys/syscall.h>

void descriptor_close(int descriptor)
{
    raw_syscall(SYS_close, descriptor, 0, 0, 0, 0, 0);
}

int descriptor_move_up(int descriptor)
{
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
    if (high < 0)
        return descriptor;
    descriptor_close(descriptor);
    return high;
}
