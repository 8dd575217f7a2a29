/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the files that MNIST and its kin come in: IDX, compressed by gzip. An IDX file
 * is a magic number that holds the element type and the number of dimensions, the
 * dimensions as 32-bit big-endian numbers, then the elements. Here these are bytes, in
 * one dimension (labels) or three (images).
 */
#ifndef EXAMPLES_IDX_H
#define EXAMPLES_IDX_H

#include <stddef.h>
#include <stdint.h>

struct idx {
    size_t   count;      /* images or labels */
    size_t   rows, cols; /* of an image; 1 and 1 for labels */
    uint8_t *data;       /* count * rows * cols bytes, from malloc; the caller frees it */
};

/* Reads the file `name` of the folder `dir`, which must have `dims` dimensions (1 or 3).
 * Returns 0, or -1 after a message on stderr. */
int idx_read(const char *dir, const char *name, int dims, struct idx *out);

#endif
