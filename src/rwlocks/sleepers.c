/* SPDX-License-Identifier: MIT */
#include "rwlocks/sleepers.h"

struct atomic_u32 sleepers_places[SLEEPERS_PLACES] __attribute__((aligned(CACHE_LINE)));
