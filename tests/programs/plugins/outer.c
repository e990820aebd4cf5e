/* SPDX-License-Identifier: MIT */
/*
 * A plug-in with its own RUNPATH ($ORIGIN/plugins/inner). It finds its libraries there
 * by plain name, both as a dependency and by calling dlopen itself; the program that
 * loads it could not find them. So a hook of dlopen must not take the plug-in's place
 * as the caller.
 */
#include <dlfcn.h>

int inner_answer(void);

__attribute__((visibility("default"))) int outer_by_dependency(void)
{
    return inner_answer();
}

__attribute__((visibility("default"))) int outer_by_dlopen(int flags)
{
    void *handle = dlopen("libplugin_found_by_runpath.so", flags);
    return handle ? dlclose(handle) : -1;
}

__attribute__((visibility("default"))) const char *outer_error(void)
{
    return dlerror();
}
