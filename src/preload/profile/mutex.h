/* SPDX-License-Identifier: MIT */
#ifndef HASP_PRELOAD_PROFILE_MUTEX_H
#define HASP_PRELOAD_PROFILE_MUTEX_H

#include "profiler/record.h"

extern const struct record_as as_mutex RECORD_HIDDEN;

#endif
