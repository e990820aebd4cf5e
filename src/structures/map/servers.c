/* SPDX-License-Identifier: MIT */
#include "structures/map/servers.h"

#include "delegation/list/descriptor.h"
#include "structures/map/read.h"
#include "structures/map/threads.h"

#include <stdlib.h>

struct map_servers *servers_start(uint32_t count)
{
    const struct lock_operations *lock;
    const int executor = executor_find("ffwd", &lock);
    void *made = NULL;
    if (posix_memalign(&made, CACHE_LINE, sizeof(struct map_servers)) != 0)
        return NULL;
    struct map_servers *servers = (struct map_servers *)made;
    memset(made, 0, sizeof *servers);
    for (; servers->count < count; servers->count++)
        if (!delegate_init_at(&servers->all[servers->count], (unsigned)executor, NULL,
                              servers->count)) {
            servers_stop(servers);
            return NULL;
        }
    return servers;
}

void servers_stop(struct map_servers *servers)
{
    for (uint32_t i = 0; servers && i < servers->count; i++)
        executor_operations_of(&servers->all[i])->destroy(&servers->all[i]);
    free(servers);
}

static int perform(struct request *request, struct epochs_record *record)
{
    switch (request->call) {
    case SERVED_GET:
        return read_copy_keyed(request->map, record, &request->sought, request->buffer,
                               request->length);
    case SERVED_PUT:
        return map_put_keyed(request->map, record, &request->sought, request->value);
    case SERVED_INSERT:
        return map_insert_keyed(request->map, record, &request->sought, request->value);
    case SERVED_REMOVE:
        return map_remove_keyed(request->map, record, &request->sought);
    case SERVED_UPDATE:
        return map_update_keyed(request->map, record, &request->sought, request->decide,
                                request->argument);
    }
    return MAP_BAD_OPTIONS;
}

/* A section, which the server's thread executes. */
static void *serve(void *context)
{
    struct request *request = (struct request *)context;
    struct epochs_record *record = threads_record();
    request->result = likely(record != NULL) ? perform(request, record) : MAP_NO_MEMORY;
    return NULL;
}

int servers_ask(struct map_servers *servers, struct map *map, struct request *request)
{
    struct map_key *sought = &request->sought;
    if (unlikely(!map_key(map, sought, request->key.bytes, request->key.length)))
        return MAP_BAD_KEY;
    request->map = map;
    struct delegate *delegate = &servers->all[map_part(sought->hash, servers->count)];
    (void)executor_operations_of(delegate)->run(delegate, serve, request);
    return request->result;
}
