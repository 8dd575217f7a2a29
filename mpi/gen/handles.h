/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's handles are ctran's own. Written by generate.py; do not edit. */
#ifndef MPI_GEN_HANDLES_H
#define MPI_GEN_HANDLES_H

#define MPI_ABI_Op ct_op
#define MPI_ABI_Comm ct_comm
#define MPI_ABI_Group ct_group
#define MPI_ABI_Win ct_win
#define MPI_ABI_Session ct_mpi_session
#define MPI_ABI_Message ct_message
#define MPI_ABI_Info ct_info
#define MPI_ABI_Errhandler ct_errhandler
#define MPI_ABI_Request ct_request
#define MPI_ABI_Datatype ct_dtype

#endif
