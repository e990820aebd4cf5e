/* SPDX-License-Identifier: MIT */
/* A lock that can never be acquired; the benchmark must survive and report it. */
#include <pthread.h>
#include <unistd.h>

#define exported __attribute__((visibility("default")))

/* Hasp recognises its library by this symbol. */
extern const char hasp_version[];
exported const char hasp_version[] = "hanging";

exported int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void)mutex;
    for (;;)
        pause();
}
