/* SPDX-License-Identifier: MIT */
#ifndef HASP_PLATFORM_NATIVE_RELEASE_WINDOW_H
#define HASP_PLATFORM_NATIVE_RELEASE_WINDOW_H

/* The perturbed platform delays the caller here. */
static inline void release_window(void)
{
}

#endif
