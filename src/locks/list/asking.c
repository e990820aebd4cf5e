/* SPDX-License-Identifier: MIT */
/* The lock `auto` for kernels that grant time-slice extensions. */
#include "locks/algorithms/auto_asking.h"
#include "locks/list/descriptor.h"
#include "locks/list/lock_operations.h"

DEFINE_OPERATIONS(auto_asking, auto_asking, OWN_KEPT_WORD, ADOPT_REQUEUE, WITH(true))
const struct lock_operations auto_asking_operations =
    OPERATIONS(auto_asking, ADOPT_REQUEUE);
