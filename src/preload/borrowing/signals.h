/* SPDX-License-Identifier: MIT */
#ifndef HASP_PRELOAD_BORROWING_SIGNALS_H
#define HASP_PRELOAD_BORROWING_SIGNALS_H

/* Takes a real-time signal for Hasp, and installs its handler. */
void borrow_watch_signals(void);

/* The calling process has the actions that were recorded: it is not the child of a
 * vfork, which has the memory of its parent. */
void borrow_keep_process(void);

#endif
