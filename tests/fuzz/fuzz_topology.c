/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts about machines: descriptions, maps of NICs and GPUs, clusters; and machines of any shape,
 * for which rails are found. */
#include "fuzz.h"

#include <stdio.h>

#include "topo/cluster.h"
#include "topo/load.h"
#include "topo/rail.h"
#include "topo/synthetic.h"

static struct ct_machine m;

static void add_devices(struct fuzz *f, int16_t bridge, int16_t numa)
{
    for (uint32_t n = fuzz_below(f, 5); n > 0; n--) {
        struct ct_pci          at = {0, (uint8_t)fuzz_number(f, 1), 0, 0, fuzz_below(f, 8) != 0};
        struct ct_machine_gpu *gpu = fuzz_below(f, 2) == 0 ? ct_machine_add_gpu(&m, &at) : NULL;
        if (gpu != NULL) {
            gpu->bridge = bridge;
            gpu->numa = numa;
            (void)snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-%u", m.ngpus);
            continue;
        }
        char name[16];
        (void)snprintf(name, sizeof name, "n%u", fuzz_below(f, 8));
        struct ct_nic *nic = ct_machine_add_nic(&m, CT_NIC_VERBS, name, 1 + fuzz_below(f, 2));
        if (nic != NULL) {
            uint32_t flags = (uint32_t)fuzz_number(f, 1);
            nic->pci = at;
            nic->bridge = bridge;
            nic->numa = numa;
            nic->up = (flags & 1) == 0;
            nic->ib = (flags & 2) != 0;
            nic->kind = (flags & 4) != 0 ? CT_NIC_ETHERNET : CT_NIC_VERBS;
            nic->bond[0] = (flags & 8) != 0 ? 'b' : '\0';
            nic->speed_mbps = 1000 * (flags >> 4);
        }
    }
}

static void make_machine(struct fuzz *f)
{
    memset(&m, 0, sizeof m);
    m.nnumas = 1 + fuzz_below(f, 4);
    for (uint32_t i = 0; i < m.nnumas; i++) {
        m.numas[i].os_index = i;
        CPU_SET(i, &m.numas[i].cpus);
    }
    for (uint32_t trees = fuzz_below(f, 12); trees > 0; trees--) {
        int16_t numa = (int16_t)fuzz_below(f, m.nnumas), at = -1;
        for (uint32_t depth = fuzz_below(f, 6); depth > 0; depth--) {
            if (m.nbridges < CT_MACHINE_BRIDGES) {
                m.bridges[m.nbridges] = (struct ct_bridge){.parent = at, .numa = numa};
                at = (int16_t)m.nbridges++;
            }
        }
        add_devices(f, at, numa);
    }
    ct_machine_settle(&m);
}

static void check_rails(const struct ct_rails *rails, uint32_t n, const struct ct_rail *all)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct ct_rail *r = &all[i];
        FUZZ_CHECK(r->primary >= -1 && r->primary < (int)m.nnics);
        FUZZ_CHECK(r->backup >= -1 && r->backup < (int)m.nnics);
        FUZZ_CHECK(r->backup < 0 || r->backup != r->primary);
        FUZZ_CHECK(r->primary < 0 || m.nics[r->primary].up);
        FUZZ_CHECK((r->index >= 0) == (r->primary >= 0) && r->index < (int)rails->nrails);
        FUZZ_CHECK(r->nmore <= CT_RAIL_MORE);
        for (uint32_t k = 0; k < r->nmore; k++) {
            FUZZ_CHECK(r->more[k] >= 0 && r->more[k] < (int)m.nnics && r->more[k] != r->primary);
        }
    }
}

static void check_nic_map(const char *text)
{
    char            why[300] = "";
    struct ct_rails rails;
    int             rc = ct_rails_find(&m, text, &rails, why, sizeof why);
    FUZZ_CHECK((rc == CTRAN_SUCCESS) == (why[0] == '\0'));
    if (rc == CTRAN_SUCCESS) {
        check_rails(&rails, m.ngpus, rails.gpus);
        check_rails(&rails, m.nnumas, rails.numas);
        struct ct_rail_gate gate = ct_rails_gate(&rails, 3, 1);
        FUZZ_CHECK(gate.in >= -1 && gate.in < (int)m.ngpus);
    }
}

