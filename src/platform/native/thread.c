/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#include <sys/syscall.h>

__thread uint32_t thread_id_cached;

uint32_t thread_id_learn(void)
{
    thread_id_cached = (uint32_t)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
    return thread_id_cached;
}
