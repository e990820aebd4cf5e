/* SPDX-License-Identifier: MIT */
#include "explorer/base/verdict.h"

#include "explorer/base/coroutine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct verdict verdict;

void fail(const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (verdict.learnt) {
        verdict.pruned = true;
    } else if (strcmp(name, "limit") == 0) {
        if (!verdict.limited)
            vsnprintf(verdict.detail, sizeof verdict.detail, format, arguments);
        verdict.pruned = verdict.limited = true;
    } else if (!verdict.failed) {
        snprintf(verdict.name, sizeof verdict.name, "%s", name);
        vsnprintf(verdict.detail, sizeof verdict.detail, format, arguments);
        verdict.failed = true;
    }
    va_end(arguments);
    char here;
    if (stack_of(&here) >= 0)
        while (true)
            coroutine_yield();
}
