/* SPDX-License-Identifier: MIT */
/* The native platform, which users run under the interposer. */
#ifndef HASP_PLATFORM_NATIVE_BACKEND_H
#define HASP_PLATFORM_NATIVE_BACKEND_H

#include "platform/native/operations.h"

enum { BIASED_RELEASE = 1 };

#endif
