/* SPDX-License-Identifier: MIT */
#ifndef HASP_PLATFORM_NATIVE_SMALL_FILE_H
#define HASP_PLATFORM_NATIVE_SMALL_FILE_H

#include <stddef.h>

/* Reads up to size - 1 bytes of a file into `text` and appends a 0, without stdio
 * (which may lock and allocate). Returns the number of bytes, or -1 on error. */
long small_file_read(const char *path, char *text, size_t size);

#endif
