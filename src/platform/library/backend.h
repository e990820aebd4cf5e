/* SPDX-License-Identifier: MIT */
/*
 * The native platform of the library that programs link (include/hasp/).
 *
 * It has no biased release. A program that sandboxes itself may forbid the membarrier
 * that ends a bias, and a forbidden system call can kill the process. The interposer
 * sees the call that installs the filter and ends all biases first; a library does not.
 */
#ifndef HASP_PLATFORM_LIBRARY_BACKEND_H
#define HASP_PLATFORM_LIBRARY_BACKEND_H

#include "platform/native/operations.h"

#define heavy_barrier_works() false

enum { BIASED_RELEASE = 0 };

#endif
