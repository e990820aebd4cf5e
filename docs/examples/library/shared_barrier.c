/* SPDX-License-Identifier: MIT */
/* Processes compute in phases, in memory that they share. One of them is killed: the
 * others are told so, instead of waiting for it for ever. */
#include <hasp/shared_barrier.h>

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 3, PHASES = 200 };

static void *shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Returns 0 when all phases are done, or the error that ended them. */
static int work(struct hasp_shared_barrier *barrier, long (*cells)[WORKERS])
{
    struct hasp_member member;
    int result = hasp_member_open(&member, barrier);
    if (result)
        return result;
    const uint32_t self = hasp_member_index(&member);
    for (int phase = 0; phase < PHASES && !result; phase++) {
        cells[phase + 1][self] = cells[phase][(self + 1) % WORKERS] + 1;
        if (phase == PHASES - 1 && self == 0)
            raise(SIGKILL);
        result = hasp_member_wait(&member, NULL);
    }
    hasp_member_close(&member);
    return result;
}

int main(void)
{
    struct hasp_shared_barrier *barrier =
        shared_memory(hasp_shared_barrier_size(WORKERS));
    long(*cells)[WORKERS] = shared_memory((PHASES + 1) * sizeof *cells);
    if (!barrier || !cells ||
        hasp_shared_barrier_init(barrier, WORKERS, HASP_SHARED_BARRIER_PARK))
        return 1;
    for (int i = 0; i < WORKERS; i++)
        if (fork() == 0)
            _exit(work(barrier, cells));
    int status, killed = 0, told = 0;
    while (wait(&status) > 0) {
        killed += WIFSIGNALED(status);
        told += WIFEXITED(status) && WEXITSTATUS(status) == EOWNERDEAD;
    }
    printf("%ld phases, %d worker killed, %d told so\n", cells[PHASES - 1][0], killed,
           told);
    return 0;
}
