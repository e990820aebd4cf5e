// SPDX-License-Identifier: MIT
// Each of 220,000 products of a catalogue has a std::mutex for its price. The import
// prices all of them once; after that, the prices of a few hundred change. The remedy
// has 64 mutexes for all products.
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "../server.h"

namespace
{

constexpr unsigned PRODUCTS = 220000, POPULAR = 300;

struct Product {
    std::mutex price_mutex;
    unsigned price = 0;
};

std::vector<std::unique_ptr<Product>> products;
std::vector<unsigned> prices;
std::array<std::mutex, 64> few_mutexes;
std::mutex orders_mutex;
std::uint64_t orders;

void set_price(std::size_t at, unsigned price)
{
    if (server_fix("fewer-locks")) {
        std::lock_guard<std::mutex> guard(few_mutexes[at % few_mutexes.size()]);
        prices[at] = price;
        return;
    }
    std::lock_guard<std::mutex> guard(products[at]->price_mutex);
    products[at]->price = price;
}

unsigned handle(request *request)
{
    unsigned char order[4000] = {};
    std::uint64_t value = checksum(order, sizeof order, request->number);
    set_price(random_below(request, POPULAR), static_cast<unsigned>(value % 900));
    sleep_us(200);
    if (request->number % 10 == 0) {
        std::lock_guard<std::mutex> guard(orders_mutex);
        orders++;
    }
    return 1;
}

void setup()
{
    bool few = server_fix("fewer-locks");
    for (unsigned i = 0; i < PRODUCTS; i++) {
        if (few)
            prices.push_back(0);
        else
            products.push_back(std::make_unique<Product>());
        set_price(i, i % 700);
    }
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-locks", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
