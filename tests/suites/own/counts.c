/* SPDX-License-Identifier: BSD-3-Clause */
/* The forms with int: arrays of counts, results, and how a datatype was made. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int errs;

static void same(const char *what, long wanted, long found)
{
    if (wanted != found) {
        printf("%s: wanted %ld, found %ld\n", what, wanted, found);
        errs++;
    }
}

/* Rank i sends i + j + 1 numbers to rank j. */
static void blocks(int me, int n)
{
    int out[64], in[64], lens[8], displs[8], at = 0;
    for (int i = 0; i < 64; i++) {
        out[i] = 100 * me + i;
    }
    for (int j = 0; j < n; j++) {
        lens[j] = me + j + 1;
        displs[j] = at;
        at += lens[j];
    }
    MPI_Alltoallv(out, lens, displs, MPI_INT, in, lens, displs, MPI_INT, MPI_COMM_WORLD);
    for (int j = 0; j < n; j++) {
        int first = 0; /* where rank j has its block for this one */
        for (int k = 0; k < me; k++) {
            first += j + k + 1;
        }
        for (int k = 0; k < lens[j]; k++) {
            same("alltoallv", 100 * j + first + k, in[displs[j] + k]);
        }
    }
}

static void datatypes(void)
{
    int          lens[] = {1, 2}, ints[8] = {0}, nints, naddrs, ntypes, combiner, size;
    MPI_Aint     displs[] = {0, 8}, addrs[2], lb, extent;
    MPI_Datatype type, old, types[] = {MPI_CHAR, MPI_INT}, got[2];
    MPI_Type_create_struct(2, lens, displs, types, &type);
    MPI_Type_size(type, &size);
    same("size", 9, size);
    MPI_Type_get_extent(type, &lb, &extent);
    same("extent", 16, extent);
    MPI_Type_get_envelope(type, &nints, &naddrs, &ntypes, &combiner);
    same("integers", 3, nints);
    same("addresses", 2, naddrs);
    same("datatypes", 2, ntypes);
    same("combiner", MPI_COMBINER_STRUCT, combiner);
    MPI_Type_get_contents(type, nints, naddrs, ntypes, ints, addrs, got);
    same("second length", 2, ints[2]);
    same("second displacement", 8, addrs[1]);
    MPI_Type_free(&type);

    int sizes[] = {4, 5}, parts[] = {2, 3}, starts[] = {1, 2};
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_get_envelope(type, &nints, &naddrs, &ntypes, &combiner);
    same("integers of a subarray", 8, nints);
    MPI_Type_get_contents(type, 8, 0, 1, ints, NULL, &old);
    same("its dimensions", 2, ints[0]);
    same("its first size", 4, ints[1]);
    same("its last start", 2, ints[6]);
    same("its order", MPI_ORDER_C, ints[7]);
    MPI_Type_free(&type);
}

static void sum(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *len; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

int main(int argc, char **argv)
{
    int        me, n, count, total, len;
    char       name[MPI_MAX_OBJECT_NAME], packed[16];
    MPI_Op     op;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    blocks(me, n);
    datatypes();

    int in = me, position = 4;
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 0, &in, 1, MPI_INT, MPI_ANY_SOURCE, 0,
                 MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    same("count", 1, count);
    same("source", (me + n - 1) % n, status.MPI_SOURCE);
    MPI_Pack(&me, 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
    same("position", 8, position);
    MPI_Op_create(sum, 1, &op);
    MPI_Allreduce(&me, &total, 1, MPI_INT, op, MPI_COMM_WORLD);
    same("sum", n * (n - 1) / 2, total);
    MPI_Op_free(&op);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &len);
    same("name", 0, strcmp(name, "MPI_COMM_WORLD"));

    MPI_Allreduce(&errs, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0 && total == 0) {
        printf(" No Errors\n");
    }
    MPI_Finalize();
    return total != 0;
}
