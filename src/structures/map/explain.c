/* SPDX-License-Identifier: MIT */
#include "hasp/map.h"

const char *hasp_map_explain(int result)
{
    switch (result) {
    case MAP_OK:
        return "done";
    case MAP_ABSENT:
        return "the key is absent";
    case MAP_CREATED:
        return "the key has been inserted";
    case MAP_BAD_KEY:
        return "the key has the wrong length";
    case MAP_BAD_VALUE:
        return "the value has the wrong length";
    case MAP_NO_MEMORY:
        return "the system has no memory left";
    case MAP_OVER_BUDGET:
        return "the map has used up its budget";
    case MAP_SMALL_BUFFER:
        return "the value is longer than the buffer";
    case MAP_BAD_OPTIONS:
        return "the options are not valid";
    case MAP_UNKNOWN_LOCK:
        return "no lock has this name";
    default:
        return "there is no such result";
    }
}
