// SPDX-License-Identifier: MIT
// Sessions in a hash map. save() serialises and signs the session inside the critical
// section of the whole store.
#include <mutex>
#include <string>
#include <unordered_map>

#include "server.h"

namespace
{

struct Session {
    std::uint64_t signature = 0;
    std::string state = std::string(9000, 's');
};

struct SessionStore {
    std::mutex lock;
    std::unordered_map<std::uint64_t, Session> sessions;
    std::uint64_t saves = 0;
};

SessionStore *store;
std::mutex online_lock;
std::uint64_t online;

std::uint64_t sign(const std::string &state, std::uint64_t id)
{
    return checksum(state.data(), state.size(), id);
}

void save(std::uint64_t id)
{
    std::unique_lock<std::mutex> guard(store->lock);
    Session &session = store->sessions[id];
    if (server_fix("shorten-section")) {
        std::string copy = session.state;
        guard.unlock();
        std::uint64_t signature = sign(copy, id);
        guard.lock();
        session.signature = signature;
    } else {
        session.signature = sign(session.state, id);
    }
    store->saves++;
}

unsigned handle(request *request)
{
    std::uint64_t id = random_below(request, 300);
    if (id % 10 == 0) {
        std::lock_guard<std::mutex> guard(online_lock);
        online++;
    }
    std::string body(1500, 'b');
    save(id);
    return checksum(body.data(), body.size(), id) != 1;
}

void setup()
{
    store = new SessionStore;
    for (std::uint64_t id = 0; id < 300; id++)
        store->sessions[id] = Session();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
