/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_small.h - the part of the generated mpi.h that is written by hand: what the small forms, with
 * int, need beside a conversion, and the deprecated names that have an equivalent. mpi_names.py
 * puts it into mpi.h, after the names that it makes itself. Names that MPI has removed are missing
 * on purpose.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t MPI_Offset;

/* In MPI's small form the length is an int: on a little-endian machine the lower half of ctran's,
 * at the same address. */
typedef void MPI_User_function(void *invec, void *inoutvec, int *len, MPI_Datatype *datatype);

static inline int MPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    return ctran_op_create((ctran_user_function *)user_fn, commute, op);
}

#define MPI_Op_create_c ctran_op_create

/* Predefined objects have MPI's names here. */
static inline void mpi_rename(char *name, int *len)
{
    if (strncmp(name, "CTRAN_", 6) == 0) {
        memmove(name, "MPI_", 4);
        memmove(name + 4, name + 6, strlen(name + 6) + 1);
        *len -= 2;
    }
}

static inline int MPI_Comm_get_name(MPI_Comm comm, char *name, int *resultlen)
{
    int rc = ctran_comm_get_name(comm, name, resultlen);
    if (rc == CTRAN_SUCCESS) {
        mpi_rename(name, resultlen);
    }
    return rc;
}

static inline int MPI_Type_get_name(MPI_Datatype datatype, char *name, int *resultlen)
{
    int rc = ctran_type_get_name(datatype, name, resultlen);
    if (rc == CTRAN_SUCCESS) {
        mpi_rename(name, resultlen);
    }
    return rc;
}

static inline int MPI_Win_get_name(MPI_Win win, char *name, int *resultlen)
{
    int rc = ctran_win_get_name(win, name, resultlen);
    if (rc == CTRAN_SUCCESS) {
        mpi_rename(name, resultlen);
    }
    return rc;
}

/* The displacement unit is an int there. */
static inline int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit,
                                       void *baseptr)
{
    MPI_Aint unit = 0;
    int      rc = ctran_win_shared_query(win, rank, size, &unit, baseptr);
    if (rc == CTRAN_SUCCESS) {
        *disp_unit = (int)unit;
    }
    return rc;
}

typedef ctran_win_errhandler_function MPI_Win_errhandler_fn;

/* Up to MPI-3.1 errors of calls without a communicator went to MPI_COMM_WORLD's handler, since then
 * to MPI_COMM_SELF's. Suites are older than that: what they give the one, the other gets, too. */
static inline int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    if (comm == CTRAN_COMM_WORLD) {
        ctran_comm_set_errhandler(CTRAN_COMM_SELF, errhandler);
    }
    return ctran_comm_set_errhandler(comm, errhandler);
}

/* The number of blocks that the arrays of a v-collective have. */
static inline int mpi_ranks(MPI_Comm comm)
{
    int n = 0;
    if (comm != CTRAN_COMM_NULL) {
        ctran_comm_size(comm, &n);
    }
    return n;
}

static inline int mpi_blocks(MPI_Comm comm)
{
    int n = 0, inter = 0;
    if (comm != CTRAN_COMM_NULL && ctran_comm_test_inter(comm, &inter) == 0 && inter) {
        ctran_comm_remote_size(comm, &n);
        return n;
    }
    return mpi_ranks(comm);
}

/* The root's arrays matter; others may give anything for them. */
static inline int mpi_root_blocks(int root, MPI_Comm comm)
{
    int rank = -1, inter = 0;
    if (comm == CTRAN_COMM_NULL) {
        return 0;
    }
    ctran_comm_test_inter(comm, &inter);
    ctran_comm_rank(comm, &rank);
    return (inter ? root == CTRAN_ROOT : root == rank) ? mpi_blocks(comm) : 0;
}

static inline int mpi_sided_blocks(const void *buf, MPI_Comm comm)
{
    return buf == CTRAN_IN_PLACE ? 0 : mpi_blocks(comm);
}

/* The sources or destinations of a neighbourhood. */
static inline int mpi_neighbours(int is_out, MPI_Comm comm)
{
    int kind = CTRAN_UNDEFINED, in = 0, out = 0, rank, weighted;
    if (comm != CTRAN_COMM_NULL) {
        ctran_topo_test(comm, &kind);
    }
    if (kind == CTRAN_CART) {
        ctran_cartdim_get(comm, &in);
        in = out = 2 * in;
    } else if (kind == CTRAN_GRAPH) {
        ctran_comm_rank(comm, &rank);
        ctran_graph_neighbors_count(comm, rank, &in);
        out = in;
    } else if (kind == CTRAN_DIST_GRAPH) {
        ctran_dist_graph_neighbors_count(comm, &in, &out, &weighted);
    }
    return is_out ? out : in;
}

/* A copy of n numbers, to be freed; NULL for NULL. */
static inline void *mpi_widen(const int *from, int n)
{
    int64_t *to = from == NULL ? NULL : malloc((n > 0 ? (size_t)n : 1) * sizeof *to);
    for (int i = 0; to != NULL && i < n; i++) {
        to[i] = from[i];
    }
    return to;
}

