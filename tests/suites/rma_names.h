/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma_names.h - what the shared files of the OSU micro-benchmarks mention of one-sided
 * communication, which ctran is without: enough for them to compile. run_osu.py has it included
 * before all else; a program that came to such a call would end.
 */
#ifndef CT_SUITES_RMA_NAMES_H
#define CT_SUITES_RMA_NAMES_H

#include <stdlib.h>

typedef int MPI_Win;

#define MPI_WIN_NULL       0
#define MPI_LOCK_EXCLUSIVE 1
#define MPI_LOCK_SHARED    2

#define MPI_Win_create(base, size, disp_unit, info, comm, win)      (abort(), 0)
#define MPI_Win_create_dynamic(info, comm, win)                     (abort(), 0)
#define MPI_Win_allocate(size, disp_unit, info, comm, baseptr, win) (abort(), 0)
#define MPI_Win_attach(win, base, size)                             (abort(), 0)
#define MPI_Win_free(win)                                           (abort(), 0)

#endif
