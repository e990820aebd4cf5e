/* SPDX-License-Identifier: MIT */
#include "platform/native/undo.h"

#include "elision/backend.h"
#include "elision/number.h"

static void abort_with(uint8_t code)
{
    undo_abort(htm_explicit(code));
}

const struct elision_backend elision_undo = {
    .name = "undo",
    .offered = true,
    .begin = undo_begin,
    .commit = undo_commit,
    .abort = abort_with,
};

const char *elision_undo_prepare(const char *seed)
{
    unsigned long number = 0;
    if (seed) {
        const char *end = number_read(seed, 10, 1, UINT32_MAX, &number);
        if (!end || *end)
            return "a seed is a number from 1 to 4294967295";
    }
    return undo_prepare((uint32_t)number);
}
