/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

__thread struct held_nodes held_nodes_cached;
