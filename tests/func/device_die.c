/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_die - a rank that is killed while others fetch messages from its GPU: each receive ends,
 * with its message or with the error, and what had ended so is not written any more. Usage:
 * device_die SEED, on CUDA's driver (CT_DEVICE=cuda), three ranks, the last of which dies.
 */
#include <signal.h>
#include <unistd.h>

#include "device.h"

enum { WINDOW = 12, LEN = 3 << 20, ROUNDS = 40, TAG = 3 };

static char *host;

static void die(void)
{
    kill(getpid(), SIGKILL);
}

/* Sends rounds of messages, in turn to both others, and dies in the midst of one. */
static void victim(uint64_t *rng)
{
    const int       last = 1 + rng_below(rng, 3), polls = rng_below(rng, 300);
    char           *buf[WINDOW];
    ctran_request_t r[WINDOW];
    int             done;
    for (int i = 0; i < WINDOW; i++) {
        buf[i] = mem_new(DEVICE, LEN);
    }
    for (int round = 0;; round++) {
        for (int i = 0; i < WINDOW; i++) {
            content_fill(host, LEN, key_of(check_rank, i % 2, round, i));
            mem_put(DEVICE, buf[i], host, LEN);
            OK(ctran_isend(buf[i], LEN, CTRAN_BYTE, i % 2, TAG, CTRAN_COMM_WORLD, &r[i]));
        }
        for (int i = 0; round == last && i < polls; i++) {
            OK(ctran_testall(WINDOW, r, &done, CTRAN_STATUSES_IGNORE));
        }
        if (round == last) {
            die();
        }
        OK(ctran_waitall(WINDOW, r, CTRAN_STATUSES_IGNORE));
    }
}

/* The two that live, from one GPU to the other. */
static void go_on(void)
{
    char *out = mem_new(DEVICE, LEN), *in = mem_new(DEVICE, LEN);
    for (int round = 0; round < ROUNDS; round++) {
        content_fill(host, LEN, key_of(check_rank, 9, TAG, round));
        mem_put(DEVICE, out, host, LEN);
        OK(ctran_sendrecv(out, LEN, CTRAN_BYTE, !check_rank, 9, in, LEN, CTRAN_BYTE, !check_rank, 9,
                          CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        mem_get(DEVICE, host, in, LEN);
        EXPECT_CONTENT(host, LEN, key_of(!check_rank, 9, TAG, round));
    }
    mem_free(DEVICE, out);
    mem_free(DEVICE, in);
}

/* Receives a round; how many messages ended with the error. */
static int receive(char *const buf[], const int kinds[], int round, bool failed[])
{
    ctran_request_t r[WINDOW / 2];
    int             n = 0;
    for (int i = 0; i < WINDOW / 2; i++) {
        OK(ctran_irecv(buf[i], LEN, CTRAN_BYTE, check_size - 1, TAG, CTRAN_COMM_WORLD, &r[i]));
    }
    for (int i = 0; i < WINDOW / 2; i++) {
        const int rc = ctran_wait(&r[i], CTRAN_STATUS_IGNORE);
        failed[i] = rc != CTRAN_SUCCESS;
        n += failed[i];
        EXPECT_EQ(failed[i] ? CTRAN_ERR_PROC_FAILED : CTRAN_SUCCESS, rc);
        memset(host, 0x55, LEN);
        if (failed[i]) {
            mem_put(kinds[i], buf[i], host, LEN);
        }
    }
    for (int i = 0; i < WINDOW / 2; i++) {
        if (!failed[i]) {
            mem_get(kinds[i], host, buf[i], LEN);
            EXPECT_CONTENT(host, LEN,
                           key_of(check_size - 1, check_rank, round, 2 * i + check_rank));
        }
    }
    return n;
}

static void survivor(uint64_t *rng)
{
    char *buf[WINDOW / 2];
    int   kinds[WINDOW / 2];
    bool  failed[WINDOW / 2];
    for (int i = 0; i < WINDOW / 2; i++) {
        kinds[i] = rng_below(rng, mem_kinds);
        buf[i] = mem_new(kinds[i], LEN);
    }
    for (int round = 0; receive(buf, kinds, round, failed) == 0; round++) {
    }
    go_on();
    for (int i = 0; i < WINDOW / 2; i++) {
        mem_get(kinds[i], host, buf[i], LEN);
        for (size_t at = 0; failed[i] && at < LEN; at++) {
            EXPECT_EQ(0x55, host[at]);
        }
        mem_free(kinds[i], buf[i]);
    }
}

int main(int argc, char **argv)
{
    check_start(argc, argv);
    mem_start();
    uint64_t rng = rng_of((uint64_t)(77 + check_rank));
    EXPECT_EQ(3, check_size);
    EXPECT(mem_is_real());
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    host = malloc(LEN);
    EXPECT(host != NULL);
    if (check_rank == check_size - 1) {
        victim(&rng);
    }
    survivor(&rng);
    free(host);
    return check_end();
}
