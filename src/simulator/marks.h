/* SPDX-License-Identifier: MIT */
/*
 * The lines that hardware transactions have read and written. An access by another
 * thread to such a line dooms the transaction, unless both only read.
 */
#ifndef HASP_SIMULATOR_MARKS_H
#define HASP_SIMULATOR_MARKS_H

#include "simulator/line.h"

enum mark { MARK_READ = 1, MARK_WRITTEN = 2 };

/* Called when the thread enters its outermost transaction. */
void marks_begin(struct thread *thread);

/* Removes the marks of a transaction that is over. */
void marks_end(struct thread *thread);

/* Returns false if the transaction exceeds the machine's capacity. */
bool mark_line(struct thread *self, struct line *line, enum mark kind);

/* Called when the thread accesses a marked line. Dooms the transactions that it
 * conflicts with. */
void marks_meet(struct line *line, const struct thread *thread, bool writes);

/* Ends the thread's transaction. It rolls back when it continues. */
void doom(struct thread *thread, uint32_t status);

#endif
