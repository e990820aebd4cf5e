/* SPDX-License-Identifier: MIT */
#include "explorer/base/request.h"

uint64_t changed_value(const struct request *request, unsigned size, uint64_t before)
{
    uint64_t after = request->operation == OP_COMPARE      ? request->operand
                     : request->change == CHECKED_EXCHANGE ? request->operand
                     : request->change == CHECKED_ADD      ? before + request->operand
                     : request->change == CHECKED_OR       ? before | request->operand
                                                           : before & request->operand;
    return size == 8 ? after : after & ((UINT64_C(1) << 8 * size) - 1);
}
