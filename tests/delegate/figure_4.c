/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

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
    ALOCKDEC(wplock, MAX_PROCS)
    WPJOB *workpool[MAX_PROCS][1];
    INT wpstat[MAX_PROCS][1];
} GMEM;
static GMEM *gm;

/* Takes a job from the pool of a process. */
static INT GetJob(RAYJOB *job, INT pid)
{
    WPJOB *wpentry;         /* work pool entry */

    ALOCK(gm->wplock, pid)  /* lock acquisition */
    wpentry = gm->workpool[pid][0];
    if (!wpentry) {
        gm->wpstat[pid][0] = WPS_EMPTY;
        AULOCK(gm->wplock, pid)     /* lock release */
        return (WPS_EMPTY);
    }
    gm->workpool[pid][0] = wpentry->next;
    AULOCK(gm->wplock, pid) /* lock release */

    job->xpix = wpentry->xpix;
    free(wpentry);
    return (WPS_VALID);
}

int main(void)
{
    RAYJOB job;
    gm = calloc(1, sizeof(*gm));
    ALOCKINIT(gm->wplock, MAX_PROCS)
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
