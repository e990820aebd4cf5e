/* SPDX-License-Identifier: MIT */
/*
 * Recognises the frame of exit(), where unwinding has to stop.
 *
 * A plug-in may call exit(), and an exit handler may unload the plug-in. The return
 * address below exit() is then in unmapped memory, and the unwinder, which looks for
 * unwind information or instructions there, crashes. Nothing returns to these frames.
 */
#ifndef HASP_PLATFORM_NATIVE_EXIT_FRAME_H
#define HASP_PLATFORM_NATIVE_EXIT_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* exit() only passes its arguments on. */
enum { EXIT_FRAME_BYTES = 64 };

static inline bool is_exit_frame(uintptr_t return_address)
{
    return return_address - (uintptr_t)exit < EXIT_FRAME_BYTES;
}

#endif
