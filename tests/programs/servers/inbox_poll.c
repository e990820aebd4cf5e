/* SPDX-License-Identifier: MIT */
/* An actor waits for messages without looking whether its inbox has some. What
 * arrives while it works is signalled to nobody, and lies there until the wait times
 * out. */
#include <string.h>
#include <time.h>

#include "server.h"

enum { SENDERS = 256, WAIT_NS = 1500000 };

static struct inbox {
    pthread_mutex_t inbox_mu;
    pthread_cond_t posted;
    unsigned waiting;
    struct letter *letters[SENDERS];
} inbox = {.inbox_mu = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER};

struct letter {
    uint64_t text;
    bool answered;
    pthread_mutex_t letter_mu;
    pthread_cond_t reply;
};

static void await_mail(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (!server_fix("check-first") || inbox.waiting == 0)
        pthread_cond_timedwait(&inbox.posted, &inbox.inbox_mu, &until);
}

static void reply_to(struct letter *letter)
{
    pthread_mutex_lock(&letter->letter_mu);
    letter->text = checksum(&letter->text, sizeof letter->text, 1);
    letter->answered = true;
    pthread_cond_signal(&letter->reply);
    pthread_mutex_unlock(&letter->letter_mu);
}

static void *act(void *unused)
{
    struct letter *taken[SENDERS];
    char journal[120000] = {'j'};
    while (!server_stopping()) {
        pthread_mutex_lock(&inbox.inbox_mu);
        await_mail();
        unsigned count = inbox.waiting;
        memcpy(taken, inbox.letters, count * sizeof *taken);
        inbox.waiting = 0;
        pthread_mutex_unlock(&inbox.inbox_mu);
        for (unsigned i = 0; i < count; i++)
            reply_to(taken[i]);
        if (count > 0)
            journal[0] = (char)checksum(journal, sizeof journal, count);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    struct letter letter = {request->number, false, PTHREAD_MUTEX_INITIALIZER,
                            PTHREAD_COND_INITIALIZER};
    pthread_mutex_lock(&inbox.inbox_mu);
    inbox.letters[inbox.waiting++] = &letter;
    pthread_cond_signal(&inbox.posted);
    pthread_mutex_unlock(&inbox.inbox_mu);
    pthread_mutex_lock(&letter.letter_mu);
    while (!letter.answered)
        pthread_cond_wait(&letter.reply, &letter.letter_mu);
    pthread_mutex_unlock(&letter.letter_mu);
    return 1;
}

/* Answers what arrived after the actor had ended. */
static void stop(void)
{
    for (unsigned round = 0; round < 50; round++) {
        sleep_us(1000);
        pthread_mutex_lock(&inbox.inbox_mu);
        for (unsigned i = 0; i < inbox.waiting; i++)
            reply_to(inbox.letters[i]);
        inbox.waiting = 0;
        pthread_cond_broadcast(&inbox.posted);
        pthread_mutex_unlock(&inbox.inbox_mu);
    }
}

static void setup(void)
{
    server_background(act, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"check-first", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
