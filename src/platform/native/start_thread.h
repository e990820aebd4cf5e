/* SPDX-License-Identifier: MIT */
/* Threads that belong to the library. */
#ifndef HASP_PLATFORM_NATIVE_START_THREAD_H
#define HASP_PLATFORM_NATIVE_START_THREAD_H

#include <stdbool.h>

enum { STARTS_THREADS = 1 };

bool start_thread(void *(*body)(void *), void *argument, int urgency);

#endif
