/* SPDX-License-Identifier: MIT */
/* Threads use two objects under the executor of the first argument. The second argument
 * may be "fork": a forked child uses an object, too; "few": there are fewer sections;
 * "destroy": the objects are destroyed at the end. */
#include <hasp/delegate.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 4000, FEW = 40, OF_CHILD = 500 };

struct book {
    struct hasp_delegate pages;
    long count;
};

struct entry {
    struct book *book;
    char text[56];
};

static struct book books[2];
static int rounds = ROUNDS;

static void *write_entry(void *context)
{
    struct entry *entry = context;
    entry->book->count++;
    return NULL;
}

static void write_entries(struct book *book, int count)
{
    for (int i = 0; i < count; i++) {
        struct entry entry = {book, ""};
        hasp_delegate_run_sized(&book->pages, write_entry, &entry, sizeof entry);
    }
}

static void *work(void *unused)
{
    for (int i = 0; i < rounds; i++)
        write_entries(&books[i % 4 == 0], 1);
    return unused;
}

static int child(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    write_entries(&books[0], OF_CHILD);
    return pthread_join(thread, NULL);
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];
    if (count < 2 || hasp_delegate_init(&books[0].pages, words[1]) != 0)
        return 2;
    if (hasp_delegate_init(&books[1].pages, words[1]) != 0)
        return 2;
    if (count > 2 && strcmp(words[2], "few") == 0)
        rounds = FEW;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (count > 2 && strcmp(words[2], "fork") == 0) {
        const pid_t id = fork();
        int status;
        if (id == 0)
            _exit(child());
        if (waitpid(id, &status, 0) != id || status != 0)
            return 1;
    }
    printf("%ld %ld\n", books[0].count, books[1].count);
    if (count > 2 && strcmp(words[2], "destroy") == 0)
        for (int i = 0; i < 2; i++)
            hasp_delegate_destroy(&books[i].pages);
    return 0;
}
