/* SPDX-License-Identifier: MIT */
#ifndef HASP_ELISION_STATISTICS_H
#define HASP_ELISION_STATISTICS_H

/* Appends the counts of all threads to the file as one line of JSON (schema
 * hasp.elision/1), if the process has used an elided lock. Does not report failures. */
void elision_statistics_write(const char *path);

#endif
