/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with a machine whatever it came from; see machine.h and load.h. */
#define CT_FOLDER "topo"
#include "topo/machine.h"

#include <stdlib.h>
#include <string.h>

#include "topo/load.h"

void ct_machine_text(char *field, size_t cap, const char *text)
{
    const size_t len = text != NULL ? strnlen(text, cap - 1) : 0;
    memset(field, 0, cap);
    if (len > 0) {
        memcpy(field, text, len);
    }
}

bool ct_pci_equal(const struct ct_pci *a, const struct ct_pci *b)
{
    return a->known && b->known && a->domain == b->domain && a->bus == b->bus && a->dev == b->dev &&
           a->func == b->func;
}

struct ct_nic *ct_machine_add_nic(struct ct_machine *m, enum ct_nic_kind kind, const char *name,
                                  unsigned port)
{
    if (m->nnics >= CT_MACHINE_NICS) {
        m->left_out++;
        return NULL;
    }
    struct ct_nic *nic = &m->nics[m->nnics++];
    memset(nic, 0, sizeof *nic);
    ct_machine_text(nic->name, sizeof nic->name, name);
    nic->kind = (uint8_t)kind;
    nic->port = (uint8_t)port;
    nic->up = true;
    nic->bridge = nic->numa = nic->adapter = -1;
    return nic;
}

