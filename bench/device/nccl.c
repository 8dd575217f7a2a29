/* SPDX-License-Identifier: BSD-3-Clause */
/* See nccl.h. The declarations are of NCCL's stable interface, version 2. */
#include "nccl.h"

#include <dlfcn.h>
#include <stdio.h>

#include <ctran.h>

enum { NCCL_INT8 = 0, NCCL_FLOAT32 = 7, NCCL_SUM = 0 };

struct nccl_id {
    char bytes[128];
};
typedef void *nccl_comm;

#define NCCL_FUNCTIONS(F)                                                                          \
    F(GetVersion, (int *version))                                                                  \
    F(GetUniqueId, (struct nccl_id * id))                                                          \
    F(CommInitRank, (nccl_comm * comm, int size, struct nccl_id id, int rank))                     \
    F(CommDestroy, (nccl_comm comm))                                                               \
    F(GroupStart, (void))                                                                          \
    F(GroupEnd, (void))                                                                            \
    F(Send, (const void *buf, size_t count, int type, int peer, nccl_comm, struct CUstream_st *))  \
    F(Recv, (void *buf, size_t count, int type, int peer, nccl_comm, struct CUstream_st *))        \
    F(AllGather, (const void *, void *, size_t count, int type, nccl_comm, struct CUstream_st *))  \
    F(Broadcast,                                                                                   \
      (const void *, void *, size_t count, int type, int root, nccl_comm, struct CUstream_st *))   \
    F(AllReduce,                                                                                   \
      (const void *, void *, size_t count, int type, int op, nccl_comm, struct CUstream_st *))     \
    F(ReduceScatter,                                                                               \
      (const void *, void *, size_t count, int type, int op, nccl_comm, struct CUstream_st *))

static struct {
#define MEMBER(name, args) int(*name) args;
    NCCL_FUNCTIONS(MEMBER)
#undef MEMBER
    const char *(*GetErrorString)(int);
} nccl;

static void     *library;
static nccl_comm comm;
static int       rank, size;
static char      version_text[32];

static int nccl_checked(const char *call, int rc)
{
    if (rc != 0) {
        fprintf(stderr, "rank %d: nccl%s: %s\n", rank, call, nccl.GetErrorString(rc));
    }
    return rc == 0 ? 0 : -1;
}
#define NCCL(name, args) nccl_checked(#name, nccl.name args)

/* ---- opening --------------------------------------------------------------------------------- */

static bool load(void)
{
    library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return false;
    }
    bool found = (nccl.GetErrorString = dlsym(library, "ncclGetErrorString")) != NULL;
#define LOOK(name, args) found &= (nccl.name = dlsym(library, "nccl" #name)) != NULL;
    NCCL_FUNCTIONS(LOOK)
#undef LOOK
    return found;
}

static bool all(bool here)
{
    int yes = here, everywhere = 0;
    ctran_allreduce(&yes, &everywhere, 1, CTRAN_INT, CTRAN_MIN, CTRAN_COMM_WORLD);
    return everywhere != 0;
}

bool nccl_open(void)
{
    struct nccl_id id;
    int            v = 0;
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    bool here = load() && NCCL(GetVersion, (&v)) == 0;
    here = here && (rank != 0 || NCCL(GetUniqueId, (&id)) == 0);
    if (!all(here)) {
        if (rank == 0) {
            printf("# no NCCL: libnccl.so.2 cannot be loaded on every rank\n");
        }
        return false;
    }
    ctran_bcast(&id, sizeof id, CTRAN_BYTE, 0, CTRAN_COMM_WORLD);
    snprintf(version_text, sizeof version_text, "%d.%d.%d", v / 10000, v / 100 % 100, v % 100);
    return all(NCCL(CommInitRank, (&comm, size, id, rank)) == 0);
}

void nccl_close(void)
{
    if (comm != NULL) {
        (void)NCCL(CommDestroy, (comm));
        comm = NULL;
    }
}

const char *nccl_version(void)
{
    return version_text;
}

/* ---- operations ------------------------------------------------------------------------------ */

int nccl_sendrecv(const void *from, void *to, size_t bytes, struct CUstream_st *s)
{
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int       rc = NCCL(GroupStart, ());
    rc |= NCCL(Send, (from, bytes, NCCL_INT8, next, comm, s));
    rc |= NCCL(Recv, (to, bytes, NCCL_INT8, before, comm, s));
    return rc | NCCL(GroupEnd, ());
}

int nccl_alltoall(const void *from, void *to, size_t bytes, struct CUstream_st *s)
{
    int rc = NCCL(GroupStart, ());
    for (int r = 0; r < size; r++) {
        size_t at = (size_t)r * bytes;
        rc |= NCCL(Send, ((const char *)from + at, bytes, NCCL_INT8, r, comm, s));
        rc |= NCCL(Recv, ((char *)to + at, bytes, NCCL_INT8, r, comm, s));
    }
    return rc | NCCL(GroupEnd, ());
}

int nccl_allgather(const void *from, void *to, size_t bytes, struct CUstream_st *s)
{
    return NCCL(AllGather, (from, to, bytes, NCCL_INT8, comm, s));
}

int nccl_bcast(const void *from, void *to, size_t bytes, struct CUstream_st *s)
{
    return NCCL(Broadcast, (from, to, bytes, NCCL_INT8, 0, comm, s));
}

int nccl_allreduce(const void *from, void *to, size_t bytes, struct CUstream_st *s)
{
    return NCCL(AllReduce, (from, to, bytes / sizeof(float), NCCL_FLOAT32, NCCL_SUM, comm, s));
}

int nccl_reduce_scatter(const void *from, void *to, size_t bytes, struct CUstream_st *s)
{
    return NCCL(ReduceScatter, (from, to, bytes / sizeof(float), NCCL_FLOAT32, NCCL_SUM, comm, s));
}
