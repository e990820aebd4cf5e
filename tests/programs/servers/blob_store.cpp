// SPDX-License-Identifier: MIT
// put() builds the new blob, half a megabyte, while it holds the store's mutex, and the
// old one is unmapped there too.
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class BlobStore
{
  public:
    void put(unsigned key, unsigned char fill)
    {
        if (server_fix("allocate-outside")) {
            std::vector<unsigned char> blob(size, fill);
            std::lock_guard<std::mutex> guard(blobs_mutex_);
            blobs_[key].swap(blob);
            guard_version();
        } else {
            std::lock_guard<std::mutex> guard(blobs_mutex_);
            blobs_[key] = std::vector<unsigned char>(size, fill);
            guard_version();
        }
    }

  private:
    void guard_version()
    {
        version_++;
    }

    static constexpr std::size_t size = 500000;
    std::mutex blobs_mutex_;
    std::vector<unsigned char> blobs_[32];
    std::uint64_t version_ = 0;
};

BlobStore *blobs;
std::mutex usage_mutex;
std::uint64_t usage[16];

unsigned handle(request *request)
{
    unsigned user = request->worker % 16;
    {
        std::lock_guard<std::mutex> guard(usage_mutex);
        usage[user]++;
    }
    blobs->put(static_cast<unsigned>(random_below(request, 32)),
               static_cast<unsigned char>(request->number));
    return 1;
}

void setup()
{
    blobs = new BlobStore;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"allocate-outside", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
