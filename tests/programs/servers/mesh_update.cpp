// SPDX-License-Identifier: MIT
// An update replaces the triangles of a mesh by new objects while all meshes are
// locked. The remedy creates them before and deletes the old ones after the section.
#include <memory>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

struct Triangle {
    std::uint32_t corners[3];
    float normal[3];
    std::unique_ptr<char[]> texture;
};

using Mesh = std::vector<std::unique_ptr<Triangle>>;

Mesh create(std::uint64_t number)
{
    Mesh mesh;
    for (std::uint32_t i = 0; i < 16; i++) {
        auto triangle = std::make_unique<Triangle>();
        triangle->corners[0] = static_cast<std::uint32_t>(number) + i;
        triangle->texture.reset(new char[64 + number % 8 * 32]);
        mesh.push_back(std::move(triangle));
    }
    return mesh;
}

std::mutex meshes_mutex;
std::vector<Mesh> meshes(64);
std::mutex frames_mutex;
std::uint64_t frames;

void replace(std::size_t place, std::uint64_t number)
{
    if (server_fix("allocate-outside")) {
        Mesh fresh = create(number);
        std::unique_lock<std::mutex> lock(meshes_mutex);
        meshes[place].swap(fresh);
        lock.unlock();
        return;
    }
    std::lock_guard<std::mutex> guard(meshes_mutex);
    meshes[place] = create(number);
}

unsigned handle(request *request)
{
    char scene[1100] = {'s'};
    std::uint64_t number = checksum(scene, sizeof scene, request->number);
    replace(random_below(request, 64), number);
    if (request->number % 32 == 0) {
        std::lock_guard<std::mutex> guard(frames_mutex);
        frames++;
    }
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"allocate-outside", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
