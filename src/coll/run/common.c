/* SPDX-License-Identifier: BSD-3-Clause */
#define CT_FOLDER "run"
#include "coll/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmi/pmi.h"

/* The memory's last bytes: what its path leads to is believed only when it has the key. */
struct seal {
    uint64_t key[2];
};

/* What rank 0 tells the others of the memory it has made. */
struct record {
    uint64_t    local_group;
    struct seal seal;
    int32_t     pid, fd;
};

static size_t file_bytes(const struct ct_common *c)
{
    return ct_round_up(c->bytes, sizeof(uint64_t)) + sizeof(struct seal);
}

static char *seal_of(const struct ct_common *c)
{
    return c->base + file_bytes(c) - sizeof(struct seal);
}

static bool map(struct ct_common *c, int fd)
{
    void *base = mmap(NULL, file_bytes(c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    c->base = base != MAP_FAILED ? base : NULL;
    return c->base != NULL;
}

/* Rank 0's part. */
static bool create(const struct ct_run_ctx *ctx, struct ct_common *c, struct record *record)
{
    record->pid = getpid();
    record->local_group = ctx->p->job->local_group;
    record->fd = memfd_create("ctran-common", MFD_CLOEXEC);
    if (record->fd < 0 ||
        getrandom(&record->seal, sizeof record->seal, 0) != (ssize_t)sizeof record->seal ||
        ct_shmfile_reserve(record->fd, 0, file_bytes(c)) != 0 || !map(c, record->fd)) {
        ct_info(&ctx->p->log, "no %zu bytes of memory that %" PRIu32 " ranks share: %s",
                file_bytes(c), ctx->n, strerror(errno));
        return false;
    }
    memcpy(seal_of(c), &record->seal, sizeof record->seal);
    return true;
}

/* The others' part. */
static bool attach(const struct ct_run_ctx *ctx, struct ct_common *c, const struct record *record)
{
    char        path[64];
    struct stat st;
    if (record->fd < 0 || record->local_group != ctx->p->job->local_group) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/%" PRId32 "/fd/%" PRId32, record->pid, record->fd);
    int  fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
              (size_t)st.st_size == file_bytes(c) && map(c, fd) &&
              memcmp(seal_of(c), &record->seal, sizeof record->seal) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return ok;
}

extern const struct ct_algo ct_algo_knomial_bcast, ct_algo_bruck_allgather;

static int bcast(struct ct_run_ctx *ctx, void *buf, size_t bytes)
{
    return ct_run(&(struct ct_run_args){
        .ctx = ctx,
        .algo = &ct_algo_knomial_bcast,
        .env = {.radix = 2},
        .layout = {.elem_bytes = 1, .count = bytes, .buf = {{.base = buf}, {.base = buf}}},
        .chunks = 1});
}

/* In place; a byte of each rank. */
static int allgather(struct ct_run_ctx *ctx, char *all)
{
    return ct_run(&(struct ct_run_args){
        .ctx = ctx,
        .algo = &ct_algo_bruck_allgather,
        .env = {.radix = 2, .inplace = true},
        .layout = {.elem_bytes = 1, .count = ctx->n, .buf = {{.base = all}, {.base = all}}},
        .chunks = 1});
}

int ct_common_open(struct ct_run_ctx *ctx, size_t bytes, bool able, struct ct_common *out)
{
    struct record record = {.fd = -1};
    char          all[CT_COMMON_RANKS];
    *out = (struct ct_common){.bytes = bytes};
    bool ok = ctx->me != 0 || (able && create(ctx, out, &record));
    int  rc = bcast(ctx, &record, sizeof record);
    if (rc == CTRAN_SUCCESS) {
        all[ctx->me] = ok && able && (ctx->me == 0 || attach(ctx, out, &record));
        rc = allgather(ctx, all);
    }
    if (ctx->me == 0 && record.fd >= 0) {
        close(record.fd); /* all have opened it by now, or never will */
    }
    if (rc != CTRAN_SUCCESS || memchr(all, 0, ctx->n) != NULL) {
        ct_common_close(out);
    }
    return rc;
}

void ct_common_close(struct ct_common *c)
{
    if (c->base != NULL) {
        munmap(c->base, file_bytes(c));
        c->base = NULL;
    }
}
