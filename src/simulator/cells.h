/* SPDX-License-Identifier: MIT */
/* Reads and writes the values of cells directly, without simulating the access. */
#ifndef HASP_SIMULATOR_CELLS_H
#define HASP_SIMULATOR_CELLS_H

#include <stdint.h>

static inline uint64_t cell_value(const void *address, uint32_t size)
{
    switch (size) {
    case 1:
        return *(const volatile uint8_t *)address;
    case 2:
        return *(const volatile uint16_t *)address;
    case 4:
        return *(const volatile uint32_t *)address;
    default:
        return *(const volatile uint64_t *)address;
    }
}

static inline void set_cell(void *address, uint32_t size, uint64_t value)
{
    switch (size) {
    case 1:
        *(volatile uint8_t *)address = (uint8_t)value;
        break;
    case 2:
        *(volatile uint16_t *)address = (uint16_t)value;
        break;
    case 4:
        *(volatile uint32_t *)address = (uint32_t)value;
        break;
    default:
        *(volatile uint64_t *)address = value;
    }
}

#endif
