/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of NVML, NVIDIA's management library, that is used here, as its documentation describes
 * it. The library is loaded at run time, and its header is not needed. Internal to topo, and to the
 * library that stands in for it in tests.
 */
#ifndef CT_TOPO_NVML_H
#define CT_TOPO_NVML_H

enum {
    CT_NVML_SUCCESS = 0,
    CT_NVML_INVALID_ARGUMENT = 2,
    CT_NVML_NOT_SUPPORTED = 3,
    CT_NVML_NO_PERMISSION = 4,
    CT_NVML_NOT_FOUND = 6,
    CT_NVML_DRIVER_NOT_LOADED = 9,
    CT_NVML_FUNCTION_NOT_FOUND = 13,
};

enum { CT_NVML_LINK_GPU = 0, CT_NVML_LINK_NPU = 1, CT_NVML_LINK_SWITCH = 2 };
enum { CT_NVML_FABRIC_COMPLETED = 3, CT_NVML_UUID_BYTES = 16 };

typedef struct ct_nvml_opaque *ct_nvml_device;

struct ct_nvml_pci {
    char     legacy[16];
    unsigned domain, bus, device, ids, subsystem_ids;
    char     text[32]; /* 00000000:1B:00.0 */
};

struct ct_nvml_memory {
    unsigned long long total, free, used;
};

struct ct_nvml_fabric_v1 {
    unsigned char cluster[CT_NVML_UUID_BYTES];
    int           status;
    unsigned      clique;
    unsigned char state;
};

struct ct_nvml_fabric_v2 {
    unsigned      version; /* CT_NVML_FABRIC_V2 */
    unsigned char cluster[CT_NVML_UUID_BYTES];
    int           status;
    unsigned      clique;
    unsigned char state;
    unsigned      health;
};

#define CT_NVML_FABRIC_V2 ((unsigned)sizeof(struct ct_nvml_fabric_v2) | 2u << 24)

/* The table: SYMBOL(name in the library, field, whether it works without, parameters). All return
 * one of the above. */
#define CT_NVML_SYMBOLS(SYMBOL)                                                                    \
    SYMBOL(nvmlInit_v2, init, false, (void))                                                       \
    SYMBOL(nvmlShutdown, shutdown, false, (void))                                                  \
    SYMBOL(nvmlDeviceGetCount_v2, count, false, (unsigned *))                                      \
    SYMBOL(nvmlDeviceGetHandleByIndex_v2, device, false, (unsigned, ct_nvml_device *))             \
    SYMBOL(nvmlDeviceGetPciInfo_v3, pci, false, (ct_nvml_device, struct ct_nvml_pci *))            \
    SYMBOL(nvmlDeviceGetName, name, true, (ct_nvml_device, char *, unsigned))                      \
    SYMBOL(nvmlDeviceGetUUID, uuid, true, (ct_nvml_device, char *, unsigned))                      \
    SYMBOL(nvmlDeviceGetMemoryInfo, memory, true, (ct_nvml_device, struct ct_nvml_memory *))       \
    SYMBOL(nvmlDeviceGetNvLinkState, link_state, true, (ct_nvml_device, unsigned, int *))          \
    SYMBOL(nvmlDeviceGetNvLinkRemotePciInfo_v2, link_pci, true,                                    \
           (ct_nvml_device, unsigned, struct ct_nvml_pci *))                                       \
    SYMBOL(nvmlDeviceGetNvLinkRemoteDeviceType, link_type, true,                                   \
           (ct_nvml_device, unsigned, int *))                                                      \
    SYMBOL(nvmlDeviceGetGpuFabricInfoV, fabric_v, true,                                            \
           (ct_nvml_device, struct ct_nvml_fabric_v2 *))                                           \
    SYMBOL(nvmlDeviceGetGpuFabricInfo, fabric, true, (ct_nvml_device, struct ct_nvml_fabric_v1 *))

#endif
