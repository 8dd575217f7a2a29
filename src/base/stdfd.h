/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input, output and error that are closed. Used by api, before anything is opened, and by
 * programs at their start. */
#ifndef CT_BASE_STDFD_H
#define CT_BASE_STDFD_H

/* Opens /dev/null at those of the descriptors 0, 1 and 2 that are closed: else the next file or
 * socket gets that number, and the program, which has never seen it, reads, writes or closes it as
 * its standard stream. Where /dev/null cannot be opened nothing changes. */
void ct_stdfd_fill(void);

#endif
