// SPDX-License-Identifier: MIT
// A key-value store in 26 shards, chosen by the first letter of the key. Six keys in
// seven start with "user:".
#include <array>
#include <mutex>
#include <string>
#include <unordered_map>

#include "server.h"

namespace
{

struct alignas(128) Shard {
    std::mutex shard_mutex;
    std::unordered_map<std::string, std::string> values;
};

class Store
{
  public:
    std::uint64_t append(const std::string &key, char letter)
    {
        Shard &shard = shard_of(key);
        std::lock_guard<std::mutex> guard(shard.shard_mutex);
        std::string &value = shard.values[key];
        if (value.size() < 2500)
            value.resize(2500, '.');
        value[key.size()] = letter;
        return checksum(value.data(), value.size(), 1);
    }

  private:
    Shard &shard_of(const std::string &key)
    {
        if (server_fix("spread-keys"))
            return shards_[checksum(key.data(), key.size(), 11) % shards_.size()];
        return shards_[static_cast<std::size_t>(key[0] - 'a')];
    }

    std::array<Shard, 26> shards_;
};

Store store;
std::mutex slow_log_mutex;
std::uint64_t slow_log;

std::string key_of(request *request)
{
    static const char *const kinds[] = {"order:", "cart:", "basket:", "zip:", "mail:"};
    std::string number = std::to_string(random_below(request, 500));
    if (random_below(request, 7) != 0)
        return "user:" + number;
    return kinds[random_below(request, 5)] + number;
}

void *replicate(void *unused)
{
    for (unsigned i = 0; !server_stopping(); i++) {
        store.append("log:" + std::to_string(i % 100), 'r');
        sleep_us(800);
    }
    return unused;
}

unsigned handle(request *request)
{
    std::uint64_t sum = store.append(key_of(request), 'a');
    if (sum % 100 == 0) {
        std::lock_guard<std::mutex> guard(slow_log_mutex);
        slow_log++;
    }
    return 1;
}

void setup()
{
    server_background(replicate, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
