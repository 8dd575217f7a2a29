/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What NVML says of GPUs; see load.h. The library is the driver's, loaded at run time through the
 * table of nvml.h: a symbol that an old one lacks takes away what it would have told, no more.
 */
#define CT_FOLDER "topo"
#include "topo/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "topo/load.h"

#define LIBRARY "libnvidia-ml.so.1"

struct nvml {
    struct ct_machine   *m;
    const struct ct_log *log;
    void                *library;
#define FIELD(symbol, field, optional, parameters) int(*field) parameters;
    CT_NVML_SYMBOLS(FIELD)
#undef FIELD
    ct_nvml_device devices[CT_MACHINE_GPUS];
    int            gpus[CT_MACHINE_GPUS];      /* those of the machine; -1: not used */
    uint8_t        to_switch[CT_MACHINE_GPUS]; /* links that end at switches */
    uint32_t       ndevices;
    bool           told; /* of an error */
};

/* ---- the library ----------------------------------------------------------------------------- */

/* A function is kept as what dlsym returns for it (POSIX). False: the library is of no use. */
static bool find_symbol(const struct nvml *n, const char *name, bool optional, void *field)
{
    void *symbol = dlsym(n->library, name);
    memcpy(field, &symbol, sizeof symbol);
    if (symbol == NULL && !optional) {
        ct_warn(n->log,
                LIBRARY " has no %s: is it of an NVIDIA driver older than 450? GPUs are used "
                        "without what it tells of NVLinks",
                name);
    } else if (symbol == NULL) {
        ct_debug(n->log, LIBRARY " has no %s", name);
    }
    return symbol != NULL || optional;
}

