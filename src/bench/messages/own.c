/* SPDX-License-Identifier: MIT */
#include "bench/messages/own.h"
#include "bench/messages/ssmp.h"

const struct implementation implementations[] = {
    {"hasp", &hasp_transport, hasp_run},
    {"hasp-park", &hasp_park_transport, hasp_park_run},
    {"hasp-ring", &ring_transport, ring_run},
    {"one-line", &one_line_transport, one_line_run},
    {"ssmp", &ssmp_transport, ssmp_run},
};
const unsigned implementation_count =
    sizeof implementations / sizeof implementations[0];
