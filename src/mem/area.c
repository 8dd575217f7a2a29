/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory as areas have it (base/area.h): by what functions it is read and written. The one
 * struct ct_memory of a process is in struct ct_process, so that what is given it finds the
 * process. Blocks may be of any kind, as a datatype with absolute addresses may have some of each.
 */
#define CT_FOLDER "mem"
#include "mem/own.h"

static struct ct_process *process_of(const struct ct_memory *m)
{
    return CT_CONTAINER_OF(m, struct ct_process, memory);
}

/* What the caller asked for could not be done, whatever the device's trouble is. */
static int result(int rc)
{
    return CT_LIKELY(rc == CTRAN_SUCCESS) ? rc : CTRAN_ERR_BUFFER;
}

static int read_blocks(const struct ct_memory *m, void *flat, size_t len_bytes,
                       const struct ct_rows *list, unsigned n)
{
    return result(ct_mem_gather(process_of(m), flat, len_bytes, list, n));
}

static int write_blocks(const struct ct_memory *m, const void *flat, size_t len_bytes,
                        const struct ct_rows *list, unsigned n)
{
    return result(ct_mem_scatter(process_of(m), flat, len_bytes, list, n));
}

static void *stage_get(const struct ct_memory *m, size_t len_bytes)
{
    return ct_mem_pinned_get(process_of(m), len_bytes);
}

static void stage_put(const struct ct_memory *m, void *stage, size_t len_bytes)
{
    ct_mem_pinned_put(process_of(m), stage, len_bytes);
}

static const struct ct_memory *memory_of(struct ct_process *p, const void *at)
{
    return ct_mem_is_device(p, at) ? &p->memory : NULL;
}

void ct_mem_area_init(struct ct_process *p)
{
    p->memory = (struct ct_memory){read_blocks, write_blocks, stage_get, stage_put};
    p->memory_of = p->gpu != NULL ? memory_of : NULL;
}

void ct_mem_area_fini(struct ct_process *p)
{
    p->memory_of = NULL;
}
