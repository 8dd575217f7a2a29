/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs and NICs by name; see find.h. */
#include "topo/find.h"

#include <stdio.h>
#include <string.h>

#include "topo/load.h"

static bool find_pci_of(struct ct_word w, struct ct_pci *pci)
{
    char text[32];
    return ct_word_copy(w, text, sizeof text) && ct_pci_parse(text, pci);
}

static int gpu_at(const struct ct_machine *m, const struct ct_pci *pci)
{
    for (uint32_t i = 0; i < m->ngpus; i++) {
        if (ct_pci_equal(&m->gpus[i].pci, pci)) {
            return (int)i;
        }
    }
    return -1;
}

static int nic_at(const struct ct_machine *m, const struct ct_pci *pci)
{
    for (uint32_t i = 0; i < m->nnics; i++) {
        if (ct_pci_equal(&m->nics[i].pci, pci)) {
            return (int)i;
        }
    }
    return -1;
}

bool ct_find_has_uuid(const struct ct_machine_gpu *gpu, struct ct_word w)
{
    return w.len > 4 && strnlen(gpu->uuid, sizeof gpu->uuid) >= w.len &&
           memcmp(gpu->uuid, w.at, w.len) == 0;
}

bool ct_find_is_shown(const struct ct_machine *m, uint32_t gpu)
{
    bool any = false;
    for (uint32_t i = 0; i < m->ngpus; i++) {
        any |= m->gpus[i].uuid[0] != '\0';
    }
    return !any || m->gpus[gpu].uuid[0] != '\0';
}

int ct_find_shown(const struct ct_machine *m, uint64_t number)
{
    for (uint32_t i = 0; i < m->ngpus; i++) {
        if (ct_find_is_shown(m, i) && number-- == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* "this machine has none" or "this machine has GPUs 0 to 7". */
static void tell_gpus(const struct ct_machine *m, char *out, size_t cap)
{
    if (m->ngpus > 1) {
        (void)snprintf(out, cap, "this machine has GPUs 0 to %u", m->ngpus - 1);
    } else {
        (void)snprintf(out, cap, "this machine has %s", m->ngpus == 1 ? "GPU 0 only" : "none");
    }
}

int ct_find_gpu(const struct ct_machine *m, const struct ct_text *t, struct ct_word w, int *gpu)
{
    char          has[64];
    uint64_t      number;
    struct ct_pci pci;
    *gpu = -1;
    tell_gpus(m, has, sizeof has);
    if (ct_word_number(w, UINT32_MAX, &number)) {
        if (number >= m->ngpus) {
            return ct_text_fail(t, w.at, "there is no GPU %.*s; %s", CT_WORD_ARG(w), has);
        }
        *gpu = (int)number;
        return CTRAN_SUCCESS;
    }
    if (find_pci_of(w, &pci)) {
        *gpu = gpu_at(m, &pci);
        return *gpu >= 0 ? CTRAN_SUCCESS
                         : ct_text_fail(t, w.at, "there is no GPU at PCI address %.*s; %s",
                                        CT_WORD_ARG(w), has);
    }
    if (w.len > 4 && memcmp(w.at, "GPU-", 4) == 0) {
        for (uint32_t i = 0; i < m->ngpus; i++) {
            if (ct_word_is(w, m->gpus[i].uuid)) {
                *gpu = (int)i;
                return CTRAN_SUCCESS;
            }
        }
        return ct_text_fail(t, w.at, "there is no GPU of UUID %.*s; %s", CT_WORD_ARG(w), has);
    }
    return ct_text_fail(t, w.at, "\"%.*s\" is no GPU: give its number, PCI address or UUID",
                        CT_WORD_ARG(w));
}

/* Of the ports that have this name (port 0: any), the first that is up, else the first. */
static int nic_named(const struct ct_machine *m, struct ct_word w, unsigned port)
{
    int first = -1;
    for (uint32_t i = 0; i < m->nnics; i++) {
        const struct ct_nic *nic = &m->nics[i];
        bool named = ct_word_is(w, nic->name) || (w.len > 0 && ct_word_is(w, nic->netdev)) ||
                     (w.len > 0 && ct_word_is(w, nic->bond));
        if (named && (port == 0 || nic->port == port)) {
            if (nic->up) {
                return (int)i;
            }
            first = first < 0 ? (int)i : first;
        }
    }
    return first;
}

/* "mlx5_0, mlx5_1:2", as many as there is room for. */
static void list_nics(const struct ct_machine *m, char *out, size_t cap)
{
    size_t at = 0;
    (void)snprintf(out, cap, "none");
    for (uint32_t i = 0; i < m->nnics; i++) {
        char name[64];
        int  n = m->nics[i].port > 1
                     ? snprintf(name, sizeof name, "%s:%u", m->nics[i].name, m->nics[i].port)
                     : snprintf(name, sizeof name, "%s", m->nics[i].name);
        if (at + (size_t)n + 8 > cap) {
            (void)snprintf(out + at, cap - at, ", ...");
            return;
        }
        at += (size_t)snprintf(out + at, cap - at, "%s%s", i > 0 ? ", " : "", name);
    }
}

/* The word is "NAME:PORT", and NAME a NIC. */
static int topo_find_port(const struct ct_machine *m, const struct ct_text *t, struct ct_word name,
                          struct ct_word port, int *nic)
{
    uint64_t number;
    if (!ct_word_number(port, 255, &number) || number == 0) {
        return ct_text_fail(t, port.at, "\"%.*s\" is no number of a port; ports count from 1",
                            CT_WORD_ARG(port));
    }
    *nic = nic_named(m, name, (unsigned)number);
    return *nic >= 0 ? CTRAN_SUCCESS
                     : ct_text_fail(t, port.at, "%.*s has no port %u", CT_WORD_ARG(name),
                                    (unsigned)number);
}

int ct_find_nic(const struct ct_machine *m, const struct ct_text *t, struct ct_word w, int *nic)
{
    struct ct_pci  pci;
    struct ct_word rest = w, name;
    *nic = nic_named(m, w, 0);
    if (*nic >= 0) {
        return CTRAN_SUCCESS;
    }
    if (find_pci_of(w, &pci)) {
        *nic = nic_at(m, &pci);
        if (*nic < 0 && gpu_at(m, &pci) >= 0) {
            return ct_text_fail(t, w.at, "%.*s is GPU %d, not a NIC", CT_WORD_ARG(w),
                                gpu_at(m, &pci));
        }
        return *nic >= 0
                   ? CTRAN_SUCCESS
                   : ct_text_fail(t, w.at, "there is no NIC at PCI address %.*s", CT_WORD_ARG(w));
    }
    (void)ct_word_split(&rest, ':', &name);
    if (rest.at != NULL && nic_named(m, name, 0) >= 0) {
        return topo_find_port(m, t, name, rest, nic);
    }
    char names[200];
    list_nics(m, names, sizeof names);
    return ct_text_fail(t, w.at, "there is no NIC %.*s; this machine has: %s", CT_WORD_ARG(w),
                        names);
}
