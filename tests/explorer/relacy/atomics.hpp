// SPDX-License-Identifier: MIT
//
// The operations and memory orders of the checked platform, in terms of Relacy's.
#ifndef HASP_RELACY_ATOMICS_HPP
#define HASP_RELACY_ATOMICS_HPP

#include <relacy/relacy.hpp>

extern "C" {
#include "platform/checked/operations.h"
}

inline rl::debug_info here(const char *function)
{
    return rl::debug_info(function ? function : "", "", 0);
}

inline rl::memory_order order_of(int order)
{
    static const rl::memory_order orders[] = {rl::mo_relaxed, rl::mo_acquire,
                                              rl::mo_release, rl::mo_acq_rel};
    return orders[order & 3];
}

template <typename T>
T change(rl::atomic<T> &cell, int kind, T operand, int order, const char *function)
{
    switch (kind) {
    case CHECKED_EXCHANGE:
        return cell.exchange(operand, order_of(order), here(function));
    case CHECKED_ADD:
        return cell.fetch_add(operand, order_of(order), here(function));
    case CHECKED_OR:
        return cell.fetch_or(operand, order_of(order), here(function));
    default:
        return cell.fetch_and(operand, order_of(order), here(function));
    }
}

template <typename T>
T compare(rl::atomic<T> &cell, T expected, T desired, int order, const char *function)
{
    cell.compare_exchange_strong(expected, desired, order_of(order), here(function),
                                 rl::mo_relaxed, here(function));
    return expected;
}

#endif
