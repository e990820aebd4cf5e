/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#define VARIANT NONE
#include "wrong/biased_futex.h"
