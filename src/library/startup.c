/* SPDX-License-Identifier: MIT */
/* Initialises the library, before the constructors of the program run. */
#include "platform/native/die.h"
#include "platform/native/topology.h"
#include "platform/platform.h"

#include <pthread.h>
#include <stdlib.h>

/* Runs in the child of every fork(). */
static void forked(void)
{
    thread_id_forget();
    fork_in_child();
}

static __attribute__((constructor(102))) void start(void)
{
    fork_watch();
    const char *cohorts = getenv("HASP_COHORTS");
    if (cohorts && *cohorts && !topology_choose_cohorts(cohorts))
        complain("ignoring HASP_COHORTS, which must be auto, cache or node: ", cohorts);
    pthread_atfork(NULL, NULL, forked);
}
