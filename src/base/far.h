/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How near two cores are, as copies between them show. Those that share a cache copy a message
 * twice, into shared memory and out of it, in less time than the kernel needs to let one read the
 * other's; between cores that have to fetch each line from each other it is the other way round
 * (two cores of a Xeon: 64 KiB through a ring 9 us, read 3.7; two that share a cache 1.9 and 4.9).
 * What tells is a copy from this core's cache to where the other has just read. The best of a few
 * counts, since whatever disturbs makes it longer.
 */
#ifndef CT_BASE_FAR_H
#define CT_BASE_FAR_H

enum {
    CT_FAR_BYTES = 8 << 10, /* of a copy that is timed */
    CT_FAR_SAMPLES = 8,     /* that make a judgement */
    CT_FAR_NS = 170,        /* near ones were seen to need 110, far ones 240 to 480 */
};

#endif
