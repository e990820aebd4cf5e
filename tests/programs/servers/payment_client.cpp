// SPDX-License-Identifier: MIT
// Payments carry an access token. The thread that finds it expired fetches a new one,
// and keeps the client's mutex until the answer of the identity provider is there.
#include <mutex>
#include <string>

#include "server.h"

namespace
{

struct Token {
    std::uint64_t key = 1;
    unsigned uses = 0;
};

class PaymentClient
{
  public:
    std::uint64_t access_key()
    {
        std::unique_lock<std::mutex> guard(token_mutex_);
        token_.uses++;
        if (token_.uses < 40 || renewing_)
            return token_.key;
        if (server_fix("move-blocking-out"))
            renew_outside(guard);
        else
            token_ = fetch_token(token_.key);
        return token_.key;
    }

  private:
    static Token fetch_token(std::uint64_t old)
    {
        sleep_us(2500); // the round trip to the identity provider
        return {checksum(&old, sizeof old, 17), 0};
    }

    /* The others go on with the old token, which the provider still accepts. */
    void renew_outside(std::unique_lock<std::mutex> &guard)
    {
        renewing_ = true;
        std::uint64_t old = token_.key;
        guard.unlock();
        Token renewed = fetch_token(old);
        guard.lock();
        token_ = renewed;
        renewing_ = false;
    }

    std::mutex token_mutex_;
    Token token_;
    bool renewing_ = false;
};

PaymentClient client;
std::mutex receipts_mutex;
std::uint64_t receipts, cents;

unsigned handle(request *request)
{
    std::uint64_t key = client.access_key();
    std::string body(3000, static_cast<char>('a' + request->number % 26));
    std::uint64_t signature = checksum(body.data(), body.size(), key);
    std::lock_guard<std::mutex> guard(receipts_mutex);
    receipts++;
    cents += signature % 10000;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
