// SPDX-License-Identifier: MIT
// A table with a mutex in each of its 250,000 rows: every row is locked once, when
// it is loaded, and hardly any of them ever again.
#include <memory>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

constexpr std::size_t row_count = 250000, stripe_count = 128;

struct Row {
    std::mutex row_mutex;
    std::uint64_t value = 0;
};

std::unique_ptr<Row[]> rows;
std::unique_ptr<std::mutex[]> stripes;
std::mutex checkpoint_mutex;
std::uint64_t dirty;

std::mutex &mutex_of(std::size_t row)
{
    return server_fix("fewer-locks") ? stripes[row % stripe_count]
                                     : rows[row].row_mutex;
}

void store(std::size_t row, std::uint64_t value)
{
    std::lock_guard<std::mutex> guard(mutex_of(row));
    rows[row].value = value;
}

unsigned handle(request *request)
{
    sleep_us(60);
    store(random_below(request, 100), request->number);
    if (request->number % 32 == 0) {
        std::lock_guard<std::mutex> guard(checkpoint_mutex);
        dirty++;
    }
    return 1;
}

void setup()
{
    rows = std::make_unique<Row[]>(row_count);
    stripes = std::make_unique<std::mutex[]>(stripe_count);
    for (std::size_t row = 0; row < row_count; row++)
        store(row, row);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-locks", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
