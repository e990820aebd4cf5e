/* SPDX-License-Identifier: MIT */
/* All operations of platform.h: C11-style atomics, futexes, sysfs. */
#ifndef HASP_PLATFORM_NATIVE_OPERATIONS_H
#define HASP_PLATFORM_NATIVE_OPERATIONS_H

#if defined(__x86_64__)
#include "platform/native/x86_64.h"
#elif defined(__aarch64__)
#include "platform/native/aarch64.h"
#else
#error "Hasp supports x86-64 and aarch64; port src/platform/native/x86_64.h"
#endif

#include "platform/native/atomics.h"
#include "platform/native/barrier.h"
#include "platform/native/clock.h"
#include "platform/native/die.h"
#include "platform/native/fork.h"
#include "platform/native/futex.h"
#include "platform/native/liveness.h"
#include "platform/native/memory.h"
#include "platform/native/release_window.h"
#include "platform/native/spinning.h"
#include "platform/native/start_thread.h"
#include "platform/native/thread.h"
#include "platform/native/time_extension.h"
#include "platform/native/topology.h"

#endif
