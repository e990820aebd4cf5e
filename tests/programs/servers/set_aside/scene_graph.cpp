// SPDX-License-Identifier: MIT
// A scene has a mutex, and so has each of its nodes. A thread that moves a node locks
// the scene to find it and keeps that while it computes the node's new bounds under
// the node's own mutex. The remedy leaves the scene. The event list is the lesser
// evil.
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "../server.h"

namespace
{

constexpr unsigned NODES = 128;

struct Node {
    std::mutex node_mutex;
    std::vector<unsigned char> shape = std::vector<unsigned char>(8000);

    std::uint64_t move(std::uint64_t by)
    {
        std::lock_guard<std::mutex> guard(node_mutex);
        by = checksum(shape.data(), shape.size(), by);
        shape[by % shape.size()]++;
        return by;
    }
};

class Scene
{
  public:
    Scene()
    {
        for (unsigned i = 0; i < NODES; i++)
            nodes_[i] = std::make_shared<Node>();
    }

    std::uint64_t move(unsigned name, std::uint64_t by)
    {
        std::unique_lock<std::mutex> guard(scene_mutex_);
        std::shared_ptr<Node> node = nodes_[name];
        if (server_fix("unnest"))
            guard.unlock();
        return node->move(by);
    }

  private:
    std::mutex scene_mutex_;
    std::unordered_map<unsigned, std::shared_ptr<Node>> nodes_;
};

Scene scene;
std::mutex events_mutex;
std::vector<std::uint64_t> events = std::vector<std::uint64_t>(40);

unsigned handle(request *request)
{
    auto name = static_cast<unsigned>(random_below(request, NODES));
    std::uint64_t bounds = scene.move(name, request->number);
    std::lock_guard<std::mutex> guard(events_mutex);
    events[bounds % 40] = checksum(events.data(), 40 * sizeof bounds, bounds);
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"unnest", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
