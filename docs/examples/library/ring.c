/* SPDX-License-Identifier: MIT */
/* One process makes pictures of different sizes in a ring; another one reads them there.
 * Nothing is copied. */
#include <hasp/ring.h>

#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PICTURES = 100, ROOM = 1 << 16, MOST_ROWS = 100, WIDTH = 300 };

struct picture {
    int number, rows;
    unsigned char pixels[];
};

static int make(struct hasp_ring *ring)
{
    struct hasp_ring_sender sender;
    int failed = hasp_ring_sender_open(&sender, ring);
    for (int number = 0; number < PICTURES && !failed; number++) {
        void *space;
        failed = hasp_ring_reserve(&sender, sizeof(struct picture) + MOST_ROWS * WIDTH,
                                   &space, NULL);
        if (failed)
            break;
        struct picture *picture = (struct picture *)space;
        picture->number = number;
        picture->rows = 1 + number % MOST_ROWS;
        for (int i = 0; i < picture->rows * WIDTH; i++)
            picture->pixels[i] = (unsigned char)number;
        failed = hasp_ring_commit(&sender, sizeof(struct picture) +
                                               (size_t)picture->rows * WIDTH);
    }
    hasp_ring_sender_close(&sender);
    return failed;
}

static int show(struct hasp_ring *ring)
{
    struct hasp_ring_receiver receiver;
    const void *data;
    size_t length;
    long bytes = 0, sum = 0;
    int pictures = 0, result = hasp_ring_receiver_open(&receiver, ring);
    while (!result && !(result = hasp_ring_peek(&receiver, &data, &length, NULL))) {
        const struct picture *picture = (const struct picture *)data;
        if (picture->number != pictures++)
            return 1;
        for (int i = 0; i < picture->rows * WIDTH; i++)
            sum += picture->pixels[i];
        bytes += (long)length;
        hasp_ring_release(&receiver);
    }
    printf("%d pictures, %ld bytes, sum %ld, then: %s\n", pictures, bytes, sum,
           result == EPIPE ? "closed" : "died");
    return result != EPIPE;
}

int main(void)
{
    struct hasp_ring *ring =
        (struct hasp_ring *)mmap(NULL, hasp_ring_size(ROOM), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED ||
        hasp_ring_init(ring, ROOM, HASP_CHANNEL_PARK | HASP_CHANNEL_SHARED))
        return 1;
    if (fork() == 0)
        _exit(make(ring));
    int status = show(ring), failed = 0;
    while (wait(&failed) > 0)
        status |= failed;
    return status != 0;
}
