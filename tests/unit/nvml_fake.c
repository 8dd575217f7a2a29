/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libnvidia-ml.so.1 for test_nvml.c, with GPUs as the environment variable FAKE_NVML names them.
 * With FAKE_OLD it has what a driver of 2020 has, with FAKE_BROKEN not even that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/nvml.h"

#define EXPORT __attribute__((visibility("default")))

enum { GPU_LOST = 15, LINKS = 6 };

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, ct_nvml_device *device);
int nvmlDeviceGetPciInfo_v3(ct_nvml_device device, struct ct_nvml_pci *pci);
int nvmlDeviceGetName(ct_nvml_device device, char *name, unsigned len);
int nvmlDeviceGetUUID(ct_nvml_device device, char *uuid, unsigned len);
int nvmlDeviceGetMemoryInfo(ct_nvml_device device, struct ct_nvml_memory *memory);
int nvmlDeviceGetNvLinkState(ct_nvml_device device, unsigned link, int *on);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(ct_nvml_device device, unsigned link,
                                        struct ct_nvml_pci *pci);
int nvmlDeviceGetNvLinkRemoteDeviceType(ct_nvml_device device, unsigned link, int *type);
int nvmlDeviceGetGpuFabricInfoV(ct_nvml_device device, struct ct_nvml_fabric_v2 *fabric);
int nvmlDeviceGetGpuFabricInfo(ct_nvml_device device, struct ct_nvml_fabric_v1 *fabric);

static int started;

static int is(const char *what)
{
    const char *fake = getenv("FAKE_NVML");
    return fake != NULL && strcmp(fake, what) == 0;
}

static unsigned number(ct_nvml_device device)
{
    return (unsigned)((size_t)device - 1);
}

/* What a call on the device returns before it has done anything. */
static int usable(ct_nvml_device device)
{
    return started <= 0                        ? 1 /* uninitialized */
           : is("lost") && number(device) == 1 ? GPU_LOST
                                               : CT_NVML_SUCCESS;
}

static void place(struct ct_nvml_pci *pci, unsigned i)
{
    memset(pci, 0xee, sizeof *pci);
    pci->domain = 0;
    pci->bus = 0x10 + i;
    pci->device = 0;
}

#ifndef FAKE_BROKEN
EXPORT int nvmlInit_v2(void)
{
    started++;
    return is("nodriver") ? CT_NVML_DRIVER_NOT_LOADED : CT_NVML_SUCCESS;
}
#endif

EXPORT int nvmlShutdown(void)
{
    started--;
    return CT_NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = is("absurd") ? 4000000000u : 4;
    return CT_NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, ct_nvml_device *device)
{
    *device = (ct_nvml_device)((size_t)i + 1);
    return CT_NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetPciInfo_v3(ct_nvml_device device, struct ct_nvml_pci *pci)
{
    place(pci, number(device));
    if (is("absurd")) {
        pci->bus = number(device) < 3 ? 0x1ff : number(device);
    }
    return usable(device);
}

EXPORT int nvmlDeviceGetName(ct_nvml_device device, char *name, unsigned len)
{
    if (is("absurd")) {
        memset(name, 'x', len);
    } else {
        snprintf(name, len, "NVIDIA Fake %u", number(device));
    }
    return usable(device);
}

EXPORT int nvmlDeviceGetUUID(ct_nvml_device device, char *uuid, unsigned len)
{
    snprintf(uuid, len, "GPU-0000-%u", number(device));
    return usable(device);
}

EXPORT int nvmlDeviceGetMemoryInfo(ct_nvml_device device, struct ct_nvml_memory *memory)
{
    memory->total = (number(device) + 1ull) << 30;
    return usable(device);
}

EXPORT int nvmlDeviceGetNvLinkState(ct_nvml_device device, unsigned link, int *on)
{
    *on = link != LINKS - 1; /* the last is not connected */
    return is("none")                       ? CT_NVML_NOT_SUPPORTED
           : link >= LINKS && !is("absurd") ? CT_NVML_INVALID_ARGUMENT
                                            : usable(device);
}

/* Links 0 to 2 lead to the next three, link 3 to the next, link 4 to itself. */
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(ct_nvml_device device, unsigned link,
                                               struct ct_nvml_pci *pci)
{
    static const unsigned next[LINKS] = {1, 2, 3, 1, 0, 0};
    place(pci, (number(device) + next[link % LINKS]) % 4);
    if (is("hidden")) {
        pci->bus = 0xffffffff;
    }
    return usable(device);
}

#ifndef FAKE_OLD
EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(ct_nvml_device device, unsigned link, int *type)
{
    (void)link;
    *type = is("switches") || is("fabric") ? CT_NVML_LINK_SWITCH : CT_NVML_LINK_GPU;
    return is("hidden") ? CT_NVML_NOT_SUPPORTED : usable(device);
}

static void fill_cluster(unsigned char *cluster)
{
    for (int i = 0; i < CT_NVML_UUID_BYTES; i++) {
        cluster[i] = is("fabric") ? (unsigned char)(0xa0 + i) : 0;
    }
}

EXPORT int nvmlDeviceGetGpuFabricInfoV(ct_nvml_device device, struct ct_nvml_fabric_v2 *fabric)
{
    if (fabric->version != CT_NVML_FABRIC_V2) {
        return CT_NVML_INVALID_ARGUMENT;
    }
    fill_cluster(fabric->cluster);
    fabric->clique = 7;
    /* The last GPU has not joined yet. */
    fabric->state = number(device) == 3 ? 2 : CT_NVML_FABRIC_COMPLETED;
    return usable(device);
}
#endif

#ifdef FAKE_V1
EXPORT int nvmlDeviceGetGpuFabricInfo(ct_nvml_device device, struct ct_nvml_fabric_v1 *fabric)
{
    memset(fabric->cluster, 0x11, sizeof fabric->cluster);
    fabric->clique = 9;
    fabric->state = CT_NVML_FABRIC_COMPLETED;
    return usable(device);
}
#endif
