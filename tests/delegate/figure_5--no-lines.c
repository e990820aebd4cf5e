/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <hasp/delegate.h>

/* The macros of the SPLASH-2 programs: braces, and no semicolon at the use. */
#define ALOCKDEC(l, n) pthread_mutex_t (l)[n];
#define ALOCKINIT(l, n) \
    { int k; for (k = 0; k < n; k++) pthread_mutex_init(&(l[k]), NULL); }
#define ALOCK(l, i) {pthread_mutex_lock(&(l[i]));}
#define AULOCK(l, i) {pthread_mutex_unlock(&(l[i]));}
#define MAX_PROCS 4
#define WPS_VALID 0
#define WPS_EMPTY 1

typedef int INT;
typedef struct wpjob { struct wpjob *next; INT xpix; } WPJOB;
typedef struct { INT xpix; } RAYJOB;
typedef struct {
    struct hasp_delegate wplock[4];
    WPJOB *workpool[MAX_PROCS][1];
    INT wpstat[MAX_PROCS][1];
} GMEM;
static GMEM *gm;

/* A section of GetJob(), which an executor calls. */
struct GetJob_section {
    INT pid;
    WPJOB **wpentry;
    int hasp_exit;
    int hasp_error;
};

static void *GetJob_section(void *hasp_argument)
{
    struct GetJob_section *hasp_context = hasp_argument;
    const int hasp_errno = errno;
    INT pid = hasp_context->pid;
    WPJOB *wpentry = *hasp_context->wpentry;
    errno = hasp_context->hasp_error;
    {
      /* lock acquisition */
    wpentry = gm->workpool[pid][0];
    if (!wpentry) {
        gm->wpstat[pid][0] = WPS_EMPTY;
        hasp_context->hasp_exit = 1;
        goto hasp_done;
    }
    gm->workpool[pid][0] = wpentry->next;
    }
hasp_done:
    *hasp_context->wpentry = wpentry;
    hasp_context->hasp_error = errno;
    errno = hasp_errno;
    return NULL;
}

/* Takes a job from the pool of a process. */
static INT GetJob(RAYJOB *job, INT pid)
{
    WPJOB *wpentry;         /* work pool entry */

    {
        struct GetJob_section hasp_context = {
            .pid = pid,
            .wpentry = &wpentry,
            .hasp_error = errno,
        };
        hasp_delegate_run_sized(&gm->wplock[pid], GetJob_section, &hasp_context,
                                sizeof hasp_context);
        errno = hasp_context.hasp_error;
        if (hasp_context.hasp_exit == 1) {
            /* lock release */
        return (WPS_EMPTY);
        }
    } /* lock release */

    job->xpix = wpentry->xpix;
    free(wpentry);
    return (WPS_VALID);
}

int main(void)
{
    RAYJOB job;
    gm = calloc(1, sizeof(*gm));
#define pthread_mutex_init(l, a) hasp_delegate_init(l, "adaptive")
    ALOCKINIT(gm->wplock, MAX_PROCS)
#undef pthread_mutex_init
    for (INT i = 0; i < 3; i++) {
        WPJOB *entry = malloc(sizeof(*entry));
        entry->next = gm->workpool[1][0];
        entry->xpix = i;
        gm->workpool[1][0] = entry;
    }
    while (GetJob(&job, 1) == WPS_VALID)
        printf("%d\n", job.xpix);
    printf("%d %d\n", gm->wpstat[1][0], gm->wpstat[2][0]);
    return 0;
}
