/* SPDX-License-Identifier: MIT */
/* An error handler locks the report that its caller has already locked. The mutex
 * checks errors and refuses, but nobody looks at the result: the handler's unlock
 * releases the caller's lock too early, and the caller's unlock fails. */
#include "server.h"

enum { LINES = 64, FAILS = 30 };

static struct report {
    pthread_mutex_t report_mu;
    uint64_t lines[LINES], errors;
} report;
static pthread_mutex_t jobs_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t jobs;

static void on_error(bool is_locked)
{
    bool nested = is_locked && server_fix("fix-misuse");
    if (!nested)
        pthread_mutex_lock(&report.report_mu);
    report.errors++;
    if (!nested)
        pthread_mutex_unlock(&report.report_mu);
}

static void add_line(uint64_t line)
{
    pthread_mutex_lock(&report.report_mu);
    report.lines[line % LINES] = line;
    if (line % FAILS == 0)
        on_error(true);
    report.lines[(line + 1) % LINES] = 0;
    pthread_mutex_unlock(&report.report_mu);
}

static unsigned handle(struct request *request)
{
    char body[3000] = {'b'};
    sleep_us(80);
    add_line(checksum(body, sizeof body, request->number));
    if (request->number % 100 == 99)
        on_error(false);
    pthread_mutex_lock(&jobs_mu);
    jobs++;
    pthread_mutex_unlock(&jobs_mu);
    return 1;
}

static void setup(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&report.report_mu, &kind);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-misuse", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
