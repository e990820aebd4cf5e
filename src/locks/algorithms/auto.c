/* SPDX-License-Identifier: MIT */
#include "locks/algorithms/auto.h"

struct auto_record auto_records[AUTO_RECORDS];
struct atomic_u8 auto_cohorts_exist;
