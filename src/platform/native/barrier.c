/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#include <linux/membarrier.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static struct atomic_u32 allowed;
struct atomic_u32 barrier_works __attribute__((aligned(CACHE_LINE)));

static long membarrier(int command)
{
    return raw_syscall(SYS_membarrier, command, 0, 0, 0, 0, 0);
}

bool barrier_register(void)
{
    /* A seccomp filter might kill the process instead of failing the call. */
    if (raw_syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) != 0)
        return false;
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0)
        return false;
    store_relaxed(&allowed, 1);
    /* Another thread may be between its heavy_barrier(), which has failed, and what it
     * does instead. */
    if (single_threaded())
        store_relaxed(&barrier_works, 1);
    return true;
}

void barrier_forbid(void)
{
    store_relaxed(&barrier_works, 0);
    (void)heavy_barrier();
    store_relaxed(&allowed, 0);
}

bool heavy_barrier(void)
{
    if (!load_relaxed(&allowed))
        return false;
    fence_seq_cst();
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}
