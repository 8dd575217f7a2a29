/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * badmem - a long message from memory that cannot be read, by tcp: both ends get errors, and nobody
 * waits for ever. (On its way into memory that cannot be written it may meet our own copying.)
 */
#include <sys/mman.h>

#include "check.h"

enum { BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    static char good[BYTES];
    OK(ctran_init(&argc, &argv));
    OK(ctran_comm_rank(CTRAN_COMM_WORLD, &check_rank));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    void *none = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(none != MAP_FAILED);
    if (check_rank == 0) {
        EXPECT_RC(CTRAN_ERR_BUFFER, ctran_send(none, BYTES, CTRAN_BYTE, 1, 0, CTRAN_COMM_WORLD));
    } else {
        EXPECT_RC(CTRAN_ERR_PROC_FAILED,
                  ctran_recv(good, BYTES, CTRAN_BYTE, 0, 0, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    }
    EXPECT(ctran_finalize() != CTRAN_SUCCESS); /* its barrier cannot be passed any more */
    return 0;
}
