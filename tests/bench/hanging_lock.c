/* SPDX-License-Identifier: MIT */
/* A lock that nobody ever gets: what the benchmark must survive and report. */
#include <pthread.h>
#include <unistd.h>

#define exported __attribute__((visibility("default")))

/* By which Hasp recognises its library. */
extern const char hasp_version[];
exported const char hasp_version[] = "hanging";

exported int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void)mutex;
    for (;;)
        pause();
}
