/* SPDX-License-Identifier: MIT */
/* Locks that are reached in many ways; `hasp delegate` rewrites each of them. */
#include <pthread.h>

struct table {
    pthread_mutex_t *lock;
    long rows;
};

/* Functions that only lock or unlock. */
void totals_lock(void);
void totals_unlock(void);
int cell_lock(unsigned int hash);
int cell_unlock(unsigned int hash);

/* Functions that lock what they get. */
int checked_init(pthread_mutex_t *mutex);
int checked_lock(pthread_mutex_t *mutex);
void checked_unlock(pthread_mutex_t *mutex);

/* Sections of what they get. */
long add_row(pthread_mutex_t *mutex, long *rows, long by);

extern long totals, cells[8];
