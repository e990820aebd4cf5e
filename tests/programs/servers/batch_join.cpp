// SPDX-License-Identifier: MIT
// An import starts a thread that validates the batch, and joins it while the catalog is
// locked. The remedy joins it before.
#include <mutex>
#include <thread>
#include <vector>

#include "server.h"

namespace
{

class Catalog
{
  public:
    void import(std::uint64_t batch)
    {
        std::uint64_t valid = 0;
        std::thread validator([&] {
            std::vector<unsigned char> rows(3000, 1);
            sleep_us(400); // the schema's server
            valid = checksum(rows.data(), rows.size(), batch);
        });
        if (server_fix("move-blocking-out"))
            validator.join();
        std::lock_guard<std::mutex> guard(catalog_mutex_);
        if (validator.joinable())
            validator.join();
        items_[batch % items_.size()] += valid;
    }

    std::uint64_t find(std::uint64_t number)
    {
        std::lock_guard<std::mutex> guard(catalog_mutex_);
        return items_[number % items_.size()];
    }

  private:
    std::mutex catalog_mutex_;
    std::vector<std::uint64_t> items_ = std::vector<std::uint64_t>(500, 1);
};

Catalog catalog;
std::mutex audit_mutex;
std::uint64_t audited;

unsigned handle(request *request)
{
    char query[2000] = {'q'};
    if (request->number % 3 == 0)
        catalog.import(request->number);
    request->random += catalog.find(checksum(query, sizeof query, request->number)) | 1;
    std::lock_guard<std::mutex> guard(audit_mutex);
    audited++;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
