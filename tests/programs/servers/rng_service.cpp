// SPDX-License-Identifier: MIT
// Random numbers for simulations. Each thread has a generator of its own, and yet every
// number is drawn under that generator's mutex.
#include <memory>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class alignas(128) Generator
{
  public:
    explicit Generator(std::uint64_t seed) : state_(seed | 1)
    {
    }

    double draw()
    {
        if (server_fix("drop-lock"))
            return advance();
        std::lock_guard<std::mutex> guard(generator_mutex_);
        return advance();
    }

  private:
    double advance()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<double>(state_ >> 11) * 0x1p-53;
    }

    std::mutex generator_mutex_;
    std::uint64_t state_;
};

std::vector<std::unique_ptr<Generator>> generators;
std::mutex result_mutex;
double inside, all;

unsigned handle(request *request)
{
    Generator &generator = *generators[request->worker];
    unsigned hits = 0;
    for (unsigned i = 0; i < 500; i++) {
        double x = generator.draw(), y = generator.draw();
        hits += x * x + y * y < 1;
    }
    std::lock_guard<std::mutex> guard(result_mutex);
    inside += hits;
    all += 500;
    return 500;
}

void setup()
{
    for (unsigned i = 0; i < server_threads(); i++)
        generators.push_back(std::make_unique<Generator>(i * 7919 + 13));
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"drop-lock", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
