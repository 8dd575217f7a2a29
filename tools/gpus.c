/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctran_info --gpus; see gpus.h. What the driver says is what the library goes by: who reaches
 * whose memory, what can be shared between processes, what streams can wait for. Makes no context.
 */
#include "tools/gpus.h"

#include <inttypes.h>
#include <stdio.h>

#include "gpu/gpu.h"

static const char *yes(bool is)
{
    return is ? "yes" : "no";
}

static void print_device(const struct ct_gpu *g, int i)
{
    const struct ct_gpu_device *d = ct_gpu_device(g, i);
    printf("\nGPU %d  %s\n", i, d->name);
    printf("  place       PCI %s, UUID ", d->pci);
    for (size_t b = 0; b < sizeof d->uuid.bytes; b++) {
        printf("%s%02x", b == 4 || b == 6 || b == 8 || b == 10 ? "-" : "",
               (unsigned char)d->uuid.bytes[b]);
    }
    printf("\n  processor   compute capability %d.%d, %d SMs, %d copy engines\n", d->major,
           d->minor, d->processors, d->copy_engines);
    printf("  memory      %zu MiB; shared between processes: whole allocations yes, mapped pieces "
           "%s; dma-buf %s\n",
           d->mem_bytes >> 20, yes(d->vmm && d->vmm_fd), yes(d->dma_buf));
    printf(
        "  streams     wait for values: yes, of 64 bits %s, \"nor\" %s, flush remote writes %s\n",
        yes(d->wait_64), yes(d->wait_nor), yes(d->wait_flush));
    for (int j = 0; j < ct_gpu_count(g); j++) {
        struct ct_gpu_peer peer;
        if (j != i) {
            ct_gpu_peer(g, i, j, &peer);
            printf("  peer %-2d     access %s, native atomics %s, the driver's rank %d\n", j,
                   yes(peer.access), yes(peer.atomics), peer.rank);
        }
    }
}

bool gpus_show(const struct ct_config *cfg, const struct ct_log *log)
{
    struct ct_process p = {.log = *log, .cfg = *cfg}; /* borrowed: only gpu looks into it */
    if (ct_gpu_init(&p) != CTRAN_SUCCESS) {
        return false;
    }
    if (p.gpu == NULL) {
        printf("no GPUs: there is no CUDA driver (libcuda.so.1) that can be used, or CTRAN_GPU is "
               "off\n");
        return true;
    }
    const bool good = ct_gpu_ready(p.gpu) == CTRAN_SUCCESS;
    if (good) {
        printf("CUDA %d.%d, as the driver speaks it; %d GPU%s\n", p.gpu->version / 1000,
               p.gpu->version % 1000 / 10, ct_gpu_count(p.gpu),
               ct_gpu_count(p.gpu) == 1 ? "" : "s");
    }
    for (int i = 0; i < ct_gpu_count(p.gpu); i++) {
        print_device(p.gpu, i);
    }
    ct_gpu_fini(&p);
    return good;
}
