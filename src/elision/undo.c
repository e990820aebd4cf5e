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
    uint32_t number = 0;
    const char *wrong = seed ? seed_read(seed, &number) : NULL;
    return wrong ? wrong : undo_prepare(number);
}
