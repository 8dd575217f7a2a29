/* SPDX-License-Identifier: BSD-3-Clause */
/* Gather from and scatter into lists of memory pieces. */
#include "base/iov.h"

#include "base/util.h"

/* Steps over finished and empty pieces; returns the bytes at hand in the current one, 0 at the
 * end of the list. */
static size_t at_hand(const struct ct_iov *iov, uint32_t n, struct ct_iov_pos *pos)
{
    while (pos->at < n && pos->off_bytes == iov[pos->at].len_bytes) {
        pos->at++;
        pos->off_bytes = 0;
    }
    return pos->at < n ? iov[pos->at].len_bytes - pos->off_bytes : 0;
}

size_t ct_iov_gather(const struct ct_iov *iov, uint32_t n, struct ct_iov_pos *pos, void *dst,
                     size_t len_bytes)
{
    size_t done = 0;
    while (done < len_bytes) {
        size_t piece = ct_min_size(at_hand(iov, n, pos), len_bytes - done);
        if (piece == 0) {
            break;
        }
        memcpy((char *)dst + done, (char *)iov[pos->at].base + pos->off_bytes, piece);
        pos->off_bytes += piece;
        done += piece;
    }
    return done;
}

size_t ct_iov_scatter(const struct ct_iov *iov, uint32_t n, struct ct_iov_pos *pos, const void *src,
                      size_t len_bytes)
{
    size_t done = 0;
    while (done < len_bytes) {
        size_t piece = ct_min_size(at_hand(iov, n, pos), len_bytes - done);
        if (piece == 0) {
            break;
        }
        memcpy((char *)iov[pos->at].base + pos->off_bytes, (const char *)src + done, piece);
        pos->off_bytes += piece;
        done += piece;
    }
    return done;
}
