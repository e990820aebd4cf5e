/* SPDX-License-Identifier: MIT */
#ifndef HASP_PLATFORM_LIBRARY_EQUALS_BACKEND_H
#define HASP_PLATFORM_LIBRARY_EQUALS_BACKEND_H

#include "platform/native/equals_backend.h"

#endif
