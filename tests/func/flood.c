/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flood of small messages to a rank that is busy with something else: nothing is lost, the order
 * is kept, and its memory does not grow with their number. Rank 0 receives, the others send, with
 * blocking calls or all at once; rank 0 then takes them in order, by wildcards, or the last first.
 */
#include <sched.h>
#include <unistd.h>

#include "check.h"

enum { MESSAGES = 100000, TAG_IDLE = 7000, TAG_DONE = 7001, POLLS = 200000, SLACK = 4 << 20 };

static int each; /* messages of one sender */

/* Resident memory; 0 where it means nothing, with a sanitizer. */
static long resident_bytes(void)
{
    long        pages = 0, size;
    const char *sanitizer = getenv("CT_SANITIZER");
    FILE       *f = fopen("/proc/self/statm", "r");
    if (f != NULL) {
        if (fscanf(f, "%ld %ld", &size, &pages) != 2) {
            pages = 0;
        }
        fclose(f);
    }
    bool bare = sanitizer == NULL || strcmp(sanitizer, "none") == 0;
    return bare ? pages * sysconf(_SC_PAGESIZE) : 0;
}

/* Busy: it enters the library again and again, and asks for nothing that the others send. */
static void be_busy(void)
{
    ctran_request_t idle;
    int             flag, byte = 0;
    const long      before = resident_bytes();
    const size_t    credit = size_setting("CTRAN_UNEXPECTED_LIMIT", 4 << 20);
    OK(ctran_irecv(&byte, 1, CTRAN_BYTE, 0, TAG_IDLE, CTRAN_COMM_WORLD, &idle));
    for (int i = 0; i < POLLS; i++) {
        OK(ctran_test(&idle, &flag, CTRAN_STATUS_IGNORE));
        EXPECT(!flag);
        if (i % 100 == 0) {
            sched_yield();
        }
    }
    const long most = (long)credit * (check_size - 1) + SLACK, grown = resident_bytes() - before;
    if (grown > most) {
        check_fail(__FILE__, __LINE__, "resident memory has grown by %ld bytes, at most %ld wanted",
                   grown, most);
    }
    OK(ctran_send(&byte, 1, CTRAN_BYTE, 0, TAG_IDLE, CTRAN_COMM_WORLD));
    OK(ctran_wait(&idle, CTRAN_STATUS_IGNORE));
}

static void send_one_by_one(int tags)
{
    for (int i = 0; i < each; i++) {
        int64_t word = (int64_t)check_rank << 32 | i;
        OK(ctran_send(&word, 1, CTRAN_INT64_T, 0, i % tags, CTRAN_COMM_WORLD));
    }
}

static void send_at_once(int tags)
{
    ctran_request_t *requests = malloc((size_t)each * sizeof *requests);
    int64_t         *words = malloc((size_t)each * sizeof *words);
    EXPECT(requests != NULL && words != NULL);
    for (int i = 0; i < each; i++) {
        words[i] = (int64_t)check_rank << 32 | i;
        OK(ctran_isend(&words[i], 1, CTRAN_INT64_T, 0, i % tags, CTRAN_COMM_WORLD, &requests[i]));
    }
    OK(ctran_send(NULL, 0, CTRAN_BYTE, 0, TAG_DONE, CTRAN_COMM_WORLD));
    OK(ctran_waitall(each, requests, CTRAN_STATUSES_IGNORE));
    free(requests);
    free(words);
}

static void receive(int src, int tag, int *next)
{
    int64_t        word;
    ctran_status_t status;
    OK(ctran_recv(&word, 1, CTRAN_INT64_T, src, tag, CTRAN_COMM_WORLD, &status));
    src = status.CTRAN_SOURCE;
    EXPECT_EQ(src, word >> 32);
    EXPECT_EQ(next[src], (int)word);
    next[src]++;
}

static void flood_in_turn(void)
{
    int *next = calloc((size_t)check_size, sizeof *next);
    if (check_rank == 0) {
        be_busy();
        for (int i = 0; i < each; i++) {
            for (int src = 1; src < check_size; src++) {
                receive(src, i % 3, next);
            }
        }
    } else {
        send_one_by_one(3);
    }
    free(next);
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* its tags are used again */
}

static void flood_wild(void)
{
    int *next = calloc((size_t)check_size, sizeof *next);
    if (check_rank == 0) {
        be_busy();
        for (int i = 0; i < each * (check_size - 1); i++) {
            receive(CTRAN_ANY_SOURCE, 0, next);
        }
        for (int src = 1; src < check_size; src++) {
            OK(ctran_recv(NULL, 0, CTRAN_BYTE, src, TAG_DONE, CTRAN_COMM_WORLD,
                          CTRAN_STATUS_IGNORE));
        }
    } else {
        send_at_once(1);
    }
    free(next);
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* its tags are used again */
}

/* What is wanted first was sent last. */
static void flood_last_first(void)
{
    int *next = calloc((size_t)check_size, sizeof *next);
    if (check_rank == 0) {
        be_busy();
        for (int src = check_size - 1; src > 0; src--) {
            OK(ctran_recv(NULL, 0, CTRAN_BYTE, src, TAG_DONE, CTRAN_COMM_WORLD,
                          CTRAN_STATUS_IGNORE));
            for (int i = 0; i < each; i++) {
                receive(src, i % 3, next);
            }
        }
    } else {
        send_at_once(3);
    }
    free(next);
}

/* All flood all, and a collective comes through in between. */
static void flood_all(void)
{
    enum { COUNT = 2000 };
    ctran_request_t *requests = malloc((size_t)check_size * COUNT * sizeof *requests);
    int              n = 0, one = 1, sum = 0;
    EXPECT(requests != NULL);
    for (int i = 0; i < COUNT; i++) {
        for (int dst = 0; dst < check_size; dst++) {
            OK(ctran_isend(&check_rank, 1, CTRAN_INT, dst, i, CTRAN_COMM_WORLD, &requests[n++]));
        }
    }
    OK(ctran_allreduce(&one, &sum, 1, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD));
    EXPECT_EQ(check_size, sum);
    for (int i = 0; i < COUNT; i++) {
        for (int src = 0; src < check_size; src++) {
            int word = -1;
            OK(ctran_recv(&word, 1, CTRAN_INT, src, i, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
            EXPECT_EQ(src, word);
        }
    }
    OK(ctran_waitall(n, requests, CTRAN_STATUSES_IGNORE));
    free(requests);
}

static const struct subject subjects[] = {
    {"one by one, taken in turn", flood_in_turn},
    {"at once, taken by wildcards", flood_wild},
    {"at once, the last wanted first", flood_last_first},
    {"all to all", flood_all},
};

int main(int argc, char **argv)
{
    check_start(argc, argv);
    each = check_size > 1 ? MESSAGES / (check_size - 1) : 0;
    check_run(subjects, LEN(subjects));
    return check_end();
}
