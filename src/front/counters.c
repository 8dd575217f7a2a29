/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library counts, as the front end's tool interface shows it: what mem keeps of the
 * memory of GPUs. */
#define CT_FOLDER "front"
#include "front/front.h"

#include "api/api.h"
#include "mem/mem.h"

/* The fields of struct ct_mem_stats, which are all of one type. */
#define COUNTER(field, is_level_, help_)                                                           \
    {                                                                                              \
        {.name = "gpu_memory_" #field, .help = help_, .is_level = is_level_},                      \
            offsetof(struct ct_mem_stats, field)                                                   \
    }

static const struct {
    struct ct_front_counter shown;
    size_t                  offset;
} counters[] = {
    COUNTER(regs, true, "registrations of GPU memory that are kept"),
    COUNTER(imports, true, "pieces of the GPU memory of others that are mapped"),
    COUNTER(hits, false, "lookups of GPU memory that found a registration or a mapping"),
    COUNTER(misses, false, "lookups of GPU memory that found none"),
    COUNTER(stale, false, "lookups of GPU memory that found one of memory freed since"),
    COUNTER(dropped, false, "registrations and mappings given up to stay within bounds"),
    COUNTER(pinned_bytes, true, "bytes of page-locked host memory"),
    COUNTER(pool_bytes, true, "bytes of GPU memory in the pool of ctran_mem_alloc"),
    COUNTER(small_bytes, true, "bytes of GPU memory for the library's own counters"),
};

int ct_front_counters(void)
{
    return (int)CT_ARRAY_LEN(counters);
}

const struct ct_front_counter *ct_front_counter(int i)
{
    return &counters[i].shown;
}

uint64_t ct_front_counter_value(int i)
{
    struct ct_mem_stats stats = {0};
    if (ct_front_is_running()) {
        ct_mem_stats(ct_api_process(), &stats);
    }
    return *(const uint64_t *)(const void *)((const char *)&stats + counters[i].offset);
}
