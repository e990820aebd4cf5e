/* SPDX-License-Identifier: MIT */
/* For programs whose traces are tested. Each program prints the addresses of its locks
 * to stderr as NAME=ADDRESS, so that the test can find them in the trace. */
#ifndef NAMED_H
#define NAMED_H

#include "../check.h"

#include <stdint.h>

static void tell(const char *name, const void *object)
{
    char line[96];
    int length = snprintf(line, sizeof line, "%s=%p\n", name, object);
    CHECK_EQUAL(write(STDERR_FILENO, line, (size_t)length), length);
}

#define TELL(object) tell(#object, &object)

static void *nothing(void *argument)
{
    return argument;
}

/* Recording begins when the program creates its first thread. */
static void begin_recording(void)
{
    check_join(check_start(nothing, NULL));
}

#endif
