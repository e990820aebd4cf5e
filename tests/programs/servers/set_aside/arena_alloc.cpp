// SPDX-License-Identifier: MIT
// A compiler's arena is a class that may be shared, so it has a mutex. But each thread
// parses with an arena of its own, and allocates a node of some bytes thousands of
// times in a request. The remedy is an arena without a mutex.
#include <cstddef>
#include <mutex>
#include <vector>

#include "../server.h"

namespace
{

constexpr std::size_t BLOCK = 1 << 16;

class Arena
{
  public:
    void *allocate(std::size_t size)
    {
        if (server_fix("drop-lock"))
            return take(size);
        std::lock_guard<std::mutex> guard(arena_mutex_);
        return take(size);
    }

  private:
    void *take(std::size_t size)
    {
        if (used_ + size > BLOCK)
            used_ = 0;
        used_ += size;
        return block_.data() + used_ - size;
    }

    std::mutex arena_mutex_;
    std::vector<std::byte> block_ = std::vector<std::byte>(BLOCK);
    std::size_t used_ = 0;
};

struct Node {
    Node *next;
    std::uint64_t kind;
};

std::mutex errors_mutex;
std::uint64_t errors;

unsigned handle(request *request)
{
    thread_local Arena arena;
    Node *list = nullptr;
    for (unsigned i = 0; i < 2000; i++)
        list = new (arena.allocate(sizeof(Node))) Node{list, request->random + i};
    std::uint64_t kinds = 0;
    for (unsigned i = 0; i < 50 && list; i++, list = list->next)
        kinds += list->kind;
    if (kinds % 64 == 0) {
        std::lock_guard<std::mutex> guard(errors_mutex);
        errors++;
    }
    request->random += kinds | 1;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"drop-lock", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
