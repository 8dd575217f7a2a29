/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which RDMA ports a rank uses. CTRAN_IB_DEVICES names them; else topo says which are close to the
 * rank's GPU or processors (topo/rail.h, CTRAN_NIC_MAP); else, where topo knows none of them, ranks
 * of a host take the ports in turn. The first ones are primary, the last one is the backup, as long
 * as there are two.
 */
#define CT_FOLDER "net"
#include <sched.h>
#include <stdlib.h>

#include "net/ib/ib.h"
#include "pmi/pmi.h"
#include "topo/topo.h"

enum { MOST = 64 };

struct found {
    struct ct_ib_choice all[MOST];
    unsigned            n;
};

static bool ib_devices_is_active(const struct ct_ib *t, struct ibv_device *device, uint8_t *nports,
                                 bool up[256])
{
    struct ibv_context    *ctx = t->v->open_device(device);
    struct ibv_device_attr attr;
    if (ctx == NULL) {
        return false;
    }
    memset(&attr, 0, sizeof attr);
    const bool ok = t->v->query_device(ctx, &attr) == 0;
    *nports = ok ? attr.phys_port_cnt : 0;
    for (unsigned p = 1; ok && p <= *nports; p++) {
        struct ibv_port_attr port;
        memset(&port, 0, sizeof port);
        up[p] = t->v->query_port(ctx, (uint8_t)p, &port) == 0 && port.state == IBV_PORT_ACTIVE;
    }
    (void)t->v->close_device(ctx);
    return ok;
}

static void list_ports(const struct ct_ib *t, struct ibv_device **list, bool only_up,
                       struct found *found)
{
    for (; *list != NULL; list++) {
        bool    up[256] = {false};
        uint8_t nports = 0;
        if (!ib_devices_is_active(t, *list, &nports, up)) {
            continue;
        }
        for (unsigned p = 1; p <= nports && found->n < MOST; p++) {
            struct ct_ib_choice *c = &found->all[found->n];
            if (only_up && !up[p]) {
                continue;
            }
            *c = (struct ct_ib_choice){.device = *list, .port = (uint8_t)p};
            (void)snprintf(c->name, sizeof c->name, "%s:%u", t->v->get_device_name(*list), p);
            found->n++;
        }
    }
}

/* "mlx5_0", which is its first port, or "mlx5_0:2". */
static const struct ct_ib_choice *ib_devices_find_port(const struct found *found, const char *name,
                                                       size_t len)
{
    for (unsigned i = 0; i < found->n; i++) {
        const char  *full = found->all[i].name;
        const size_t bare = strlen(full) - strlen(strrchr(full, ':'));
        if (strncmp(full, name, len) == 0 &&
            (full[len] == '\0' || (len == bare && found->all[i].port == 1))) {
            return &found->all[i];
        }
    }
    return NULL;
}

/* ---- by CTRAN_IB_DEVICES --------------------------------------------------------------------- */

static int ib_devices_unknown(const struct ct_ib *t, const struct found *found, const char *name,
                              size_t len)
{
    char   names[512] = "";
    size_t at = 0;
    for (unsigned i = 0; i < found->n && at + 70 < sizeof names; i++) {
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i > 0 ? ", " : "",
                               found->all[i].name);
    }
    ct_error(
        t->env.log,
        "CTRAN_IB_DEVICES names \"%.*s\", but this host has %s%s; name some of these, or leave "
        "the variable empty",
        (int)len, name, found->n > 0 ? "the RDMA ports " : "no RDMA port", names);
    return CTRAN_ERR_CONFIG;
}

static int by_name(const struct ct_ib *t, const struct found *found, struct ct_ib_choice *out,
                   unsigned *n)
{
    const char *at = t->env.cfg->ib_devices;
    while (*at != '\0') {
        const size_t               len = strcspn(at, ",");
        const struct ct_ib_choice *c = ib_devices_find_port(found, at, len);
        if (c == NULL || *n == CT_IB_MAX_PORTS) {
            return ib_devices_unknown(t, found, at, len);
        }
        out[(*n)++] = *c;
        at += len + (at[len] == ',');
    }
    return CTRAN_SUCCESS;
}

/* ---- by topology ----------------------------------------------------------------------------- */

