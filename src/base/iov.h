/* SPDX-License-Identifier: BSD-3-Clause */
/* A piece of memory; a list of them is what transfers read and write. */
#ifndef CT_BASE_IOV_H
#define CT_BASE_IOV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ct_iov {
    void  *base;
    size_t len_bytes;
};

static inline size_t ct_iov_total(const struct ct_iov *iov, uint32_t n)
{
    size_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += iov[i].len_bytes;
    }
    return total;
}

/* A position in a list, so that a long transfer can go on where it stopped. */
struct ct_iov_pos {
    uint32_t at;        /* piece */
    size_t   off_bytes; /* within it */
};

/* Copies up to len_bytes from the list at *pos into flat memory (gather) or from flat memory into
 * the list (scatter), and moves *pos on. Returns the bytes copied: less only at the list's end. */
size_t ct_iov_gather(const struct ct_iov *iov, uint32_t n, struct ct_iov_pos *pos, void *dst,
                     size_t len_bytes);
size_t ct_iov_scatter(const struct ct_iov *iov, uint32_t n, struct ct_iov_pos *pos, const void *src,
                      size_t len_bytes);

#endif
