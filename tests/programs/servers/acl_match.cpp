// SPDX-License-Identifier: MIT
// A proxy compares each address with all its rules while the list of rules is locked.
// The list changes seldom: the remedy keeps it in a shared_ptr, and the mutex only
// guards the copy of that. The busy mutex of the denials does no harm.
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "server.h"

namespace
{

struct Rule {
    std::string pattern;
    bool allows = true;
};
using Rules = std::vector<Rule>;

bool matches(std::string_view pattern, std::string_view text)
{
    while (!pattern.empty()) {
        if (pattern[0] == '*') {
            pattern.remove_prefix(1);
            for (std::size_t at = 0; at <= text.size(); at++)
                if (matches(pattern, text.substr(at)))
                    return true;
            return false;
        }
        if (text.empty() || (pattern[0] != '?' && pattern[0] != text[0]))
            return false;
        pattern.remove_prefix(1);
        text.remove_prefix(1);
    }
    return text.empty();
}

bool decide(const Rules &rules, std::string_view address)
{
    for (const Rule &rule : rules)
        if (matches(rule.pattern, address))
            return rule.allows;
    return false;
}

class AccessList
{
  public:
    AccessList()
    {
        replace(0);
    }

    bool allows(std::string_view address)
    {
        std::unique_lock<std::mutex> guard(rules_mutex_);
        if (server_fix("shorten-section")) {
            std::shared_ptr<const Rules> held = rules_;
            guard.unlock();
            return decide(*held, address);
        }
        return decide(*rules_, address);
    }

    void replace(unsigned version)
    {
        auto next = std::make_shared<Rules>();
        for (unsigned i = 0; i < 700; i++)
            next->push_back({"*.h" + std::to_string(i + version % 2) + ".net", true});
        next->push_back({"*.org", false});
        std::lock_guard<std::mutex> guard(rules_mutex_);
        rules_ = std::move(next);
    }

  private:
    std::mutex rules_mutex_;
    std::shared_ptr<const Rules> rules_;
};

AccessList list;
std::mutex denials_mutex;
std::uint64_t decisions, denials;

void *reload(void *unused)
{
    for (unsigned version = 1; !server_stopping(); version++) {
        sleep_us(25000);
        list.replace(version);
    }
    return unused;
}

unsigned handle(request *request)
{
    char headers[9000] = {'H'};
    std::string address = "www" + std::to_string(random_below(request, 4000)) + ".org";
    bool allowed = list.allows(address);
    request->random += checksum(headers, sizeof headers, allowed) & 7;
    std::lock_guard<std::mutex> guard(denials_mutex);
    decisions++;
    denials += !allowed;
    return 1;
}

void setup()
{
    server_background(reload, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
