/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of trace share. */
#ifndef CT_TRACE_OWN_H
#define CT_TRACE_OWN_H

#include <limits.h>
#include <signal.h>

#include "base/trace.h"
#include "trace/ticks.h"
#include "trace/trace.h"

struct ct_tracer {
    struct ct_trace          base; /* first: p->trace points here */
    struct ct_process       *p;
    struct ct_trace_segment *seg;
    void                    *map; /* what was mapped, with its length */
    size_t                   map_bytes;
    bool                     by_counter;
    /* The texts of the table of names by their addresses, for a quick look: the address that has
     * slot h, and its index. Of two that fall together one has the slot; the other is searched. */
    struct {
        _Atomic(const char *) text;
        _Atomic uint32_t      index;
    } seen[CT_TRACE_MAX_NAMES];
    _Atomic uint32_t nnames;
    atomic_flag      naming; /* set while a name is added */
    /* Of a process without threads: the texts of the last call, with their names. Most calls are as
     * the last one. */
    struct {
        const char *name, *type, *op, *algorithm;
        uint16_t    numbers[3], algorithm_number;
    } last;
    bool ends;                /* the end of each call is stamped */
    char dump_path[PATH_MAX]; /* "": none is asked for */
    int  dump_signal;
};

static inline struct ct_tracer *ct_tracer_of(struct ct_trace *t)
{
    return CT_CONTAINER_OF(t, struct ct_tracer, base);
}

extern const struct ct_trace_ops ct_trace_record_ops; /* record.c */

/* The index of a text in the table of names; CT_TRACE_NO_NAME for NULL, and where there is no
 * room. */
uint16_t ct_trace_name_of(struct ct_tracer *t, const char *text);

/* dump.c: which signals write a dump, and the dump itself. All but _init are async-signal-safe. */
int  ct_trace_dump_init(struct ct_tracer *t, const struct ct_trace_identity *who);
void ct_trace_dump_fini(struct ct_tracer *t);
void ct_trace_write_dump(struct ct_trace *t, const char *why);

#endif
