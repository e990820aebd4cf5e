// SPDX-License-Identifier: MIT
// Threads count in one table, each key under the exclusion of its bucket.
#include <hasp/map.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

namespace
{

struct Destroy {
    void operator()(hasp_map *map) const
    {
        hasp_map_destroy(map);
    }
};
using Map = std::unique_ptr<hasp_map, Destroy>;

Map make_map()
{
    hasp_map_options options{};
    options.key_bytes = options.value_bytes = sizeof(std::uint64_t);
    hasp_map *map = nullptr;
    int result = hasp_map_create(&map, &options);
    if (result != HASP_MAP_OK)
        std::fprintf(stderr, "%s\n", hasp_map_explain(result));
    return Map(map);
}

hasp_map_change add_one(void *argument, const void *value, std::size_t,
                        hasp_map_value *fresh)
{
    auto *count = static_cast<std::uint64_t *>(argument);
    *count = value ? *static_cast<const std::uint64_t *>(value) + 1 : 1;
    fresh->bytes = count;
    fresh->length = sizeof *count;
    return HASP_MAP_STORE;
}

} // namespace

int main()
{
    Map map = make_map();
    if (!map)
        return 2;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 2; thread++)
        threads.emplace_back([&map] {
            for (std::uint64_t i = 0; i < 30000; i++) {
                std::uint64_t key = i % 1000, count;
                hasp_map_update(map.get(), &key, sizeof key, add_one, &count);
            }
        });
    for (std::thread &thread : threads)
        thread.join();

    std::uint64_t all = 0, count = 0;
    for (std::uint64_t key = 0; key < 1000; key++)
        if (hasp_map_get_word(map.get(), key, &count) == HASP_MAP_OK)
            all += count;
    std::printf("%d counted; ", static_cast<int>(all));
    for (std::uint64_t key = 0; key < 1000; key += 2)
        hasp_map_remove_word(map.get(), key);
    hasp_map_put_word(map.get(), 1, 0);
    std::printf("%d keys left, a new value: %d\n",
                static_cast<int>(hasp_map_count(map.get())),
                hasp_map_get_word(map.get(), 1, &count) == HASP_MAP_OK && count == 0);
}
