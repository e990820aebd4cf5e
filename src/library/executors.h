/* SPDX-License-Identifier: MIT */
/* The algorithms of all executors, for functions that name one. */
#ifndef HASP_LIBRARY_EXECUTORS_H
#define HASP_LIBRARY_EXECUTORS_H

#define EXECUTOR(...)
#include "delegation/executors.def"
#undef EXECUTOR

#endif
