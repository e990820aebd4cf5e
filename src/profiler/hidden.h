/* SPDX-License-Identifier: MIT */
#ifndef HASP_PROFILER_HIDDEN_H
#define HASP_PROFILER_HIDDEN_H

/* On declarations: the compiler then reaches the symbol without the GOT. */
#define RECORD_HIDDEN __attribute__((visibility("hidden")))

#endif
