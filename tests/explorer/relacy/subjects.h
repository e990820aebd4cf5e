/* SPDX-License-Identifier: MIT */
/* The locks and clients of the explorer, for C++. */
#ifndef HASP_TESTS_EXPLORER_RELACY_SUBJECTS_H
#define HASP_TESTS_EXPLORER_RELACY_SUBJECTS_H

/* Selects a client and a lock, from the list or from wrong/locks.h. Returns
 * the client's number of threads, or 0 if one of them does not exist. */
unsigned subject_select(const char *lock, const char *client);

void subject_run(unsigned thread);
void subject_finish(void);

#endif
