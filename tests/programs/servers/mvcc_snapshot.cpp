// SPDX-License-Identifier: MIT
// A store with versions: a query takes the newest snapshot under a mutex, within a
// fraction of a microsecond, and works on it without any lock for far longer. Writers
// prepare the next snapshot aside. The locks are as they should be.
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

using Rows = std::vector<std::uint64_t>;

class Store
{
  public:
    std::shared_ptr<const Rows> newest()
    {
        if (server_fix("use-atomic"))
            return atomic_.load();
        std::lock_guard<std::mutex> guard(newest_mutex_);
        return newest_;
    }

    void commit(std::size_t row, std::uint64_t value)
    {
        std::lock_guard<std::mutex> writer(commit_mutex_);
        auto next = std::make_shared<Rows>(*newest());
        (*next)[row % next->size()] = value;
        atomic_.store(next);
        std::lock_guard<std::mutex> guard(newest_mutex_);
        newest_ = std::move(next);
    }

  private:
    std::mutex newest_mutex_, commit_mutex_;
    std::shared_ptr<const Rows> newest_ = std::make_shared<Rows>(2500, 1);
    std::atomic<std::shared_ptr<const Rows>> atomic_{newest_};
};

Store store;

unsigned handle(request *request)
{
    std::shared_ptr<const Rows> rows = store.newest();
    std::uint64_t sum =
        checksum(rows->data(), rows->size() * sizeof rows->front(), request->number);
    if (request->number % 20 == 0)
        store.commit(sum, request->number);
    request->random += sum | 1;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
