/* SPDX-License-Identifier: MIT */
/* Bodies of clients of the map that replace its table. */
#ifndef HASP_EXPLORER_CLIENTS_MAP_RESIZING_H
#define HASP_EXPLORER_CLIENTS_MAP_RESIZING_H

void table_is_replaced(unsigned thread);
void finish_replaced(void);
void helpers(unsigned thread);
void finish_helpers(void);
void growers(unsigned thread);
void finish_growers(void);
void movers(unsigned thread);
void table_is_freed(unsigned thread);

#endif
