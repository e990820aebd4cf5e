/* SPDX-License-Identifier: MIT */
#include "explorer/clients/map_resizing.h"

#include "explorer/clients/clients.h"
#include "explorer/clients/map_freeing.h"
#include "explorer/clients/map_state.h"
#include "explorer/execution/services.h"

#include "structures/map/resize.h"

static void grow(struct map *map, unsigned thread)
{
    begin_operation();
    bool outermost = epochs_enter(&epochs, &records[thread]);
    struct table *table = map_table(map);
    uint64_t count = (uint64_t)(map == &pair) + 1;
    if (table->count == count)
        resize_begin(map, table, 2 * count);
    if (table_next(table))
        resize_help(map, &records[thread], table);
    epochs_leave(&records[thread], outermost);
}

static void look_while_it_moves(void)
{
    expect(find_in(&words, 1, FIRST) == OLD, "an entry is not found while it is moved");
    uint64_t value = find_in(&words, 1, SECOND);
    expect(!value || value == FRESH, "a value of another key");
}

void table_is_replaced(unsigned thread)
{
    if (thread == 0)
        grow(&words, 0);
    else if (thread == 1)
        look_while_it_moves();
    else
        put_into(&words, 2, SECOND, FRESH);
}

void finish_replaced(void)
{
    expect(map_table(&words)->count == 2, "the table was not replaced");
    expect(find_in(&words, FINISHER, FIRST) == OLD, "an entry was lost");
    expect(find_in(&words, FINISHER, SECOND) == FRESH, "an entry was lost");
}

void helpers(unsigned thread)
{
    if (thread < 2)
        grow(&words, thread);
    else
        put_into(&words, 2, FIRST, FRESH);
}

void finish_helpers(void)
{
    expect(map_table(&words)->count == 2, "the table was not replaced");
    expect(find_in(&words, FINISHER, FIRST) == FRESH, "a value was lost");
}

void table_is_freed(unsigned thread)
{
    if (thread) {
        expect(find_in(&words, 1, FIRST) == OLD,
               "an entry is not found while it is moved");
        return;
    }
    grow(&words, 0);
    for (int i = 0; i < COLLECTIONS; i++)
        map_collect(&words);
}

/* Two of them may come too late: one finds that, and the other one has it from it that
 * nobody is replacing the table. */
void growers(unsigned thread)
{
    grow(&words, thread);
}

void finish_growers(void)
{
    expect(map_table(&words)->count == 2, "the table was not replaced");
    expect(load_relaxed(&words.resizing) == 0, "the table is replaced twice");
    expect(find_in(&words, FINISHER, FIRST) == OLD, "an entry was lost");
}

/* Each moves one of two buckets. Whoever replaces the table has what the other one has
 * moved. */
void movers(unsigned thread)
{
    grow(&pair, thread);
    for (unsigned i = 0; i < 2; i++)
        expect(find_in(&pair, thread, pair_keys[i]) == OLD,
               "an entry is not found while it is moved");
}
