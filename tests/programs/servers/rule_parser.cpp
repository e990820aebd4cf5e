// SPDX-License-Identifier: MIT
// Rules are parsed under a mutex that is locked and unlocked by hand. A syntax error
// throws past the unlock, and the next request waits for ever.
#include <mutex>
#include <stdexcept>
#include <string>

#include "server.h"

namespace
{

class RuleSet
{
  public:
    void add(const std::string &rule)
    {
        if (server_fix("release")) {
            std::lock_guard<std::mutex> guard(rules_mutex_);
            parse(rule);
            return;
        }
        rules_mutex_.lock();
        parse(rule);
        rules_mutex_.unlock();
    }

  private:
    void parse(const std::string &rule)
    {
        if (rule.find('?') != std::string::npos)
            throw std::invalid_argument(rule);
        digest_ = checksum(rule.data(), rule.size(), digest_);
        rules_++;
    }

    std::mutex rules_mutex_;
    std::uint64_t digest_ = 0, rules_ = 0;
};

RuleSet rules;
std::mutex errors_mutex;
std::uint64_t errors;

unsigned handle(request *request)
{
    sleep_us(500);
    std::string rule = "allow from " + std::to_string(request->random % 1000);
    if (request->worker == 0 && request->number % 400 == 399)
        rule += " ?";
    try {
        rules.add(rule);
    } catch (const std::invalid_argument &) {
        std::lock_guard<std::mutex> guard(errors_mutex);
        errors++;
    }
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"release", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, true};
    return server_main(count, words, &service);
}
