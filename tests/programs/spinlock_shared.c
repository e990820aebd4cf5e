/* SPDX-License-Identifier: MIT */
/* Spin locks between processes, one of which may run without Hasp: then it is this
 * program again, without the preload. */
#include <sys/mman.h>

#include "spin_check.h"

enum { PROCESSES = 3 };

static struct counted *map_shared(int descriptor)
{
    int flags = descriptor < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    struct counted *object =
        mmap(NULL, sizeof *object, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    CHECK((void *)object != MAP_FAILED);
    return object;
}

/* The processes lose their CPU inside the critical section. */
static void between_processes(void)
{
    struct counted *object = map_shared(-1);
    pid_t children[PROCESSES];
    CHECK_OK(pthread_spin_init(&object->lock, PTHREAD_PROCESS_SHARED));
    object->rounds = check_rounds(2000);
    object->threads = 2 * PROCESSES;
    object->yields = 1;
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            pthread_t other = check_start(lock_body, object);
            lock_body(object);
            check_join(other);
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++)
        check_child(children[i]);
    CHECK_EQUAL(object->counter, 2L * PROCESSES * object->rounds);
    CHECK_OK(pthread_spin_trylock(&object->lock));
}

static void partner(void)
{
    struct counted *object = map_shared(atoi(getenv("CHECK_DESCRIPTOR")));
    CHECK(!check_interposed());
    if (getenv("CHECK_INITIALISES"))
        CHECK_OK(pthread_spin_init(&object->lock, PTHREAD_PROCESS_SHARED));
    else
        CHECK_RETURNS(pthread_spin_trylock(&object->lock), EBUSY);
    lock_body(object);
}

/* The partner is this program without Hasp. The lock is initialised by either. */
static void with_a_partner(int initialises)
{
    int descriptor = memfd_create("shared", 0);
    char number[16];
    CHECK_EQUAL(ftruncate(descriptor, sizeof(struct counted)), 0);
    struct counted *object = map_shared(descriptor);
    object->rounds = check_rounds(2000);
    object->threads = 3;
    object->yields = 1;
    if (!initialises) {
        CHECK_OK(pthread_spin_init(&object->lock, PTHREAD_PROCESS_SHARED));
        CHECK_OK(pthread_spin_lock(&object->lock));
    }
    snprintf(number, sizeof number, "%d", descriptor);
    setenv("CHECK_DESCRIPTOR", number, 1);
    if (initialises)
        setenv("CHECK_INITIALISES", "1", 1);
    pid_t child = fork();
    if (child == 0) {
        unsetenv("LD_PRELOAD");
        execl("/proc/self/exe", "spinlock_shared", "partner", (char *)NULL);
        _exit(1);
    }
    CHECK_UNTIL(check_get(&object->started) == 1);
    if (!initialises)
        CHECK_OK(pthread_spin_unlock(&object->lock));
    pthread_t other = check_start(lock_body, object);
    lock_body(object);
    check_join(other);
    check_child(child);
    CHECK_EQUAL(object->counter, 3L * object->rounds);
}

static void partner_without_hasp(void)
{
    with_a_partner(0);
}

static void initialised_without_hasp(void)
{
    with_a_partner(1);
}

int main(int count, char **words)
{
    static const struct check_case cases[] = {CASE(between_processes),
                                              CASE(partner_without_hasp),
                                              CASE(initialised_without_hasp)};
    if (count == 2 && strcmp(words[1], "partner") == 0) {
        partner();
        return 0;
    }
    return check_main(count, words, cases, sizeof cases / sizeof cases[0]);
}
