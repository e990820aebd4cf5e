// SPDX-License-Identifier: MIT
// A store of web sessions. A thread that removes expired ones scans all of them with
// exclusive access, though it finds few.
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "server.h"

namespace
{

struct Session {
    std::uint64_t expires = 0, user = 0;
};

class Sessions
{
  public:
    std::uint64_t user(std::size_t id)
    {
        std::shared_lock<std::shared_mutex> guard(sessions_mutex_);
        return sessions_[id].user;
    }

    void expire(std::uint64_t now)
    {
        if (server_fix("shorten-writes")) {
            std::vector<std::size_t> expired;
            {
                std::shared_lock<std::shared_mutex> guard(sessions_mutex_);
                expired = scan(now);
            }
            std::lock_guard<std::shared_mutex> guard(sessions_mutex_);
            renew(expired, now);
            return;
        }
        std::lock_guard<std::shared_mutex> guard(sessions_mutex_);
        renew(scan(now), now);
    }

    static constexpr std::size_t SIZE = 60000;

  private:
    std::vector<std::size_t> scan(std::uint64_t now)
    {
        std::vector<std::size_t> expired;
        std::uint64_t token = 0;
        for (std::size_t id = 0; id < SIZE; id++) {
            token = checksum(&sessions_[id].user, sizeof(std::uint64_t), token);
            if (sessions_[id].expires < now && id % 512 == now % 512)
                expired.push_back(id);
        }
        return expired;
    }

    void renew(const std::vector<std::size_t> &expired, std::uint64_t now)
    {
        for (std::size_t id : expired)
            sessions_[id] = {now + 2000, id * 31};
    }

    std::shared_mutex sessions_mutex_;
    std::vector<Session> sessions_ = std::vector<Session>(SIZE);
};

Sessions sessions;
std::mutex visits_mutex;
std::uint64_t visits[10];

void *expire_all(void *unused)
{
    for (std::uint64_t now = 0; !server_stopping(); now++) {
        sessions.expire(now);
        sleep_us(250);
    }
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(30);
    char page[1500] = {'s'};
    std::uint64_t user = sessions.user(random_below(request, Sessions::SIZE));
    std::uint64_t sum = checksum(page, sizeof page, user);
    if (sum % 16 == 0) {
        std::lock_guard<std::mutex> guard(visits_mutex);
        visits[sum % 10]++;
    }
    return 1;
}

void setup()
{
    server_background(expire_all, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
