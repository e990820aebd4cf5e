// SPDX-License-Identifier: MIT
// A shop's catalogue is loaded anew all the time. The loader parses the whole catalogue
// while it has exclusive access to it.
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "server.h"

namespace
{

using Prices = std::unordered_map<std::uint64_t, std::uint64_t>;

class Catalogue
{
  public:
    std::uint64_t price(std::uint64_t article)
    {
        std::shared_lock<std::shared_mutex> guard(prices_mutex_);
        auto found = prices_.find(article);
        return found == prices_.end() ? 0 : found->second;
    }

    void reload(std::uint64_t version)
    {
        if (server_fix("shorten-writes")) {
            Prices parsed = parse(version);
            std::lock_guard<std::shared_mutex> guard(prices_mutex_);
            prices_.swap(parsed);
            return;
        }
        std::lock_guard<std::shared_mutex> guard(prices_mutex_);
        prices_ = parse(version);
    }

  private:
    static Prices parse(std::uint64_t version)
    {
        Prices prices;
        for (std::uint64_t article = 0; article < 30000; article++)
            prices[article] = checksum(&article, sizeof article, version);
        return prices;
    }

    std::shared_mutex prices_mutex_;
    Prices prices_;
};

Catalogue catalogue;
std::mutex basket_mutex;
std::uint64_t basket;

void *load(void *unused)
{
    for (std::uint64_t version = 0; !server_stopping(); version++) {
        catalogue.reload(version);
        sleep_us(300);
    }
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(40); // the next click
    std::uint64_t price = catalogue.price(random_below(request, 30000));
    char page[1000] = {'<'};
    std::uint64_t rendered = checksum(page, sizeof page, price);
    if (rendered % 32 == 0) {
        std::lock_guard<std::mutex> guard(basket_mutex);
        basket += price;
    }
    return 1;
}

void setup()
{
    server_background(load, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
