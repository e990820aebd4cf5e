/* SPDX-License-Identifier: MIT */
/*
 * Threads that use OpenSSL 3, which takes reader-writer locks for every algorithm that
 * it fetches: each fetches a digest and hashes, and performs TLS handshakes between a
 * client and a server in memory, with a message each way.
 *
 *     openssl_threads [THREADS [HASHES [HANDSHAKES [SECONDS]]]]
 *
 * The counts are for each thread, which ends earlier when the time is up. Prints a
 * checksum of all hashes, which depends on the counts only, the number of handshakes
 * and messages that succeeded, and hashes per second and per second of CPU time.
 */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 256 };

static const char question[] = "question", answer[] = "the answer";
static long hashes = 20000, handshakes = 20;
static double end_at;
static SSL_CTX *server_context, *client_context;

struct worker {
    pthread_t thread;
    uint64_t seed, checksum;
    long hashes, handshakes;
};

static void fail(const char *what)
{
    fprintf(stderr, "%s failed\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static double seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t hash(uint64_t value)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    EVP_MD *algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!algorithm || !context || !EVP_DigestInit_ex2(context, algorithm, NULL) ||
        !EVP_DigestUpdate(context, &value, sizeof value) ||
        !EVP_DigestFinal_ex(context, digest, NULL))
        fail("hashing");
    EVP_MD_CTX_free(context);
    EVP_MD_free(algorithm);
    memcpy(&value, digest, sizeof value);
    return value;
}

static void move_bytes(SSL *from, SSL *to)
{
    char bytes[4096];
    int count;
    while ((count = BIO_read(SSL_get_wbio(from), bytes, sizeof bytes)) > 0)
        BIO_write(SSL_get_rbio(to), bytes, count);
}

static SSL *endpoint(SSL_CTX *context)
{
    SSL *ssl = SSL_new(context);
    if (!ssl)
        fail("SSL_new");
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    return ssl;
}

static void send_message(SSL *from, SSL *to, const char *text, size_t length)
{
    char received[64] = "";
    if (SSL_write(from, text, (int)length) != (int)length)
        fail("SSL_write");
    move_bytes(from, to);
    if (SSL_read(to, received, sizeof received) != (int)length ||
        memcmp(received, text, length) != 0)
        fail("SSL_read");
}

static void shake_hands(void)
{
    SSL *client = endpoint(client_context), *server = endpoint(server_context);
    SSL_set_connect_state(client);
    SSL_set_accept_state(server);
    for (int i = 0; i < 20 && !(SSL_is_init_finished(client) &&
                                SSL_is_init_finished(server));
         i++) {
        SSL_do_handshake(client);
        move_bytes(client, server);
        SSL_do_handshake(server);
        move_bytes(server, client);
    }
    send_message(client, server, question, sizeof question);
    send_message(server, client, answer, sizeof answer);
    SSL_free(client);
    SSL_free(server);
}

static bool time_is_up(void)
{
    return end_at > 0 && seconds(CLOCK_MONOTONIC) >= end_at;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    uint64_t value = worker->seed;
    long every = handshakes ? (hashes + handshakes - 1) / handshakes : 0;
    for (long i = 0; i < hashes && (i % 64 || !time_is_up()); i++) {
        value = hash(value);
        worker->hashes++;
        if (every && i % every == 0) {
            shake_hands();
            worker->handshakes++;
        }
    }
    worker->checksum = value;
    return NULL;
}

/* Makes a key and a certificate that signs itself. */
static void prepare(void)
{
    server_context = SSL_CTX_new(TLS_server_method());
    client_context = SSL_CTX_new(TLS_client_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    if (!server_context || !client_context || !key || !certificate)
        fail("preparing");
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_set_pubkey(certificate, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               (const unsigned char *)"test", -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    if (!X509_sign(certificate, key, EVP_sha256()) ||
        SSL_CTX_use_certificate(server_context, certificate) != 1 ||
        SSL_CTX_use_PrivateKey(server_context, key) != 1)
        fail("the certificate");
    SSL_CTX_set_verify(client_context, SSL_VERIFY_NONE, NULL);
}

int main(int count, char **words)
{
    static struct worker workers[MOST_THREADS];
    int threads = count > 1 ? atoi(words[1]) : 4;
    hashes = count > 2 ? atol(words[2]) : hashes;
    handshakes = count > 3 ? atol(words[3]) : handshakes;
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    prepare();
    double begun = seconds(CLOCK_MONOTONIC);
    double used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    end_at = count > 4 ? begun + atof(words[4]) : 0;
    for (int i = 0; i < threads; i++) {
        workers[i].seed = (uint64_t)i;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            fail("pthread_create");
    }
    uint64_t checksum = 0;
    long hashed = 0, shaken = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        checksum ^= workers[i].checksum;
        hashed += workers[i].hashes;
        shaken += workers[i].handshakes;
    }
    printf("checksum: %016llx\n", (unsigned long long)checksum);
    printf("handshakes: %ld\n", shaken);
    used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    printf("hashes/s: %.0f\n", (double)hashed / (seconds(CLOCK_MONOTONIC) - begun));
    printf("hashes per CPU second: %.0f\n", (double)hashed / used);
    return 0;
}
