/* SPDX-License-Identifier: MIT */
#ifndef HASP_PRELOAD_BORROWING_SIGNALS_H
#define HASP_PRELOAD_BORROWING_SIGNALS_H

/* Takes a real-time signal for Hasp, and installs its handler. */
void borrow_watch_signals(void);

#endif
