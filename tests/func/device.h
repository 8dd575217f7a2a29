/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device - what the program's files share: memory of several kinds, and operations that are run on
 * the host's memory first and then on every mix of kinds, with the same result to the byte.
 */
#ifndef CT_TESTS_FUNC_DEVICE_H
#define CT_TESTS_FUNC_DEVICE_H

#include "check.h"

/* ---- memory, device_mem.c -------------------------------------------------------------------- */

/* The last two only where the driver is CUDA's. */
enum { HOST, DEVICE, PINNED, MANAGED };
extern int mem_kinds;

/* After init. */
void mem_start(void);
bool mem_is_real(void);
/* Of a real driver: how many devices there are, and from which of them mem_new takes memory from
 * now on; in the beginning each rank from another one, as far as they reach. */
int   mem_devices(void);
void  mem_use(int device);
void *mem_new(int kind, size_t len);
void  mem_free(int kind, void *at);
void  mem_put(int kind, void *to, const void *from, size_t len);
void  mem_get(int kind, void *to, const void *from, size_t len);

/* ---- operations, device_run.c ---------------------------------------------------------------- */

enum { BUFS = 2, EDGE = 64 /* bytes around each buffer that nobody writes */ };

/* Something with one or two buffers that all ranks do together. */
struct operation {
    const char *name;
    void (*run)(const struct operation *o, void *buf[BUFS]);
    size_t           len[BUFS]; /* 0: it has none */
    bool             numbers;   /* buffers hold doubles, small integers, in place of any bytes */
    ctran_comm_t     comm;
    ctran_count_t    count;
    ctran_datatype_t type;
    ctran_op_t       op;
    int              root, way;
};

void run_mixes(const struct operation *o);

/* ---- subjects -------------------------------------------------------------------------------- */

void device_modes(void);
void device_types(void);
void device_exchange(void);
void device_traffic(void);
void device_local(void);
void device_failures(void);
void device_peers(void);
void device_coll(void);
void device_coll_counts(void);
void device_neighbors(void);
void device_inter(void);

#endif
