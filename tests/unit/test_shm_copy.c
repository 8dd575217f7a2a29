/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer's memory as a file: it is that of the process it was opened for, as long as that lives,
 * and what cannot be read that way is said to be so.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#include "net/shm_copy.h"

enum { MOST = 3 * 4096 };

/* What the child has, at the same addresses as this process. */
static struct ct_shm_head *head;
static unsigned char      *theirs, *hole;

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i * 2654435761u >> 13);
}

static struct ct_shm_addr address(pid_t pid)
{
    return (struct ct_shm_addr){.pid = pid,
                                .pid_space = ct_shm_pid_space(),
                                .head = (uintptr_t)head,
                                .nonce = {head->nonce[0], head->nonce[1]}};
}

/* Writes its memory, says so, and stays until nobody has the other end of the pipe. */
static void be_peer(int said, int end)
{
    char c = 0;
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    for (size_t i = 0; i < MOST; i++) {
        theirs[i] = byte_at(i);
    }
    (void)!write(said, &c, 1);
    (void)!read(end, &c, 1);
    _exit(0);
}

static struct ct_shm_addr peer;
static struct ct_shm_file file;

static bool reads(unsigned char *to, const unsigned char *from, size_t len_bytes)
{
    const struct ct_shm_mate   mate = {.how = CT_SHM_COPY_CMA, .pid = peer.pid};
    const struct ct_area       area = {.base = to, .len_bytes = len_bytes};
    const struct ct_net_remote what = {
        .addr = (uintptr_t)from, .len_bytes = len_bytes, .mutual = true};
    return ct_shm_file_read(&file, &mate, &peer, &area, &what);
}

/* From several places on to the end: no byte more is written. */
static void check_reads(void)
{
    unsigned char mine[MOST + 1];
    for (size_t at = 0; at < MOST; at += 1021) {
        const size_t len = MOST - at;
        memset(mine, 0xee, sizeof mine);
        assert_true(reads(mine, theirs + at, len));
        for (size_t i = 0; i < len; i++) {
            assert_int_equal(mine[i], byte_at(at + i));
        }
        assert_int_equal(mine[len], 0xee);
    }
    assert_true(!reads(mine, hole, 64));
    assert_true(!reads(mine, hole - 64, 128)); /* half of it is there */
}

/* Whether this machine lets a process read another's memory as a file. */
static bool is_allowed(pid_t pid)
{
    char path[32];
    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    const int  fd = open(path, O_RDONLY | O_CLOEXEC);
    char       c;
    const bool allowed = fd >= 0 && pread(fd, &c, 1, (off_t)(uintptr_t)theirs) == 1;
    if (fd >= 0) {
        close(fd);
    }
    return allowed;
}

static void test_file(void **state)
{
    int           said[2], end[2];
    char          c;
    unsigned char mine[64];
    (void)state;
    assert_true(pipe(said) == 0 && pipe(end) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(end[1]);
        be_peer(said[1], end[0]);
    }
    assert_int_equal(read(said[0], &c, 1), 1);
    peer = address(pid);
    if (!is_allowed(pid)) {
        kill(pid, SIGKILL);
        exit(77);
    }
    check_reads();
    struct ct_shm_addr other = peer;
    other.nonce[1]++;
    assert_int_equal(ct_shm_copy_open(&other), -1); /* another process has the pid */
    close(end[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_false(reads(mine, theirs, sizeof mine)); /* it has ended */
    assert_int_equal(ct_shm_copy_open(&peer), -1);
    ct_shm_file_close(&file);
    close(said[0]);
    close(said[1]);
    close(end[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_file)};
    head = aligned_alloc(CT_CACHE_LINE, sizeof *head);
    theirs = mmap(NULL, MOST + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (head == NULL || theirs == MAP_FAILED) {
        return 1;
    }
    memset(head, 0, sizeof *head);
    head->nonce[0] = 11;
    head->nonce[1] = 12;
    hole = theirs + MOST;
    if (madvise(hole, 4096, MADV_DONTFORK) != 0) { /* only the child has none */
        return 1;
    }
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    munmap(theirs, MOST + 4096);
    free(head);
    return rc;
}
