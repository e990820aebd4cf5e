// SPDX-License-Identifier: MIT
// Rows are locked by tenant, and one tenant sends most of the requests.
#include <array>
#include <functional>
#include <mutex>

#include "server.h"

namespace
{

enum { STRIPES = 16, TENANTS = 64, ROWS = 1000 };

struct alignas(128) Stripe {
    std::mutex stripe_mutex;
    std::array<std::uint64_t, 700> rows{};
};

class TenantTable
{
  public:
    std::uint64_t update(std::uint64_t tenant, std::uint64_t row)
    {
        std::uint64_t key = server_fix("spread-keys") ? tenant * ROWS + row : tenant;
        Stripe &stripe = stripes_[key * 0x9e3779b97f4a7c15u >> 60];
        std::lock_guard<std::mutex> guard(stripe.stripe_mutex);
        return stripe.rows[row % 700] =
                   checksum(stripe.rows.data(), sizeof stripe.rows, tenant);
    }

  private:
    std::array<Stripe, STRIPES> stripes_;
};

TenantTable *table;
std::mutex billing_mutex;
std::uint64_t billed;

unsigned handle(request *request)
{
    bool large = random_below(request, 100) < 85;
    std::uint64_t tenant = large ? 7 : random_below(request, TENANTS);
    std::uint64_t row = random_below(request, ROWS);
    if (table->update(tenant, row) % 20 == 0) {
        std::lock_guard<std::mutex> guard(billing_mutex);
        billed++;
    }
    return 1;
}

void setup()
{
    table = new TenantTable;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
