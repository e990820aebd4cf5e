/* SPDX-License-Identifier: MIT */
#ifndef HASP_EXPLORER_SEARCH_DEADLOCK_H
#define HASP_EXPLORER_SEARCH_DEADLOCK_H

/* Ends the run, and reports for every thread what it waits for. */
void report_deadlock(void);

#endif
