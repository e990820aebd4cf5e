// SPDX-License-Identifier: MIT
// Multiplies matrices: what it waits for is memory and the CPU. Its locks are taken a
// few thousand times a second.
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

constexpr unsigned side = 96;

struct Results {
    std::mutex mutex;
    std::vector<double> traces = std::vector<double>(64);
    std::uint64_t next = 0;
};

Results results;
std::mutex seeds_mutex;
double seed = 1;

double multiply(double first)
{
    std::vector<double> left(side * side, first), right(side * side, 0.5);
    double trace = 0;
    for (unsigned i = 0; i < side; i++)
        for (unsigned k = 0; k < side; k++)
            for (unsigned j = 0; j < side; j++)
                trace += left[i * side + j] * right[j * side + k];
    return trace;
}

unsigned handle(request *request)
{
    double first;
    {
        std::lock_guard<std::mutex> guard(seeds_mutex);
        first = seed += 0.25;
    }
    double trace = multiply(first + static_cast<double>(request->number));
    std::lock_guard<std::mutex> guard(results.mutex);
    results.traces[results.next++ % 64] = trace;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
