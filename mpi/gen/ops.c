/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators (chapter 6). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Op_commutative(MPI_Op op, int *commute)
{
    return ctran_op_commutative(op, commute);
}
NAME(Op_commutative)

int PMPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
    return ctran_op_create(user_fn, commute, op);
}
NAME(Op_create_c)

int PMPI_Op_free(MPI_Op *op)
{
    return ctran_op_free(op);
}
NAME(Op_free)

int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype,
                      MPI_Op op)
{
    return ctran_reduce_local(inbuf, inoutbuf, count, datatype, op);
}
NAME(Reduce_local)

int PMPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op)
{
    return ctran_reduce_local(inbuf, inoutbuf, count, datatype, op);
}
NAME(Reduce_local_c)
