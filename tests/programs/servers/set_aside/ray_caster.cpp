// SPDX-License-Identifier: MIT
// Healthy: threads cast rays through a scene that nobody changes, row by row, and take
// the number of the next row from a counter with a mutex. A row takes a tenth of a
// millisecond or more, the counter nothing.
#include <atomic>
#include <cmath>
#include <mutex>

#include "../server.h"

namespace
{

constexpr unsigned ROWS = 480, COLUMNS = 320, SPHERES = 12;

class Rows
{
  public:
    unsigned next()
    {
        if (server_fix("use-atomic"))
            return atomic_next_++ % ROWS;
        std::lock_guard<std::mutex> guard(rows_mutex_);
        return next_++ % ROWS;
    }

  private:
    std::mutex rows_mutex_;
    unsigned next_ = 0;
    std::atomic<unsigned> atomic_next_{0};
};

Rows rows;
std::mutex image_mutex;
double image[ROWS];

double cast(double x, double y)
{
    double light = 0;
    for (unsigned i = 0; i < SPHERES; i++) {
        double dx = x - 0.3 * i, dy = y - 0.2 * i, square = 0.5 + i - dx * dx - dy * dy;
        if (square > 0)
            light += std::sqrt(square) / (1 + i);
    }
    return light;
}

unsigned handle(request *request)
{
    unsigned row = rows.next();
    double sum = 0;
    for (unsigned column = 0; column < COLUMNS; column++)
        for (unsigned sample = 0; sample < 4; sample++)
            sum += cast(0.01 * column + 0.002 * sample, 0.01 * row);
    request->random += static_cast<std::uint64_t>(sum) | 1;
    std::lock_guard<std::mutex> guard(image_mutex);
    image[row] = sum;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
