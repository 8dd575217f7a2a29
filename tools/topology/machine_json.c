/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine as one JSON object; ctran_info(1) lists its fields. What is not known is null. */
#include <inttypes.h>

#include "tools/topology/pictures.h"
#include "tools/topology/text.h"

/* "name": "0000:1b:00.0" or null, and then whatever follows. */
static void put_pci(FILE *to, const char *name, const struct ct_pci *pci, const char *after)
{
    char text[32];
    ct_pci_format(pci, text, sizeof text);
    if (pci->known) {
        json_text(to, name, text, after);
    } else {
        fprintf(to, "\"%s\": null%s", name, after);
    }
}

static void put_place(FILE *to, const struct view *v, const struct ct_pci *pci, int16_t numa,
                      int16_t bridge)
{
    static const struct ct_pci none = {.known = false};
    put_pci(to, "pci", pci, ", ");
    put_pci(to, "switch", bridge >= 0 ? &v->m.bridges[bridge].pci : &none, ", ");
    if (numa >= 0) {
        fprintf(to, "\"numa_node\": %" PRIu32 ", ", v->m.numas[numa].os_index);
    } else {
        fprintf(to, "\"numa_node\": null, ");
    }
}

static void put_numas(FILE *to, const struct view *v)
{
    fprintf(to, "\"numa_nodes\": [");
    for (uint32_t i = 0; i < v->m.nnumas; i++) {
        const struct ct_numa *n = &v->m.numas[i];
        char                  cpus[6 * CT_MACHINE_CPUS];
        view_cpus(&n->cpus, cpus, sizeof cpus);
        fprintf(to,
                "%s{\"os_index\": %" PRIu32 ", \"package\": %" PRId32 ", \"memory_bytes\": %" PRIu64
                ", ",
                i > 0 ? ", " : "", n->os_index, n->package, n->memory_bytes);
        json_text(to, "cpus", CPU_COUNT(&n->cpus) > 0 ? cpus : "", "}");
    }
    fprintf(to, "]");
}

static void put_gpus(FILE *to, const struct view *v)
{
    fprintf(to, "\"gpus\": [");
    for (uint32_t i = 0; i < v->m.ngpus; i++) {
        const struct ct_machine_gpu *g = &v->m.gpus[i];
        fprintf(to, "%s{\"index\": %" PRIu32 ", ", i > 0 ? ", " : "", i);
        json_text(to, "name", g->name, ", ");
        json_text(to, "uuid", g->uuid, ", ");
        put_place(to, v, &g->pci, g->numa, v->gpu_switch[i]);
        fprintf(to, "\"memory_bytes\": %" PRIu64 ", ", g->memory_bytes);
        json_text(to, "nvlink_domain", g->domain, ", ");
        fprintf(to, "\"nvswitch\": %s, \"nvlinks\": [", g->nvswitch ? "true" : "false");
        for (uint32_t k = 0; k < v->m.ngpus; k++) {
            fprintf(to, "%s%u", k > 0 ? ", " : "", g->links[k]);
        }
        fprintf(to, "]}");
    }
    fprintf(to, "]");
}

static void put_nics(FILE *to, const struct view *v)
{
    fprintf(to, "\"nics\": [");
    for (uint32_t i = 0; i < v->m.nnics; i++) {
        const struct ct_nic *n = &v->m.nics[i];
        fprintf(to, "%s{\"index\": %" PRIu32 ", ", i > 0 ? ", " : "", i);
        json_text(to, "name", n->name, ", ");
        json_text(to, "kind", n->kind == CT_NIC_VERBS ? "verbs" : "ethernet", ", ");
        fprintf(to, "\"port\": %u, \"adapter\": %d, ", n->port, n->adapter);
        json_text(to, "interface", n->netdev, ", ");
        json_text(to, "bond", n->bond, ", ");
        put_place(to, v, &n->pci, n->numa, v->nic_switch[i]);
        json_text(to, "state", n->up ? "up" : "down", ", ");
        json_text(to, "link_layer", n->ib ? "InfiniBand" : "Ethernet", ", ");
        fprintf(to, "\"speed_mbps\": %" PRIu32 ", \"guid\": \"0x%016" PRIx64 "\", ", n->speed_mbps,
                n->guid);
        json_text(to, "firmware", n->firmware, ", ");
        json_text(to, "label", n->label, ", ");
        if (v->nic_rail[i] >= 0) {
            fprintf(to, "\"rail\": %d}", v->nic_rail[i]);
        } else {
            fprintf(to, "\"rail\": null}");
        }
    }
    fprintf(to, "]");
}