/* Such a copy that the library may still read when the call has returned: kept to the end. */
static inline void mpi_keep(void *copy)
{
    struct kept {
        struct kept *next;
        void        *copy;
    };
    static struct kept *all;
    struct kept        *k = malloc(sizeof *k);
    if (k != NULL) {
        *k = (struct kept){all, copy};
        all = k;
    }
}

/* What does not fit is CTRAN_UNDEFINED, as MPI has it. */
static inline int mpi_narrow(int64_t value)
{
    return value > INT_MAX ? CTRAN_UNDEFINED : (int)value;
}

/* ---- How a datatype was made: where ctran has large counts, the small forms have integers and
 * addresses. The first `ints` of the counts are integers, behind the first `head` of those. ---- */
struct mpi_small {
    ctran_count_t nints, ncounts, ntypes; /* in ctran's form */
    ctran_count_t ints, head;
    int           combiner;
};

static inline int mpi_small_of(MPI_Datatype datatype, struct mpi_small *s)
{
    ctran_count_t none;
    int           rc =
        ctran_type_get_envelope(datatype, &s->nints, &none, &s->ncounts, &s->ntypes, &s->combiner);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    s->head = 0;
    s->ints = s->ncounts;
    switch (s->combiner) {
    case CTRAN_COMBINER_HVECTOR:
    case CTRAN_COMBINER_HINDEXED_BLOCK:
        s->ints = 2;
        break;
    case CTRAN_COMBINER_HINDEXED:
    case CTRAN_COMBINER_STRUCT:
        s->ints = 1 + (s->ncounts - 1) / 2;
        break;
    case CTRAN_COMBINER_RESIZED:
        s->ints = 0;
        break;
    case CTRAN_COMBINER_SUBARRAY:
        s->head = 1;
        break;
    case CTRAN_COMBINER_DARRAY:
        s->head = 3;
        break;
    default:
        break;
    }
    return rc;
}

static inline int MPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers,
                                        int *num_addresses, int *num_datatypes, int *combiner)
{
    struct mpi_small s;
    int              rc = mpi_small_of(datatype, &s);
    if (rc == CTRAN_SUCCESS) {
        *num_integers = mpi_narrow(s.nints + s.ints);
        *num_addresses = mpi_narrow(s.ncounts - s.ints);
        *num_datatypes = mpi_narrow(s.ntypes);
        *combiner = s.combiner;
    }
    return rc;
}

static inline int MPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
                                        int max_datatypes, int array_of_integers[],
                                        MPI_Aint     array_of_addresses[],
                                        MPI_Datatype array_of_datatypes[])
{
    struct mpi_small s;
    int              rc = mpi_small_of(datatype, &s);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    int     *ints = calloc((size_t)s.nints + 1, sizeof *ints);
    int64_t *counts = calloc((size_t)s.ncounts + 1, sizeof *counts);
    if (max_integers < s.nints + s.ints || max_addresses < s.ncounts - s.ints) {
        s.nints = s.ncounts = -1; /* an error, which ctran is to tell */
    }
    rc = ctran_type_get_contents(datatype, s.nints, 0, s.ncounts, max_datatypes, ints, NULL, counts,
                                 array_of_datatypes);
    if (rc == CTRAN_SUCCESS) {
        int *to = array_of_integers;
        for (int64_t i = 0; i < s.nints + s.ints; i++) {
            if (i >= s.head && i < s.head + s.ints) {
                *to++ = (int)counts[i - s.head];
            } else {
                *to++ = ints[i < s.head ? i : i - s.ints];
            }
        }
        for (int64_t i = s.ints; i < s.ncounts; i++) {
            array_of_addresses[i - s.ints] = counts[i];
        }
    }
    free(ints);
    free(counts);
    return rc;
}

/* ---- Deprecated, but still in MPI-4.1. ---- */
typedef ctran_comm_copy_attr_function   MPI_Copy_function;
typedef ctran_comm_delete_attr_function MPI_Delete_function;
typedef ctran_comm_errhandler_function  MPI_Comm_errhandler_fn;
#define MPI_Keyval_create          ctran_comm_create_keyval
#define MPI_Keyval_free            ctran_comm_free_keyval
#define MPI_Attr_put               ctran_comm_set_attr
#define MPI_Attr_get               ctran_comm_get_attr
#define MPI_Attr_delete            ctran_comm_delete_attr
#define MPI_NULL_COPY_FN           CTRAN_COMM_NULL_COPY_FN
#define MPI_NULL_DELETE_FN         CTRAN_COMM_NULL_DELETE_FN
#define MPI_DUP_FN                 CTRAN_COMM_DUP_FN
#define MPI_Type_size_x            ctran_type_size
#define MPI_Type_get_extent_x      ctran_type_get_extent
#define MPI_Type_get_true_extent_x ctran_type_get_true_extent
#define MPI_Get_elements_x         ctran_get_elements
#define MPI_Status_set_elements_x  ctran_status_set_elements

/* Values that are names of constants, as a session's "thread_level", have MPI's here. */
static inline int MPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    int rc = ctran_info_get(info, key, valuelen, value, flag), len = 0;
    if (rc == CTRAN_SUCCESS && *flag) {
        mpi_rename(value, &len);
    }
    return rc;
}

/* ---- Types of other languages. ---- */
typedef int MPI_Fint;
