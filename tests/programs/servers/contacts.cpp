// SPDX-License-Identifier: MIT
// An address book of 180,000 contacts. The class of a contact has a recursive mutex,
// made in its constructor, though the threads only ever edit a few contacts.
#include <cstdint>
#include <memory>
#include <vector>

#include "server.h"

namespace
{

class ContactMutex
{
  public:
    ContactMutex()
    {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_init(&contact_mutex_, &attributes);
    }

    ContactMutex(const ContactMutex &) = delete;
    ContactMutex &operator=(const ContactMutex &) = delete;

    ~ContactMutex()
    {
        pthread_mutex_destroy(&contact_mutex_);
    }

    void lock()
    {
        pthread_mutex_lock(&contact_mutex_);
    }

    void unlock()
    {
        pthread_mutex_unlock(&contact_mutex_);
    }

  private:
    pthread_mutex_t contact_mutex_;
};

struct Contact {
    std::unique_ptr<ContactMutex> own;
    std::uint32_t edits = 0, phone = 0;
};

std::vector<Contact> contacts(180000);
std::vector<ContactMutex> shared_mutexes(32);
pthread_mutex_t sync_mutex = PTHREAD_MUTEX_INITIALIZER;
std::uint64_t changes;

ContactMutex &mutex_of(std::size_t id)
{
    return server_fix("fewer-locks") ? shared_mutexes[id % 32] : *contacts[id].own;
}

unsigned handle(request *request)
{
    sleep_us(90);
    std::size_t id = random_below(request, 400) * 401;
    ContactMutex &mutex = mutex_of(id);
    mutex.lock();
    contacts[id].edits++;
    contacts[id].phone = static_cast<std::uint32_t>(request->random);
    mutex.unlock();
    if (id % 50 == 0) {
        pthread_mutex_lock(&sync_mutex);
        changes++;
        pthread_mutex_unlock(&sync_mutex);
    }
    return 1;
}

void setup()
{
    if (!server_fix("fewer-locks"))
        for (auto &contact : contacts)
            contact.own = std::make_unique<ContactMutex>();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-locks", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
