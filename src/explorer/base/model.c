/* SPDX-License-Identifier: MIT */
#include "explorer/base/model.h"

#include <stddef.h>
#include <string.h>

struct model model;
uint64_t result;

void model_reset(unsigned cells)
{
    memset(&model, 0, offsetof(struct model, cells));
    for (unsigned i = 0; i < cells; i++)
        model.cells[i].count = 0;
    memset(model.view_used, 0, sizeof model.view_used);
    model.running = model.last = -1;
}

bool is_live(int thread)
{
    uint8_t operation = model.thread[thread].request.operation;
    return operation != OP_DONE && operation != OP_NONE;
}

bool takes_part(int thread)
{
    return is_live(thread) && (!model.thread[thread].in_child || model.generation);
}
