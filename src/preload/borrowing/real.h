/* SPDX-License-Identifier: MIT */
/* The C library's versions of the functions of symbols.def. */
#ifndef HASP_PRELOAD_BORROWING_REAL_H
#define HASP_PRELOAD_BORROWING_REAL_H

#include "preload/real.h"

#include <signal.h>
#include <threads.h>

#define SYMBOL(result, name, parameters) result(*real_##name(void)) parameters;
#include "preload/borrowing/symbols.def"
#undef SYMBOL

#endif
