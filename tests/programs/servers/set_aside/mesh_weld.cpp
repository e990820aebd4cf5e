// SPDX-License-Identifier: MIT
// An editor welds vertices under the mutex of its mesh, for two tenths of a
// millisecond. Nine threads that simplify meshes for a view nobody has open use the
// CPUs as well, so a thread that has the mutex is often without a CPU, and all that
// edit wait.
#include <mutex>
#include <vector>

#include "../server.h"

namespace
{

constexpr unsigned SIMPLIFIERS = 9;

class Mesh
{
  public:
    std::uint64_t weld(std::uint64_t vertex)
    {
        std::lock_guard<std::mutex> guard(mesh_mutex_);
        for (unsigned pass = 0; pass < 10; pass++)
            vertex = checksum(vertices_.data(), vertices_.size(), vertex);
        vertices_[vertex % vertices_.size()]++;
        return vertex;
    }

  private:
    std::mutex mesh_mutex_;
    std::vector<unsigned char> vertices_ = std::vector<unsigned char>(20000);
};

Mesh mesh;
std::mutex undo_mutex;
std::uint64_t undo_steps;

void *simplify(void *unused)
{
    std::vector<unsigned char> copy(40000);
    while (!server_stopping())
        copy[0] = static_cast<unsigned char>(checksum(copy.data(), copy.size(), 3));
    return unused;
}

unsigned handle(request *request)
{
    request->random += mesh.weld(request->number) | 1;
    {
        std::lock_guard<std::mutex> guard(undo_mutex);
        undo_steps++;
    }
    sleep_us(150); // the pointer moves
    return 1;
}

void setup()
{
    unsigned simplifiers = server_fix("fewer-threads") ? 0 : SIMPLIFIERS;
    for (unsigned i = 0; i < simplifiers; i++)
        server_background(simplify, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
