/* SPDX-License-Identifier: MIT */
/* This file is linked first, so it moves the static objects that follow. */
extern char padding_of_data[], padding_of_bss[];
char padding_of_data[32] = {1};
char padding_of_bss[5 * 128];
