/* SPDX-License-Identifier: MIT */
#ifndef HASP_PRELOAD_BORROWING_FUNCTIONS_H
#define HASP_PRELOAD_BORROWING_FUNCTIONS_H

/* Looks up the C library's functions of functions.def. */
void borrow_find_functions(void);

#endif
