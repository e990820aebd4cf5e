/* SPDX-License-Identifier: MIT */
#ifndef HASP_PLATFORM_NATIVE_RELEASE_WINDOW_H
#define HASP_PLATFORM_NATIVE_RELEASE_WINDOW_H

#ifdef HASP_WIDE_RELEASE_WINDOW
enum { RELEASE_WINDOW_TURNS = 150 }; /* some microseconds */

static inline void release_window(void)
{
    for (int turn = 0; turn < RELEASE_WINDOW_TURNS; turn++)
        relax();
}
#else
static inline void release_window(void)
{
}
#endif

#endif
