// SPDX-License-Identifier: MIT
// A planner of routes keeps its distances, a scratch array, as a member, and therefore
// searches the whole map under its mutex. The remedy gives each thread its own array.
// The thread that draws the map has another mutex all the time and disturbs nobody.
#include <limits>
#include <mutex>
#include <vector>

#include "../server.h"

namespace
{

constexpr unsigned NODES = 900, EDGES = 5;

class Planner
{
  public:
    Planner()
    {
        request source = {0, 0, 17};
        for (unsigned i = 0; i < NODES * EDGES; i++)
            to_.push_back(static_cast<unsigned>(random_below(&source, NODES)));
    }

    unsigned plan(unsigned from, unsigned target)
    {
        if (server_fix("shorten-section")) {
            static thread_local std::vector<unsigned> own;
            return search(own, from, target);
        }
        std::lock_guard<std::mutex> guard(planner_mutex_);
        return search(distances_, from, target);
    }

  private:
    unsigned search(std::vector<unsigned> &distances, unsigned from,
                    unsigned target) const
    {
        distances.assign(NODES, std::numeric_limits<unsigned>::max());
        std::vector<unsigned> &open = queue();
        open.assign(1, from);
        distances[from] = 0;
        for (unsigned next = 0; next < open.size(); next++) {
            unsigned node = open[next];
            for (unsigned i = node * EDGES; i < node * EDGES + EDGES; i++)
                if (distances[to_[i]] == std::numeric_limits<unsigned>::max()) {
                    distances[to_[i]] = distances[node] + 1;
                    open.push_back(to_[i]);
                }
        }
        return distances[target];
    }

    static std::vector<unsigned> &queue()
    {
        static thread_local std::vector<unsigned> open;
        return open;
    }

    std::mutex planner_mutex_;
    std::vector<unsigned> to_, distances_;
};

Planner planner;
std::mutex picture_mutex;

void *draw_map(void *unused)
{
    while (!server_stopping()) {
        std::lock_guard<std::mutex> guard(picture_mutex);
        sleep_us(3000);
    }
    return unused;
}

unsigned handle(request *request)
{
    auto from = static_cast<unsigned>(random_below(request, NODES));
    auto target = static_cast<unsigned>(random_below(request, NODES));
    request->random += planner.plan(from, target) | 1;
    unsigned char answer[1500] = {};
    request->random += checksum(answer, sizeof answer, from) | 1;
    return 1;
}

void setup()
{
    server_background(draw_map, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
