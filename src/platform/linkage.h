/* SPDX-License-Identifier: MIT */
/* Encloses declarations of functions that are defined in C and may be called in C++. */
#ifndef HASP_PLATFORM_LINKAGE_H
#define HASP_PLATFORM_LINKAGE_H

#ifdef __cplusplus
#define C_LINKAGE_BEGIN extern "C" {
#define C_LINKAGE_END }
#else
#define C_LINKAGE_BEGIN
#define C_LINKAGE_END
#endif

#endif
