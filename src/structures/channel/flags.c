/* SPDX-License-Identifier: MIT */
#include "structures/channel/channel.h"

uint32_t channel_flags_here(uint32_t flags)
{
    if (!(flags & CHANNEL_PARKS) || (flags & CHANNEL_SHARED) || heavy_barrier() ||
        (barrier_register() && heavy_barrier()))
        return flags;
    return flags | CHANNEL_FENCED;
}
