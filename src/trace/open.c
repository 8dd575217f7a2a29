/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening and closing the trace of a process. The segment is a slot of the file that the launcher's
 * daemon holds for the ranks of its host, or memory of the process's own. Called by api/life.c.
 */
#define CT_FOLDER "trace"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/own.h"

/* The slot of the launcher's file. false: there is none, or another process has it, as a child of
 * the rank's may. */
static bool map_slot(struct ct_tracer *t, const struct ct_trace_identity *who)
{
    const size_t len = CT_TRACE_SLOT_BYTES;
    struct stat  st;
    int          fd = open(who->path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    void *at = MAP_FAILED;
    if (fstat(fd, &st) == 0 && (uint64_t)st.st_size >= ((uint64_t)who->slot + 1) * len) {
        at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(who->slot * len));
    }
    close(fd);
    if (at == MAP_FAILED) {
        return false;
    }
    struct ct_trace_segment *seg = at;
    uint32_t                 owner = 0;
    if (!atomic_compare_exchange_strong(&seg->header.owner, &owner, (uint32_t)getpid())) {
        (void)munmap(at, len);
        return false;
    }
    t->map = at;
    t->map_bytes = len;
    return true;
}

static bool map_own(struct ct_tracer *t)
{
    void *at =
        mmap(NULL, CT_TRACE_SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    t->map = at != MAP_FAILED ? at : NULL;
    t->map_bytes = CT_TRACE_SLOT_BYTES;
    return t->map != NULL;
}

static void fill_header(struct ct_tracer *t, const struct ct_trace_identity *who)
{
    struct ct_trace_header *h = &t->seg->header;
    h->version = CT_TRACE_VERSION;
    h->byte_order = CT_TRACE_BYTE_ORDER;
    h->header_bytes = sizeof *h;
    h->total_bytes = sizeof *t->seg;
    atomic_store_explicit(&h->owner, (uint32_t)getpid(), memory_order_relaxed);
    h->rank = who->rank;
    h->size = who->size;
    h->life = CT_TRACE_LIFE_JOINED;
    h->opened = ct_trace_now(t->by_counter);
    snprintf(h->host, sizeof h->host, "%s", who->host);
    snprintf(h->job, sizeof h->job, "%s", who->job);
    t->seg->names[CT_TRACE_NO_NAME][0] = '\0';
    atomic_store_explicit(&t->nnames, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* the rest is there before the magic word */
    memcpy(h->magic, CT_TRACE_MAGIC, sizeof h->magic);
}

int ct_trace_open(struct ct_process *p, const struct ct_trace_identity *who)
{
    if (p->cfg.trace == 0) {
        return CTRAN_SUCCESS;
    }
    struct ct_tracer *t = calloc(1, sizeof *t);
    if (t == NULL || !((who->path != NULL && map_slot(t, who)) || map_own(t))) {
        ct_warn(&p->log, "no memory for a trace of %zu KiB: this process has none",
                (size_t)CT_TRACE_SLOT_BYTES >> 10);
        free(t);
        return CTRAN_SUCCESS;
    }
    t->p = p;
    t->seg = t->map;
    t->base.ops = &ct_trace_record_ops;
    t->by_counter = ct_trace_has_counter();
    t->ends = p->cfg.trace > 1;
    fill_header(t, who);
    int rc = ct_trace_dump_init(t, who);
    if (rc != CTRAN_SUCCESS) {
        (void)munmap(t->map, t->map_bytes);
        free(t);
        return rc;
    }
    p->trace = &t->base;
    return CTRAN_SUCCESS;
}

void ct_trace_close(struct ct_process *p)
{
    if (p->trace == NULL) {
        return;
    }
    struct ct_tracer *t = ct_tracer_of(p->trace);
    p->trace = NULL;
    ct_trace_dump_fini(t);
    t->seg->header.life = CT_TRACE_LIFE_LEFT;
    (void)munmap(t->map, t->map_bytes);
    free(t);
}
