/* SPDX-License-Identifier: MIT */
/* Whether this library runs sections of other threads (preload/borrowing/): 1 in
 * libhasp-delegate.so, whose build defines it. */
#ifndef HASP_PLATFORM_BORROWS_H
#define HASP_PLATFORM_BORROWS_H

#ifndef BORROWS
#define BORROWS 0
#endif

#endif
