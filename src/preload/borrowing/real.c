/* SPDX-License-Identifier: MIT */
#include "preload/borrowing/real.h"

#define SYMBOL(result, name, parameters) DEFINE_REAL(result, name, parameters)
#include "preload/borrowing/symbols.def"
