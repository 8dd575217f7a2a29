/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine in memory that another process may have written: what is found sound can be asked for
 * everything. And PCI addresses as text. */
#include "fuzz.h"

#include "topo/load.h"

/* Every index and text of it. */
static void ask(const struct ct_machine *m)
{
    cpu_set_t cpus;
    memset(&cpus, 0xff, sizeof cpus);
    for (uint32_t g = 0; g < m->ngpus; g++) {
        for (uint32_t k = 0; k < m->ngpus; k++) {
            FUZZ_CHECK(ct_machine_path_gpus(m, g, k) <= CT_PATH_SYS);
        }
        for (uint32_t k = 0; k < m->nnics; k++) {
            FUZZ_CHECK(ct_machine_path_gpu_nic(m, g, k) <= CT_PATH_SYS);
        }
        FUZZ_CHECK(strlen(m->gpus[g].name) < sizeof m->gpus[g].name);
    }
    for (uint32_t i = 0; i < m->nnics; i++) {
        FUZZ_CHECK(ct_machine_path_numa_nic(m, 0, i) <= CT_PATH_SYS);
        FUZZ_CHECK(strlen(m->nics[i].label) < sizeof m->nics[i].label);
    }
    for (int level = 0; level < CT_LEVELS; level++) {
        FUZZ_CHECK(ct_machine_confines(m, (enum ct_level)level, &cpus) >= -1);
    }
    FUZZ_CHECK(ct_machine_digest(m) == ct_machine_digest(m));
}

static void check_address(const uint8_t *data, size_t size)
{
    char          text[64] = "", again[32];
    struct ct_pci pci, same;
    memcpy(text, data, size < sizeof text ? size : sizeof text - 1);
    if (ct_pci_parse(text, &pci)) {
        ct_pci_format(&pci, again, sizeof again);
        FUZZ_CHECK(ct_pci_parse(again, &same) && ct_pci_equal(&pci, &same));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ct_machine m;
    struct fuzz              f = {data, size};
    check_address(data, size);
    memset(&m, 0, sizeof m);
    m.nnumas = fuzz_below(&f, CT_MACHINE_NUMAS + 2);
    m.nbridges = fuzz_below(&f, CT_MACHINE_BRIDGES + 2);
    m.ngpus = fuzz_below(&f, CT_MACHINE_GPUS + 2);
    m.nnics = fuzz_below(&f, CT_MACHINE_NICS + 2);
    while (f.left > 0) {
        const size_t   at = fuzz_number(&f, 3) % (sizeof m - 1);
        const uint16_t value = (uint16_t)fuzz_number(&f, 2);
        memcpy((char *)&m + at, &value, sizeof value);
    }
    if (ct_machine_is_sound(&m)) {
        ask(&m);
        ct_machine_settle(&m);
        FUZZ_CHECK(ct_machine_is_sound(&m));
        ask(&m);
    }
    return 0;
}
