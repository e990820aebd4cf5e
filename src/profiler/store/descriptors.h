/* SPDX-License-Identifier: MIT */
/* The recorder's file descriptors in a program that has its own. */
#ifndef HASP_PROFILER_STORE_DESCRIPTORS_H
#define HASP_PROFILER_STORE_DESCRIPTORS_H

enum { HIGH_DESCRIPTOR = 1000 };

/* close() without being a cancellation point: the recorder runs inside functions that
 * are none, and would leave the program's lock and its own state half changed. */
void descriptor_close(int descriptor);

/* Moves a descriptor to HIGH_DESCRIPTOR or above, out of the way of programs that
 * expect low numbers or close them all. Returns the new number, or the old one when
 * none is available. */
int descriptor_move_up(int descriptor);

#endif