static bool open_library(struct nvml *n)
{
    n->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (n->library == NULL) {
        ct_debug(n->log, "no NVML: %s", dlerror());
        return false;
    }
    bool whole = true;
#define FIND(symbol, field, optional, parameters)                                                  \
    whole = whole && find_symbol(n, #symbol, optional, &n->field);
    CT_NVML_SYMBOLS(FIND)
#undef FIND
    return whole;
}

/* A machine may have the library and no GPU. */
static bool load_nvml_start(struct nvml *n)
{
    const int rc = n->init();
    if (rc != CT_NVML_SUCCESS) {
        const enum ct_log_level level = n->m->ngpus > 0 ? CT_LOG_WARN : CT_LOG_DEBUG;
        CT_LOG_(n->log, level,
                LIBRARY " does not start, nvmlInit_v2 returns %d%s: GPUs are used without what it "
                        "tells of NVLinks; does nvidia-smi run?",
                rc, rc == CT_NVML_DRIVER_NOT_LOADED ? " (driver not loaded)" : "");
    }
    return rc == CT_NVML_SUCCESS;
}

/* Whether a call has succeeded. What a GPU does not have is no error; others are told once. */
static bool load_nvml_good(struct nvml *n, int rc, const char *call, uint32_t device)
{
    if (rc != CT_NVML_SUCCESS && rc != CT_NVML_NOT_SUPPORTED && rc != CT_NVML_NO_PERMISSION &&
        rc != CT_NVML_FUNCTION_NOT_FOUND && !n->told) {
        ct_warn(n->log,
                LIBRARY ": %s returns %d for GPU %u, which is used without what that tells; "
                        "does nvidia-smi show the GPU?",
                call, rc, device);
        n->told = true;
    }
    return rc == CT_NVML_SUCCESS;
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* NVML gives no function number: a GPU is function 0. */
static bool load_nvml_address(const struct ct_nvml_pci *from, struct ct_pci *pci)
{
    *pci = (struct ct_pci){from->domain, (uint8_t)from->bus, (uint8_t)from->device, 0, true};
    return from->bus <= 0xff && from->device <= 0x1f;
}

static int find_gpu(const struct ct_machine *m, const struct ct_pci *pci)
{
    for (uint32_t i = 0; i < m->ngpus; i++) {
        if (ct_pci_equal(&m->gpus[i].pci, pci)) {
            return (int)i;
        }
    }
    return -1;
}

/* GPUs that hwloc does not know are entered, and then all found. */
static void find_devices(struct nvml *n)
{
    struct ct_pci at[CT_MACHINE_GPUS];
    unsigned      count = 0;
    enum { MOST_ASKED = 4 * CT_MACHINE_GPUS };
    (void)load_nvml_good(n, n->count(&count), "nvmlDeviceGetCount_v2", 0);
    for (unsigned i = 0; i < count && i < MOST_ASKED && n->ndevices < CT_MACHINE_GPUS; i++) {
        struct ct_nvml_pci pci;
        memset(&pci, 0, sizeof pci);
        ct_nvml_device *device = &n->devices[n->ndevices];
        if (!load_nvml_good(n, n->device(i, device), "nvmlDeviceGetHandleByIndex_v2", i) ||
            !load_nvml_good(n, n->pci(*device, &pci), "nvmlDeviceGetPciInfo_v3", i) ||
            !load_nvml_address(&pci, &at[n->ndevices])) {
            continue;
        }
        if (find_gpu(n->m, &at[n->ndevices]) < 0) {
            (void)ct_machine_add_gpu(n->m, &at[n->ndevices]); /* no room: that is counted */
        }
        n->ndevices++;
    }
    ct_machine_settle(n->m);
    for (uint32_t i = 0; i < n->ndevices; i++) {
        n->gpus[i] = find_gpu(n->m, &at[i]);
    }
}

/* The domain where the GPU's links lead beyond this node, and are ready. */
static void read_fabric(struct nvml *n, ct_nvml_device device, struct ct_machine_gpu *gpu)
{
    static const unsigned char none[CT_NVML_UUID_BYTES];
    struct ct_nvml_fabric_v2   v2 = {.version = CT_NVML_FABRIC_V2};
    struct ct_nvml_fabric_v1   v1 = {.state = 0};
    if (n->fabric_v != NULL && n->fabric_v(device, &v2) == CT_NVML_SUCCESS) {
        memcpy(v1.cluster, v2.cluster, sizeof v1.cluster);
        v1.status = v2.status;
        v1.clique = v2.clique;
        v1.state = v2.state;
    } else if (n->fabric == NULL || n->fabric(device, &v1) != CT_NVML_SUCCESS) {
        return; /* a GPU or driver without a fabric */
    }
    if (v1.state != CT_NVML_FABRIC_COMPLETED || v1.status != CT_NVML_SUCCESS ||
        memcmp(v1.cluster, none, sizeof none) == 0) {
        return;
    }
    char text[sizeof gpu->domain] = "", *at = text;
    for (int i = 0; i < CT_NVML_UUID_BYTES; i++) {
        at += sprintf(at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", v1.cluster[i]);
    }
    snprintf(at, sizeof text - (size_t)(at - text), ".%u", v1.clique);
    ct_machine_text(gpu->domain, sizeof gpu->domain, text);
}

static void read_gpu(struct nvml *n, uint32_t i, struct ct_machine_gpu *gpu)
{
    struct ct_nvml_memory memory = {0};
    char                  text[96] = ""; /* NVML's names have at most that */
    const ct_nvml_device  device = n->devices[i];
    if (n->name != NULL &&
        load_nvml_good(n, n->name(device, text, sizeof text), "nvmlDeviceGetName", i)) {
        text[sizeof text - 1] = '\0';
        ct_machine_text(gpu->name, sizeof gpu->name, text);
    }
    if (n->uuid != NULL &&
        load_nvml_good(n, n->uuid(device, text, sizeof text), "nvmlDeviceGetUUID", i)) {
        text[sizeof text - 1] = '\0';
        ct_machine_text(gpu->uuid, sizeof gpu->uuid, text);
    }
    if (n->memory != NULL &&
        load_nvml_good(n, n->memory(device, &memory), "nvmlDeviceGetMemoryInfo", i)) {
        gpu->memory_bytes = memory.total;
    }
    read_fabric(n, device, gpu);
}

/* ---- links ----------------------------------------------------------------------------------- */

/* One that works: to a GPU of this node, or to a switch. What lies behind a link to neither is a
 * switch that a virtual machine does not show. */
static void read_link(struct nvml *n, uint32_t i, unsigned link)
{
    struct ct_machine_gpu *gpu = &n->m->gpus[n->gpus[i]];
    struct ct_nvml_pci     far;
    struct ct_pci          pci;
    int                    type = -1, to = -1;
    memset(&far, 0, sizeof far);
    if (n->link_type == NULL || n->link_type(n->devices[i], link, &type) != CT_NVML_SUCCESS) {
        type = -1; /* an older driver: the address tells */
    }
    if (type != CT_NVML_LINK_SWITCH && n->link_pci != NULL &&
        load_nvml_good(n, n->link_pci(n->devices[i], link, &far),
                       "nvmlDeviceGetNvLinkRemotePciInfo_v2", i)) {
        to = load_nvml_address(&far, &pci) ? find_gpu(n->m, &pci) : -1;
        type = to >= 0 ? CT_NVML_LINK_GPU : type < 0 ? CT_NVML_LINK_SWITCH : type;
    }
    if (type == CT_NVML_LINK_SWITCH) {
        gpu->nvswitch = true;
        n->to_switch[i]++;
    } else if (to >= 0 && to != n->gpus[i] && gpu->links[to] < UINT8_MAX) {
        gpu->links[to]++;
    }
}

static void read_links(struct nvml *n, uint32_t i)
{
    enum { MOST_LINKS = 64 }; /* of a GPU; NVML refuses those that it does not have */
    for (unsigned link = 0; n->link_state != NULL && link < MOST_LINKS; link++) {
        int       on = 0;
        const int rc = n->link_state(n->devices[i], link, &on);
        if (rc == CT_NVML_INVALID_ARGUMENT ||
            !load_nvml_good(n, rc, "nvmlDeviceGetNvLinkState", i)) {
            return;
        }
        if (on == 1) {
            read_link(n, i, link);
        }
    }
}

/* Links to switches lead to all that have some, as many at a time as the one with fewer has; beside
 * those that lead there directly. */
static void join_at_switches(struct nvml *n)
{
    for (uint32_t i = 0; i < n->ndevices; i++) {
        for (uint32_t j = 0; j < n->ndevices; j++) {
            if (i != j && n->gpus[i] >= 0 && n->gpus[j] >= 0 && n->to_switch[i] > 0 &&
                n->to_switch[j] > 0) {
                uint8_t *links = &n->m->gpus[n->gpus[i]].links[n->gpus[j]];
                *links = (uint8_t)ct_min_size(
                    UINT8_MAX, *links + ct_min_size(n->to_switch[i], n->to_switch[j]));
            }
        }
    }
}

void ct_machine_add_nvml(struct ct_machine *m, const struct ct_log *log)
{
    struct nvml n = {.m = m, .log = log};
    if (open_library(&n) && load_nvml_start(&n)) {
        find_devices(&n);
        for (uint32_t i = 0; i < n.ndevices; i++) {
            if (n.gpus[i] >= 0) {
                read_gpu(&n, i, &m->gpus[n.gpus[i]]);
                read_links(&n, i);
            }
        }
        join_at_switches(&n);
        (void)n.shutdown(); /* nothing is left to be told */
    }
    if (n.library != NULL) {
        dlclose(n.library);
    }
}