static const struct ct_rail *rail_of(const struct ct_ib *t, const struct ct_machine *m,
                                     const struct ct_rails *rails)
{
    const struct ct_process *p = t->env.process;
    char                     why[256];
    int                      gpu = -1;
    cpu_set_t                own, both;
    if (p->gpu != NULL &&
        ct_rails_gpu_of(m, t->env.cfg->gpu_map, ct_job_visible_gpus(), t->env.local_index, &gpu,
                        why, sizeof why) == CTRAN_SUCCESS &&
        gpu >= 0) {
        return &rails->gpus[gpu];
    }
    if (sched_getaffinity(0, sizeof own, &own) != 0) {
        return NULL;
    }
    for (uint32_t i = 0; i < m->nnumas; i++) {
        CPU_AND(&both, &own, &m->numas[i].cpus);
        if (CPU_COUNT(&both) > 0 && rails->numas[i].primary >= 0) {
            return &rails->numas[i];
        }
    }
    return NULL;
}

static void ib_devices_add_nic(const struct found *found, const struct ct_machine *m, int nic,
                               struct ct_ib_choice *out, unsigned *n)
{
    char name[64];
    if (nic < 0 || *n == CT_IB_MAX_PORTS) {
        return;
    }
    const int len = snprintf(name, sizeof name, "%s:%u", m->nics[nic].name, m->nics[nic].port);
    const struct ct_ib_choice *c = ib_devices_find_port(found, name, (size_t)len);
    for (unsigned i = 0; c != NULL && i < *n; i++) {
        c = strcmp(out[i].name, c->name) != 0 ? c : NULL;
    }
    if (c != NULL) {
        out[(*n)++] = *c;
    }
}

/* Without an answer nothing is added. */
static void by_topology(const struct ct_ib *t, const struct found *found, struct ct_ib_choice *out,
                        unsigned *n, unsigned *nprimary)
{
    const struct ct_machine *m;
    char                     why[512];
    struct ct_rails         *rails = malloc(sizeof *rails);
    if (rails != NULL && t->env.process != NULL &&
        ct_machine_here(t->env.process, &m) == CTRAN_SUCCESS &&
        ct_rails_find(m, t->env.cfg->nic_map, rails, why, sizeof why) == CTRAN_SUCCESS) {
        const struct ct_rail *rail = rail_of(t, m, rails);
        for (unsigned i = 0; rail != NULL && i <= rail->nmore; i++) {
            const int nic = i == 0 ? rail->primary : rail->more[i - 1];
            if (i == 0 || nic != rail->backup) {
                ib_devices_add_nic(found, m, nic, out, n);
            }
        }
        *nprimary = *n;
        if (rail != NULL) {
            ib_devices_add_nic(found, m, rail->backup, out, n);
        }
    }
    free(rails);
}

/* In turn, from a rank's place on its host on. */
static void in_turn(const struct ct_ib *t, const struct found *found, struct ct_ib_choice *out,
                    unsigned *n)
{
    const unsigned rails = (unsigned)t->env.cfg->ib_rails > 0 ? (unsigned)t->env.cfg->ib_rails : 1;
    for (unsigned i = 0; i < found->n && *n <= rails; i++) {
        out[(*n)++] = found->all[(t->env.local_index * rails + i) % found->n];
    }
}

int ct_ib_choose(struct ct_ib *t, struct ibv_device **list, struct ct_ib_choice *out, unsigned *n,
                 unsigned *nprimary)
{
    const bool   named = t->env.cfg->ib_devices[0] != '\0';
    struct found found = {.n = 0};
    int          rc = CTRAN_SUCCESS;
    *n = *nprimary = 0;
    list_ports(t, list, !named, &found);
    if (named) {
        rc = by_name(t, &found, out, n);
    } else if (found.n > 1) {
        by_topology(t, &found, out, n, nprimary);
    }
    if (rc == CTRAN_SUCCESS && *n == 0) {
        in_turn(t, &found, out, n);
    }
    if (*nprimary == 0) {
        const unsigned rails = (unsigned)t->env.cfg->ib_rails;
        *nprimary = rails > 0 && rails < *n ? rails : *n > 1 ? *n - 1 : *n;
    }
    if (!t->env.cfg->ib_failover) {
        *n = *nprimary;
    }
    return rc;
}
