/* SPDX-License-Identifier: MIT */
/* Every so often a job runs a converter in a process of its own and waits for its end
 * while the list of jobs is locked. The remedy waits before it locks the list. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server.h"

enum { OFTEN = 4 };

static pthread_mutex_t jobs_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t jobs, converted;
static pthread_mutex_t sizes_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sizes;

static pid_t start_converter(void)
{
    pid_t child = vfork();
    if (child == 0)
        _exit(execl("/bin/sleep", "sleep", "0.002", (char *)NULL));
    return child;
}

static void convert(void)
{
    pid_t child = start_converter();
    bool first = server_fix("move-blocking-out");
    if (first)
        waitpid(child, NULL, 0);
    pthread_mutex_lock(&jobs_mu);
    if (!first)
        waitpid(child, NULL, 0);
    converted++;
    pthread_mutex_unlock(&jobs_mu);
}

static unsigned handle(struct request *request)
{
    char page[4000] = {'p'};
    uint64_t size = checksum(page, sizeof page, request->number) % 1000;
    pthread_mutex_lock(&jobs_mu);
    jobs += size;
    pthread_mutex_unlock(&jobs_mu);
    if (request->worker == 0 || request->number % OFTEN == 0)
        convert();
    pthread_mutex_lock(&sizes_mu);
    sizes += size;
    pthread_mutex_unlock(&sizes_mu);
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
