/* SPDX-License-Identifier: MIT */
#include "profiler/session/settings.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LIMIT = 256 << 20 };

extern char **environ;

struct settings settings = {
    .bytes_limit = DEFAULT_LIMIT, .lock = "", .other_locks = "", .counter = ""};

static char path[4096], lock[64], other_locks[64], counter[16];

static const char *setting(const char *name)
{
    size_t length = strlen(name);
    for (char **entry = environ; entry && *entry; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

bool settings_read(void)
{
    const char *text = setting("HASP_TRACE");
    if (!text || text[0] != '/' || strlen(text) >= sizeof path)
        return false;
    strcpy(path, text);
    if ((text = setting("HASP_TRACE_SESSION")))
        settings.session = strtoull(text, NULL, 16);
    if ((text = setting("HASP_TRACE_LIMIT")) && *text)
        settings.bytes_limit = strtoull(text, NULL, 10);
    if ((text = setting("HASP_TRACE_LOCK")))
        strncpy(lock, text, sizeof lock - 1);
    if ((text = setting("HASP_TRACE_OTHER_LOCKS")))
        strncpy(other_locks, text, sizeof other_locks - 1);
    if ((text = setting("HASP_TRACE_COUNTER")))
        strncpy(counter, text, sizeof counter - 1);
    text = setting("HASP_TRACE_MODE");
    settings.sampled = text && strcmp(text, "sample") == 0;
    settings.lock = lock;
    settings.other_locks = other_locks;
    settings.counter = counter;
    settings.path = path;
    return true;
}
