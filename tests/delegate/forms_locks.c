/* SPDX-License-Identifier: MIT */
#include "forms.h"

#include <stdlib.h>

#define CELL(hash) ((hash)&7)

static pthread_mutex_t totals_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cell_mu[8];
long totals, cells[8];

static void take_totals(void)
{
    pthread_mutex_lock(&totals_mu);
}

void totals_lock(void)
{
    take_totals();
}

void totals_unlock(void)
{
    pthread_mutex_unlock(&totals_mu);
}

static int lock_cell(unsigned int index)
{
    return pthread_mutex_lock(&cell_mu[index]);
}

int cell_lock(unsigned int hash)
{
    return lock_cell(CELL(hash));
}

int cell_unlock(unsigned int hash)
{
    int status = 0;
    status = pthread_mutex_unlock(&cell_mu[CELL(hash)]);
    return status;
}

int checked_init(pthread_mutex_t *mutex)
{
    return pthread_mutex_init(mutex, NULL);
}

int checked_lock(pthread_mutex_t *mutex)
{
    int status = pthread_mutex_lock(mutex);
    if (status)
        abort();
    return status;
}

void checked_unlock(pthread_mutex_t *mutex)
{
    if (pthread_mutex_unlock(mutex) != 0)
        abort();
}

long add_row(pthread_mutex_t *mutex, long *rows, long by)
{
    long now;
    if (pthread_mutex_lock(mutex) != 0)
        return -1;
    *rows += by;
    now = *rows;
    pthread_mutex_unlock(mutex);
    return now;
}
