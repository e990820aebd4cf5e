// SPDX-License-Identifier: MIT
// Controllers of a robot's joints share its pose, under a mutex with priority
// inheritance. It is passed from one sleeping thread to the next.
#include <array>
#include <cstdint>

#include "server.h"

namespace
{

class PoseMutex
{
  public:
    PoseMutex()
    {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        if (!server_fix("unfair-lock"))
            pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        pthread_mutex_init(&pose_mutex_, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }

    void lock()
    {
        pthread_mutex_lock(&pose_mutex_);
    }

    void unlock()
    {
        pthread_mutex_unlock(&pose_mutex_);
    }

  private:
    pthread_mutex_t pose_mutex_;
};

class Arm
{
  public:
    double move(unsigned joint, double angle)
    {
        mutex_.lock();
        angles_[joint % angles_.size()] += angle;
        double reach = 0, length = 1;
        for (double each : angles_) {
            length *= 0.9;
            reach += length * each * (1 - each * each / 6);
        }
        mutex_.unlock();
        return reach;
    }

  private:
    PoseMutex mutex_;
    std::array<double, 24> angles_{};
};

Arm *arm;
pthread_mutex_t trips_mutex = PTHREAD_MUTEX_INITIALIZER;
std::uint64_t trips;

unsigned handle(request *request)
{
    char encoder[300] = {1};
    std::uint64_t ticks = checksum(encoder, sizeof encoder, request->number);
    double reach = arm->move(request->worker, static_cast<double>(ticks % 7) * 1e-6);
    if (reach > 1e6 || ticks % 500 == 0) {
        pthread_mutex_lock(&trips_mutex);
        trips++;
        pthread_mutex_unlock(&trips_mutex);
    }
    return 1;
}

void setup()
{
    arm = new Arm;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"unfair-lock", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
