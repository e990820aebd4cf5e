// SPDX-License-Identifier: MIT
// A linker's symbol table in 32 parts. Symbols are numbered in steps of 32, and the
// part is the number modulo 32. Only a few symbols of another tool have odd numbers.
#include <array>
#include <memory>
#include <mutex>

#include "server.h"

namespace
{

class Part
{
  public:
    std::uint64_t resolve(std::uint64_t symbol)
    {
        std::lock_guard<std::mutex> guard(part_mutex_);
        uses_++;
        entries_[symbol / 32 % 512] ^= symbol;
        return checksum(entries_.data(), sizeof entries_, symbol);
    }

  private:
    std::mutex part_mutex_;
    std::uint64_t uses_ = 0;
    std::array<std::uint64_t, 512> entries_{};
};

std::array<std::unique_ptr<Part>, 32> parts;
std::mutex diagnostics_mutex;
std::uint64_t undefined;

std::size_t part_of(std::uint64_t symbol)
{
    if (server_fix("spread-keys"))
        return symbol * 0x9e3779b97f4a7c15u >> 59;
    return symbol % 32;
}

unsigned handle(request *request)
{
    std::uint64_t symbol = random_below(request, 1u << 20) * 32;
    if (random_below(request, 20) == 0)
        symbol += random_below(request, 32);
    std::uint64_t address = parts[part_of(symbol)]->resolve(symbol);
    if (address % 100 == 0) {
        std::lock_guard<std::mutex> guard(diagnostics_mutex);
        undefined++;
    }
    return 1;
}

void setup()
{
    for (auto &part : parts)
        part = std::make_unique<Part>();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