/* "primary": the NIC and how it is reached, or null. */
static void put_choice(FILE *to, const struct view *v, const char *name, int16_t nic, uint8_t path)
{
    if (nic < 0) {
        fprintf(to, ", \"%s\": null", name);
        return;
    }
    fprintf(to, ", \"%s\": {\"index\": %d, ", name, nic);
    json_text(to, "nic", v->m.nics[nic].name, ", ");
    fprintf(to, "\"port\": %u, \"path\": \"%s\"}", v->m.nics[nic].port,
            ct_path_name((enum ct_path)path));
}

static void put_rails(FILE *to, const struct view *v, const char *who, const struct ct_rail *rails,
                      uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct ct_rail *r = &rails[i];
        fprintf(to, "%s{\"%s\": %" PRIu32 ", ", i > 0 ? ", " : "", who, i);
        fprintf(to, r->index >= 0 ? "\"rail\": %d, " : "\"rail\": null, ", r->index);
        fprintf(to, "\"mapped\": %s", r->mapped ? "true" : "false");
        put_choice(to, v, "primary", r->primary, r->primary_path);
        put_choice(to, v, "backup", r->backup, r->backup_path);
        fprintf(to, ", \"more\": [");
        for (int k = 0; k < r->nmore; k++) {
            fprintf(to, "%s%d", k > 0 ? ", " : "", r->more[k]);
        }
        fprintf(to, "]}");
    }
}

/* A row a GPU, a column each GPU or NIC. */
static void put_paths(FILE *to, const struct view *v)
{
    fprintf(to, "\"gpu_gpu\": [");
    for (uint32_t i = 0; i < v->m.ngpus; i++) {
        for (uint32_t k = 0; k < v->m.ngpus; k++) {
            fprintf(to, "%s\"%s\"%s",
                    k > 0   ? ", "
                    : i > 0 ? ", ["
                            : "[",
                    ct_path_name(ct_machine_path_gpus(&v->m, i, k)),
                    k + 1 == v->m.ngpus ? "]" : "");
        }
    }
    fprintf(to, "], \"gpu_nic\": [");
    for (uint32_t i = 0; i < v->m.ngpus; i++) {
        fprintf(to, "%s[", i > 0 ? ", " : "");
        for (uint32_t k = 0; k < v->m.nnics; k++) {
            fprintf(to, "%s\"%s\"", k > 0 ? ", " : "",
                    ct_path_name(ct_machine_path_gpu_nic(&v->m, i, k)));
        }
        fprintf(to, "]");
    }
    fprintf(to, "]");
}

void machine_json(const struct view *v, FILE *to, int indent)
{
    const struct ct_machine *m = &v->m;
    fprintf(to, "{");
    json_text(to, "host", m->host, ", ");
    json_text(to, "source", m->source, ", ");
    fprintf(to,
            "\"packages\": %" PRIu32 ", \"cores\": %" PRIu32 ", \"threads\": %" PRIu32
            ", \"left_out\": %" PRIu32 ",\n%*s",
            m->npackages, m->ncores, m->npus, m->left_out, indent + 1, "");
    put_numas(to, v);
    fprintf(to, ",\n%*s", indent + 1, "");
    put_gpus(to, v);
    fprintf(to, ",\n%*s", indent + 1, "");
    put_nics(to, v);
    fprintf(to, ",\n%*s\"rails\": %" PRIu32 ", \"gpu_rails\": [", indent + 1, "", v->rails.nrails);
    put_rails(to, v, "gpu", v->rails.gpus, m->ngpus);
    fprintf(to, "],\n%*s\"numa_rails\": [", indent + 1, "");
    put_rails(to, v, "numa", v->rails.numas, m->nnumas);
    fprintf(to, "],\n%*s", indent + 1, "");
    put_paths(to, v);
    fprintf(to, "}");
}
