/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The form of a trace in memory and in a dump, version 1; ctran-trace(7) describes it for others.
 *
 * A trace is a header and four tables; the header says where each table begins, how many entries
 * it has, and how long an entry is. All numbers have a fixed length and the byte order of the
 * machine, which the header tells. In memory the tables have room for CT_TRACE_MAX_... entries; a
 * dump has the entries that were used. A file is one dump, or several one after the other.
 *
 * The process writes, others may read at any moment. An entry is complete when its state says so;
 * while it is filled in anew its state is 0. A reader believes nothing (image.h).
 */
#ifndef CT_TRACE_FORMAT_H
#define CT_TRACE_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

#define CT_TRACE_MAGIC "ctrantrc"
enum { CT_TRACE_VERSION = 1, CT_TRACE_BYTE_ORDER = 0x01020304 };

enum {
    CT_TRACE_MAX_COMMS = 128,
    CT_TRACE_MAX_CALLS = 512, /* the last ones, and all that are not over */
    CT_TRACE_MAX_NAMES = 128,
    CT_TRACE_MAX_WAITS = 16, /* of threads at one time */
    CT_TRACE_ITEMS = 8,      /* of a wait: what it waits for, the first ones */
    CT_TRACE_RUNS = 6,
    CT_TRACE_NAME = 40, /* with the 0 at its end */
};

enum ct_trace_table {
    CT_TRACE_COMMS,
    CT_TRACE_CALLS,
    CT_TRACE_NAMES,
    CT_TRACE_WAITS,
    CT_TRACE_TABLES
};

struct ct_trace_section {
    uint32_t offset, count, entry_bytes, unused;
};

/* One moment by all clocks: the processor's counter, CLOCK_MONOTONIC and CLOCK_REALTIME. The last
 * two are in nanoseconds. */
struct ct_trace_moment {
    uint64_t ticks, mono_ns, wall_ns;
};

/* What the launcher knows of the process. */
enum ct_trace_process {
    CT_TRACE_PROCESS_UNKNOWN, /* the process wrote the dump itself */
    CT_TRACE_PROCESS_RUNS,
    CT_TRACE_PROCESS_STOPPED, /* by a signal, or a debugger */
    CT_TRACE_PROCESS_ENDED,   /* process_detail: the wait status */
    CT_TRACE_PROCESS_ABSENT,  /* it has not called ctran_init, or the trace is off */
};

enum ct_trace_life { CT_TRACE_LIFE_NONE, CT_TRACE_LIFE_JOINED, CT_TRACE_LIFE_LEFT };

struct ct_trace_header {
    char                    magic[8];
    uint32_t                version, byte_order;
    uint32_t                header_bytes;
    _Atomic uint32_t        owner; /* the process that writes */
    uint64_t                total_bytes;
    uint32_t                rank, size;
    uint32_t                life;                    /* enum ct_trace_life */
    uint32_t                process, process_detail; /* enum ct_trace_process */
    _Atomic uint32_t        lost;                    /* calls that there was no room for */
    struct ct_trace_moment  opened, taken;           /* taken: 0 in memory */
    struct ct_trace_section table[CT_TRACE_TABLES];
    _Atomic uint64_t        ncalls; /* that have been recorded; the next goes to ncalls % count */
    char                    host[64], job[64], why[64]; /* why it was dumped */
    char                    unused[144];
};

/* Members first, first + stride, ... */
struct ct_trace_run {
    uint32_t first, count;
    int32_t  stride;
};

enum ct_trace_comm_state { CT_TRACE_COMM_NONE, CT_TRACE_COMM_OPEN, CT_TRACE_COMM_FREED };

struct ct_trace_comm {
    uint64_t            id;
    uint32_t            n, me;
    _Atomic uint64_t    started; /* collectives, each of which has the number that this had then */
    _Atomic uint32_t    state;
    uint32_t            nruns;              /* 0: the members do not fit */
    struct ct_trace_run run[CT_TRACE_RUNS]; /* the members, by rank: processes of the job */
    uint64_t            unused[3];
};

enum ct_trace_call_state { CT_TRACE_CALL_NONE, CT_TRACE_CALL_STARTED, CT_TRACE_CALL_OVER };

/* The index of no name, of which entry 0 is the text "". */
enum { CT_TRACE_NO_NAME = 0 };

struct ct_trace_call {
    uint64_t         comm, number; /* of the communicator's collectives, from 0 on */
    uint64_t         bytes;
    uint64_t         start, end; /* ticks; end: 0 as long as it is not over, or not stamped */
    int32_t          root;
    int32_t          error;
    uint16_t         name, type, op, algorithm; /* in the table of names */
    _Atomic uint32_t state;
    uint32_t         flags; /* enum ct_trace_flag */
};

struct ct_trace_wait_item {
    uint64_t comm, bytes;
    uint32_t kind; /* enum ct_trace_pending */
    int32_t  peer, tag;
    uint32_t unused;
};

struct ct_trace_wait {
    uint64_t                  since_ns; /* by CLOCK_MONOTONIC */
    _Atomic uint32_t          state;    /* 1: a thread waits; 2: the entry is taken */
    uint16_t                  name, unused;
    uint32_t                  npending; /* of which `items` has the first ones */
    uint32_t                  nitems;
    uint64_t                  comm;
    struct ct_trace_wait_item item[CT_TRACE_ITEMS];
};

struct ct_trace_segment {
    struct ct_trace_header header;
    struct ct_trace_comm   comms[CT_TRACE_MAX_COMMS];
    struct ct_trace_call   calls[CT_TRACE_MAX_CALLS];
    char                   names[CT_TRACE_MAX_NAMES][CT_TRACE_NAME];
    struct ct_trace_wait   waits[CT_TRACE_MAX_WAITS];
};

/* A slot of the launcher's file: a segment, and room up to whole pages of any size. */
enum { CT_TRACE_SLOT_BYTES = 128 << 10 };

_Static_assert(sizeof(struct ct_trace_segment) <= CT_TRACE_SLOT_BYTES, "a segment fits a slot");
_Static_assert(sizeof(struct ct_trace_header) == 512, "the form of a dump");
_Static_assert(sizeof(struct ct_trace_comm) == 128, "the form of a dump");
_Static_assert(sizeof(struct ct_trace_call) == 64, "the form of a dump");
_Static_assert(sizeof(struct ct_trace_wait) == 288, "the form of a dump");

#endif
