/* SPDX-License-Identifier: MIT */
/* A plug-in that ends the process; it is unloaded meanwhile (unloaded_at_exit.c). */
#include <stdlib.h>

__attribute__((visibility("default"))) void plugin_exit(void)
{
    exit(0);
}
