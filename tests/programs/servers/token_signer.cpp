// SPDX-License-Identifier: MIT
// Signs tokens. Signer::sign() computes the whole signature under its mutex, although
// only the serial number is shared.
#include <array>
#include <map>
#include <mutex>
#include <string>

#include "server.h"

namespace
{

class Signer
{
  public:
    std::uint64_t sign(const std::string &claims)
    {
        if (server_fix("shorten-section")) {
            std::uint64_t serial;
            {
                std::lock_guard<std::mutex> guard(mutex_);
                serial = serial_++;
            }
            return checksum(claims.data(), claims.size(), serial);
        }
        std::lock_guard<std::mutex> guard(mutex_);
        return checksum(claims.data(), claims.size(), serial_++);
    }

  private:
    std::mutex mutex_;
    std::uint64_t serial_ = 0;
};

class Audience
{
  public:
    void seen(unsigned worker)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        count_[worker % 16]++;
    }

  private:
    std::mutex mutex_;
    std::map<unsigned, std::uint64_t> count_;
};

Signer *signer;
Audience *audience;

unsigned handle(request *request)
{
    std::string claims(12000, 'c');
    claims += std::to_string(request->number);
    audience->seen(request->worker);
    return checksum(claims.data(), 3000, signer->sign(claims)) != 1;
}

void setup()
{
    signer = new Signer;
    audience = new Audience;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
