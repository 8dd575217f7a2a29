/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * foreign - memory that is not plain, without a device: a stand-in for a GPU's. Each of its bytes
 * is stored as another, so that whoever reads or writes it past struct ct_memory gets rubbish.
 *
 * With CT_FOREIGN=all or =some in the environment, all other memory of a program that starts with
 * check_start, or every other page of it, passes for such, too: then the programs of this folder
 * try all calls on it (a byte is stored as it is there: their own code goes on as ever).
 */
#ifndef CT_TESTS_FUNC_FOREIGN_H
#define CT_TESTS_FUNC_FOREIGN_H

#include <stddef.h>

/* After init: the library knows of it from now on. */
void foreign_plug(void);
/* What CT_FOREIGN says; does nothing without. */
void foreign_from_environment(void);
/* A range that is plain all the same; the last few are known. Returns it. */
void *foreign_exempt(void *at, ptrdiff_t len);

/* Its memory is aligned as malloc's. Not while other threads do the same. */
void *foreign_new(size_t len);
void  foreign_free(void *at);
void  foreign_put(void *to, const void *from, size_t len);
void  foreign_get(void *to, const void *from, size_t len);

/* The n-th copy by the library from now on fails, once, as if the memory were gone; 0: none does;
 * -1: all do. */
void foreign_fail(int n);

#endif
