// SPDX-License-Identifier: MIT
// A ledger of accounts. statement() finds the account under the ledger's mutex and
// keeps that mutex while it works on the account under the account's own.
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server.h"

namespace
{

struct Account {
    std::mutex account_mutex;
    std::string entries = std::string(8000, '0');
    std::uint64_t statements = 0;
};

class Ledger
{
  public:
    Ledger()
    {
        for (unsigned i = 0; i < 400; i++)
            accounts_[i] = std::make_unique<Account>();
    }

    std::uint64_t statement(std::uint64_t id)
    {
        std::unique_lock<std::mutex> guard(ledger_mutex_);
        Account &account = *accounts_.at(id);
        if (server_fix("unnest"))
            guard.unlock();
        return print(account);
    }

  private:
    static std::uint64_t print(Account &account)
    {
        std::lock_guard<std::mutex> guard(account.account_mutex);
        account.statements++;
        return checksum(account.entries.data(), account.entries.size(), 0);
    }

    std::mutex ledger_mutex_;
    std::map<std::uint64_t, std::unique_ptr<Account>> accounts_;
};

std::unique_ptr<Ledger> ledger;
std::mutex printer_mutex;
std::uint64_t pages;

unsigned handle(request *request)
{
    std::uint64_t printed = ledger->statement(random_below(request, 400));
    if (request->number % 20 == 0) {
        std::lock_guard<std::mutex> guard(printer_mutex);
        pages += printed % 4;
    }
    return 1;
}

void setup()
{
    ledger = std::make_unique<Ledger>();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"unnest", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
