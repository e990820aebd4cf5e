/* SPDX-License-Identifier: MIT */
/*
 * A part of the platform (platform.h), for code that compares many cells:
 *
 *   equals_relaxed(c, v) equals_acquire(c, v)   -> load(c) == v, for a cell of 64 bits
 */
#ifndef HASP_PLATFORM_EQUALS_H
#define HASP_PLATFORM_EQUALS_H

#include "platform/platform.h"

#include "equals_backend.h"

#endif
