/* SPDX-License-Identifier: MIT */
/* What is said about functions where they are declared. C_LINKAGE_BEGIN and
 * C_LINKAGE_END enclose those that are defined in C and may be called in C++.
 * MUST_CHECK: the compiler warns where the result is ignored. */
#ifndef HASP_PLATFORM_LINKAGE_H
#define HASP_PLATFORM_LINKAGE_H

#ifdef __cplusplus
#define C_LINKAGE_BEGIN extern "C" {
#define C_LINKAGE_END }
#else
#define C_LINKAGE_BEGIN
#define C_LINKAGE_END
#endif

#define MUST_CHECK __attribute__((warn_unused_result))

#endif