struct ct_machine_gpu *ct_machine_add_gpu(struct ct_machine *m, const struct ct_pci *pci)
{
    if (m->ngpus >= CT_MACHINE_GPUS) {
        m->left_out++;
        return NULL;
    }
    struct ct_machine_gpu *gpu = &m->gpus[m->ngpus++];
    memset(gpu, 0, sizeof *gpu);
    gpu->pci = *pci;
    gpu->bridge = gpu->numa = -1;
    return gpu;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* By address; what has none comes last. */
static int by_pci(const struct ct_pci *a, const struct ct_pci *b)
{
    const uint64_t x = (uint64_t)!a->known << 63 | (uint64_t)a->domain << 24 |
                       (uint64_t)a->bus << 16 | (uint64_t)a->dev << 8 | a->func;
    const uint64_t y = (uint64_t)!b->known << 63 | (uint64_t)b->domain << 24 |
                       (uint64_t)b->bus << 16 | (uint64_t)b->dev << 8 | b->func;
    return x < y ? -1 : x > y;
}

static int nic_order(const void *a_, const void *b_)
{
    const struct ct_nic *a = a_, *b = b_;
    int                  by = by_pci(&a->pci, &b->pci);
    by = by != 0 ? by : strncmp(a->name, b->name, sizeof a->name);
    return by != 0 ? by : a->port - b->port;
}

/* Objects that are named by index carry theirs while they are sorted. */
struct old_bridge {
    struct ct_bridge bridge;
    int16_t          was;
};

struct old_gpu {
    struct ct_machine_gpu gpu;
    int16_t               was;
};

/* A host bridge stands before what is on the bus below it. */
static int bridge_order(const void *a_, const void *b_)
{
    const struct old_bridge *a = a_, *b = b_;
    struct ct_pci            x = a->bridge.pci, y = b->bridge.pci;
    x.known = y.known = true;
    int by = by_pci(&x, &y);
    by = by != 0 ? by : a->bridge.pci.known - b->bridge.pci.known;
    return by != 0 ? by : a->was - b->was;
}

static int gpu_order(const void *a_, const void *b_)
{
    const struct old_gpu *a = a_, *b = b_;
    const int             by = by_pci(&a->gpu.pci, &b->gpu.pci);
    return by != 0 ? by : a->was - b->was;
}

static int16_t machine_moved(const int16_t *to, uint32_t n, int16_t i)
{
    return (int16_t)(i >= 0 && (uint32_t)i < n ? to[i] : -1);
}

static void sort_bridges(struct ct_machine *m)
{
    struct old_bridge old[CT_MACHINE_BRIDGES];
    int16_t           to[CT_MACHINE_BRIDGES];
    const uint32_t    n = m->nbridges;
    memset(old, 0, sizeof old);
    for (uint32_t i = 0; i < n; i++) {
        old[i].bridge = m->bridges[i];
        old[i].was = (int16_t)i;
    }
    qsort(old, n, sizeof old[0], bridge_order);
    for (uint32_t i = 0; i < n; i++) {
        to[old[i].was] = (int16_t)i;
    }
    for (uint32_t i = 0; i < n; i++) {
        m->bridges[i] = old[i].bridge;
        m->bridges[i].parent = machine_moved(to, n, old[i].bridge.parent);
    }
    for (uint32_t i = 0; i < m->ngpus; i++) {
        m->gpus[i].bridge = machine_moved(to, n, m->gpus[i].bridge);
    }
    for (uint32_t i = 0; i < m->nnics; i++) {
        m->nics[i].bridge = machine_moved(to, n, m->nics[i].bridge);
    }
}

static void sort_gpus(struct ct_machine *m)
{
    struct old_gpu old[CT_MACHINE_GPUS];
    const uint32_t n = m->ngpus;
    memset(old, 0, sizeof old);
    for (uint32_t i = 0; i < n; i++) {
        old[i].gpu = m->gpus[i];
        old[i].was = (int16_t)i;
    }
    qsort(old, n, sizeof old[0], gpu_order);
    for (uint32_t i = 0; i < n; i++) {
        m->gpus[i] = old[i].gpu;
        for (uint32_t k = 0; k < n; k++) {
            m->gpus[i].links[k] = old[i].gpu.links[old[k].was];
        }
    }
}

/* One adapter: functions of one device, or ports of one verbs device that is on no bus. */
static bool same_adapter(const struct ct_nic *a, const struct ct_nic *b)
{
    if (a->pci.known != b->pci.known) {
        return false;
    }
    if (a->pci.known) {
        return a->pci.domain == b->pci.domain && a->pci.bus == b->pci.bus &&
               a->pci.dev == b->pci.dev;
    }
    return a->kind == CT_NIC_VERBS && b->kind == CT_NIC_VERBS &&
           strncmp(a->name, b->name, sizeof a->name) == 0;
}

static void number_adapters(struct ct_machine *m)
{
    int16_t adapters = 0;
    for (uint32_t i = 0; i < m->nnics; i++) {
        uint32_t k = 0;
        while (k < i && !same_adapter(&m->nics[k], &m->nics[i])) {
            k++;
        }
        m->nics[i].adapter = k < i ? m->nics[k].adapter : adapters++;
    }
}

void ct_machine_settle(struct ct_machine *m)
{
    sort_bridges(m);
    sort_gpus(m);
    qsort(m->nics, m->nnics, sizeof m->nics[0], nic_order);
    number_adapters(m);
}

/* ---- soundness ------------------------------------------------------------------------------- */

static bool machine_ends(const char *text, size_t cap)
{
    return text[cap - 1] == '\0';
}

/* An index into n objects, or none. */
static bool machine_fits(int i, uint32_t n)
{
    return i >= -1 && i < (int)n;
}

/* Another value is none that a bool may have. */
static bool is_bool(const bool *field)
{
    unsigned char byte;
    memcpy(&byte, field, 1);
    return byte <= 1;
}

static bool is_sound_nic(const struct ct_machine *m, const struct ct_nic *nic)
{
    return machine_fits(nic->adapter, m->nnics) && machine_fits(nic->bridge, m->nbridges) &&
           machine_fits(nic->numa, m->nnumas) && nic->kind <= CT_NIC_ETHERNET &&
           is_bool(&nic->up) && is_bool(&nic->ib) && is_bool(&nic->pci.known) &&
           machine_ends(nic->name, sizeof nic->name) &&
           machine_ends(nic->netdev, sizeof nic->netdev) &&
           machine_ends(nic->bond, sizeof nic->bond) &&
           machine_ends(nic->firmware, sizeof nic->firmware) &&
           machine_ends(nic->label, sizeof nic->label);
}

static bool is_sound_gpu(const struct ct_machine *m, const struct ct_machine_gpu *gpu)
{
    return machine_fits(gpu->bridge, m->nbridges) && machine_fits(gpu->numa, m->nnumas) &&
           is_bool(&gpu->nvswitch) && is_bool(&gpu->pci.known) &&
           machine_ends(gpu->name, sizeof gpu->name) && machine_ends(gpu->uuid, sizeof gpu->uuid) &&
           machine_ends(gpu->domain, sizeof gpu->domain);
}

bool ct_machine_is_sound(const struct ct_machine *m)
{
    bool sound = m->nnumas <= CT_MACHINE_NUMAS && m->nbridges <= CT_MACHINE_BRIDGES &&
                 m->ngpus <= CT_MACHINE_GPUS && m->nnics <= CT_MACHINE_NICS &&
                 machine_ends(m->host, sizeof m->host) && machine_ends(m->source, sizeof m->source);
    for (uint32_t i = 0; sound && i < m->nbridges; i++) {
        sound = machine_fits(m->bridges[i].parent, m->nbridges) &&
                machine_fits(m->bridges[i].numa, m->nnumas) && is_bool(&m->bridges[i].pci.known);
    }
    for (uint32_t i = 0; sound && i < m->ngpus; i++) {
        sound = is_sound_gpu(m, &m->gpus[i]);
    }
    for (uint32_t i = 0; sound && i < m->nnics; i++) {
        sound = is_sound_nic(m, &m->nics[i]);
    }
    return sound;
}

/* ---- complaints ------------------------------------------------------------------------------ */

/* Of GPUs and verbs ports alone: their rails are chosen by it. */
void ct_machine_complain(const struct ct_machine *m, const struct ct_log *log)
{
    const char *first = NULL;
    uint32_t    n = 0;
    for (uint32_t i = 0; i < m->ngpus; i++) {
        if (m->gpus[i].numa < 0) {
            first = first != NULL ? first : m->gpus[i].name;
            n++;
        }
    }
    for (uint32_t i = 0; i < m->nnics; i++) {
        if (m->nics[i].numa < 0 && m->nics[i].kind == CT_NIC_VERBS) {
            first = first != NULL ? first : m->nics[i].name;
            n++;
        }
    }
    if (n > 0) {
        ct_warn(log,
                "the NUMA nodes of %u of this machine's GPUs and NICs are unknown (the first is "
                "%s), so "
                "they count as far from everything; CTRAN_NIC_MAP can say which NIC a GPU uses",
                n, first[0] != '\0' ? first : "a GPU");
    }
    if (m->left_out > 0) {
        ct_warn(
            log,
            "this machine has %u more GPUs, NIC ports, bridges or NUMA nodes than there is room "
            "for (%d, %d, %d and %d): they are not used",
            m->left_out, CT_MACHINE_GPUS, CT_MACHINE_NICS, CT_MACHINE_BRIDGES, CT_MACHINE_NUMAS);
    }
}

/* ---- levels ---------------------------------------------------------------------------------- */

const char *ct_level_name(enum ct_level level)
{
    static const char *const names[CT_LEVELS] = {"Package", "Die",     "NUMANode", "L3Cache",
                                                 "L2Cache", "L1Cache", "Core"};
    return (unsigned)level < CT_LEVELS ? names[level] : "?";
}

int ct_machine_confines(const struct ct_machine *m, enum ct_level level, const cpu_set_t *cpus)
{
    int all = -1;
    for (int i = 0; i < CT_MACHINE_CPUS; i++) {
        if (!CPU_ISSET(i, cpus)) {
            continue;
        }
        const int at = m->cpus[i].at[level];
        if (at < 0 || (all >= 0 && at != all)) {
            return -1;
        }
        all = at;
    }
    return all;
}

/* ---- digest ---------------------------------------------------------------------------------- */

/* Field by field, since structs have padding. */
static void machine_mix(uint64_t *hash, uint64_t value)
{
    *hash = ct_fnv1a(*hash, &value, sizeof value);
}

static void mix_gpu(uint64_t *hash, const struct ct_machine_gpu *gpu, uint32_t ngpus)
{
    machine_mix(hash, (uint64_t)gpu->pci.known | (uint64_t)gpu->nvswitch << 1);
    machine_mix(hash, (uint16_t)gpu->bridge);
    machine_mix(hash, (uint16_t)gpu->numa);
    for (uint32_t k = 0; k < ngpus; k++) {
        machine_mix(hash, gpu->links[k]);
    }
}

/* The number of the NIC's bond among those of the machine, by its first member; 0: none. */
static uint32_t bond_of(const struct ct_machine *m, const struct ct_nic *nic)
{
    uint32_t i = 0;
    while (i < m->nnics && strncmp(m->nics[i].bond, nic->bond, sizeof nic->bond) != 0) {
        i++;
    }
    return nic->bond[0] != '\0' ? i + 1 : 0;
}

static void mix_nic(uint64_t *hash, const struct ct_machine *m, const struct ct_nic *nic)
{
    machine_mix(hash, (uint64_t)nic->kind << 16 | (uint64_t)nic->port << 8 |
                          (uint64_t)nic->up << 2 | (uint64_t)nic->ib << 1 | nic->pci.known);
    machine_mix(hash, (uint16_t)nic->adapter);
    machine_mix(hash, (uint16_t)nic->bridge);
    machine_mix(hash, (uint16_t)nic->numa);
    machine_mix(hash, nic->speed_mbps);
    machine_mix(hash, bond_of(m, nic));
}

uint64_t ct_machine_digest(const struct ct_machine *m)
{
    uint64_t hash = CT_FNV1A_START;
    machine_mix(&hash, (uint64_t)m->npackages << 32 | m->ncores);
    machine_mix(&hash, (uint64_t)m->npus << 32 | m->nnumas);
    machine_mix(&hash, (uint64_t)m->ngpus << 32 | m->nnics);
    for (uint32_t i = 0; i < m->nnumas; i++) {
        machine_mix(&hash, (uint64_t)m->numas[i].os_index << 32 | (uint32_t)m->numas[i].package);
        machine_mix(&hash, (uint64_t)CPU_COUNT(&m->numas[i].cpus));
    }
    for (uint32_t i = 0; i < m->nbridges; i++) {
        machine_mix(&hash,
                    (uint64_t)(uint16_t)m->bridges[i].parent << 16 | (uint16_t)m->bridges[i].numa);
    }
    for (uint32_t i = 0; i < m->ngpus; i++) {
        mix_gpu(&hash, &m->gpus[i], m->ngpus);
    }
    for (uint32_t i = 0; i < m->nnics; i++) {
        mix_nic(&hash, m, &m->nics[i]);
    }
    return hash;
}
