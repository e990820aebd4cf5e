// SPDX-License-Identifier: MIT
// A request locks its session and then the registry; the reaper locks the registry
// and then each session that is idle. Flags keep the two apart at the moment:
// nothing in the locks does.
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

struct Session {
    pthread_mutex_t lock;
    std::atomic<bool> busy{false};
    std::uint64_t requests = 0;
};

pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t quota_lock = PTHREAD_MUTEX_INITIALIZER;
std::vector<std::unique_ptr<Session>> sessions;
std::uint64_t active, quota;

void serve(Session &session)
{
    pthread_mutex_lock(&session.lock);
    session.requests++;
    pthread_mutex_lock(&registry_lock);
    active++;
    pthread_mutex_unlock(&registry_lock);
    pthread_mutex_unlock(&session.lock);
}

unsigned handle(request *request)
{
    sleep_us(150);
    pthread_mutex_lock(&quota_lock);
    quota++;
    pthread_mutex_unlock(&quota_lock);
    Session &session = *sessions[random_below(request, sessions.size())];
    if (session.busy.exchange(true))
        return 0;
    serve(session);
    session.busy.store(false);
    return 1;
}

void reap_one(Session &session)
{
    if (session.busy.exchange(true))
        return;
    if (server_fix("fix-order")) {
        pthread_mutex_lock(&session.lock);
        pthread_mutex_lock(&registry_lock);
    } else {
        pthread_mutex_lock(&registry_lock);
        pthread_mutex_lock(&session.lock);
    }
    active -= session.requests;
    session.requests = 0;
    pthread_mutex_unlock(&session.lock);
    pthread_mutex_unlock(&registry_lock);
    session.busy.store(false);
}

void *reap(void *unused)
{
    while (!server_stopping()) {
        sleep_us(10000);
        for (auto &session : sessions)
            reap_one(*session);
    }
    return unused;
}

void setup()
{
    for (unsigned i = 0; i < 12; i++) {
        sessions.push_back(std::make_unique<Session>());
        pthread_mutex_init(&sessions.back()->lock, nullptr);
    }
    server_background(reap, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-order", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