static void check_gpu_map(const char *text, const char *visible, uint32_t rank)
{
    char why[300] = "";
    int  gpu = -2, rc;
    rc = ct_rails_gpu_of(&m, text, visible, rank, &gpu, why, sizeof why);
    FUZZ_CHECK((rc == CTRAN_SUCCESS) == (why[0] == '\0'));
    FUZZ_CHECK(rc != CTRAN_SUCCESS || (gpu >= -1 && gpu < (int)m.ngpus));
}

static void check_description(const char *text)
{
    char why[300] = "";
    int  rc = ct_machine_describe(&m, "text", text, why, sizeof why);
    FUZZ_CHECK((rc == CTRAN_SUCCESS) == (why[0] == '\0'));
    FUZZ_CHECK(m.nnics <= CT_MACHINE_NICS && m.ngpus <= CT_MACHINE_GPUS);
    check_nic_map("");
}

static void check_cluster(const char *text, uint32_t i)
{
    char              why[300] = "";
    struct ct_cluster c;
    int               rc = ct_cluster_parse(&c, text, why, sizeof why);
    FUZZ_CHECK((rc == CTRAN_SUCCESS) == (why[0] == '\0'));
    if (rc == CTRAN_SUCCESS) {
        struct ct_cluster_host h;
        FUZZ_CHECK(ct_cluster_ranks(&c) > 0 && ct_cluster_ranks(&c) <= CT_CLUSTER_RANKS);
        ct_cluster_host(&c, i % ct_cluster_hosts(&c), &h);
        FUZZ_CHECK(h.name[0] != '\0' && h.id < ct_cluster_hosts(&c));
    }
}

/* A byte of the upper half is a word, so that most texts get past their first. */
static char *make_text(struct fuzz *f)
{
    static const char *const words[] = {
        "gpu ",       "nic ",      "port ",     "* ",      "0",       "1",      "2",     "=",
        ",",          "+",         ":",         ";",       "\n",      " ",      "n0",    "n1",
        "n2",         "n3",        "none",      "numa:",   "GPU-1",   "name=",  "uuid=", "links=",
        "domain=",    "nvswitch=", "memory=",   "yes",     "no",      "speed=", "up=",   "bond=",
        "kind=",      "link=",     "guid=",     "label=",  "netdev=", "verbs",  "400G",  "ethernet",
        "infiniband", "\"a b\"",   "firmware=", "0a:",     "10:00.0", "00:",    "dcs=",  "zones=",
        "racks=",     "hosts=",    "gpus=",     "nvlink=", "rack",    "seed=",  "255",   "65536",
        "1048576",    "#",         "n1:2",      "n0:1 ",   "b",       "1:4",    "-"};
    size_t most = f->left * 16 + 1, len = 0;
    char  *text = malloc(most);
    FUZZ_CHECK(text != NULL);
    for (; f->left > 0; f->left--, f->at++) {
        const char *word = words[*f->at % 128 % (sizeof words / sizeof words[0])];
        size_t      n = *f->at >= 128 ? strlen(word) : *f->at > 0;
        memcpy(text + len, *f->at >= 128 ? word : (const char *)f->at, n);
        len += n;
    }
    text[len] = '\0';
    if (text[0] == '@') {
        text[0] = '#'; /* no files */
    }
    char *exact = realloc(text, len + 1); /* a look behind its end is seen */
    return exact != NULL ? exact : text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = {data, size};
    uint32_t    which = fuzz_below(&f, 5), rank = fuzz_below(&f, 9);
    make_machine(&f);
    char *text = make_text(&f);
    if (which == 0) {
        check_nic_map(text);
    } else if (which == 1) {
        check_gpu_map(text, NULL, rank);
    } else if (which == 2) {
        check_gpu_map("", text, rank);
    } else if (which == 3) {
        check_description(text);
    } else {
        check_cluster(text, rank);
    }
    free(text);
    return 0;
}
