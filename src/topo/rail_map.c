/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's map of GPUs and NUMA nodes to NICs, CTRAN_NIC_MAP; see rail.h. */
#include "topo/rail_side.h"

#include <string.h>

#include "topo/find.h"

#define VARIABLE "CTRAN_NIC_MAP"

struct map {
    const struct ct_machine *m;
    struct ct_text           t;
    struct ct_rail_side     *gpus, *numas;
    const char              *entry_at[2][CT_RAIL_OWNERS]; /* where in the text; [1] of NUMA nodes */
};

/* "numa:N", N the system's number. */
static int find_numa(const struct map *map, struct ct_word w, int *numa)
{
    uint64_t       number;
    struct ct_word n = {w.at + 5, w.len - 5};
    if (!ct_word_number(n, UINT32_MAX, &number)) {
        return ct_text_fail(&map->t, n.at, "\"%.*s\" is no number of a NUMA node", CT_WORD_ARG(n));
    }
    for (uint32_t i = 0; i < map->m->nnumas; i++) {
        if (map->m->numas[i].os_index == number) {
            *numa = (int)i;
            return CTRAN_SUCCESS;
        }
    }
    return ct_text_fail(&map->t, n.at, "there is no NUMA node %.*s; this machine has %u",
                        CT_WORD_ARG(n), map->m->nnumas);
}

/* A NIC that may serve: up, and of a bond the port that stands for it. */
static int find_up(const struct map *map, struct ct_word w, int *nic)
{
    if (w.len == 0) {
        return ct_text_fail(&map->t, w.at, "a NIC is missing here");
    }
    int rc = ct_find_nic(map->m, &map->t, w, nic);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const char *bond = map->m->nics[*nic].bond;
    *nic = ct_rails_bond(map->m, *nic);
    if (map->m->nics[*nic].up) {
        return CTRAN_SUCCESS;
    }
    return bond[0] != '\0'
               ? ct_text_fail(&map->t, w.at,
                              "all ports of %s are down; bring one up, or name another", bond)
               : ct_text_fail(&map->t, w.at,
                              "port %u of %.*s is down; bring it up, or name another",
                              map->m->nics[*nic].port, CT_WORD_ARG(w));
}

static bool rail_map_uses(const struct ct_rail *r, int nic)
{
    for (uint32_t i = 0; i < r->nmore; i++) {
        if (r->more[i] == nic) {
            return true;
        }
    }
    return r->primary == nic;
}

/* "mlx5_0+mlx5_1" */
static int rail_map_read_nics(const struct map *map, struct ct_word list, struct ct_rail *r)
{
    struct ct_word w;
    while (ct_word_split(&list, '+', &w)) {
        int nic, rc = find_up(map, w, &nic);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        if (rail_map_uses(r, nic)) {
            return ct_text_fail(&map->t, w.at, "%.*s stands here twice%s", CT_WORD_ARG(w),
                                map->m->nics[nic].bond[0] != '\0' ? ": both are ports of a bond"
                                                                  : "");
        }
        if (r->primary < 0) {
            r->primary = (int16_t)nic;
        } else if (r->nmore < CT_RAIL_MORE) {
            r->more[r->nmore++] = (int16_t)nic;
        } else {
            return ct_text_fail(&map->t, w.at, "more than %d NICs for one", 1 + CT_RAIL_MORE);
        }
    }
    return CTRAN_SUCCESS;
}

static const char *rail_map_network(const struct ct_nic *nic)
{
    return nic->ib ? "InfiniBand" : nic->kind == CT_NIC_VERBS ? "RDMA over Ethernet" : "Ethernet";
}

static int read_backup(const struct map *map, struct ct_word w, struct ct_rail *r)
{
    int nic, rc;
    if (ct_word_is(w, "none")) {
        return CTRAN_SUCCESS;
    }
    rc = find_up(map, w, &nic);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const struct ct_nic *a = &map->m->nics[r->primary], *b = &map->m->nics[nic];
    if (r->primary == nic) {
        return ct_text_fail(&map->t, w.at,
                            "%.*s is the primary already; name another port, or none",
                            CT_WORD_ARG(w));
    }
    if (a->kind != b->kind || a->ib != b->ib) {
        return ct_text_fail(&map->t, w.at,
                            "%.*s is %s, and the primary %s: a backup must reach the same peers",
                            CT_WORD_ARG(w), rail_map_network(b), rail_map_network(a));
    }
    r->backup = (int16_t)nic;
    return CTRAN_SUCCESS;
}

/* What stands behind the = sign. */
static int read_rail(const struct map *map, struct ct_word value, struct ct_rail_side *s, int owner)
{
    struct ct_rail *r = &s->rails[owner];
    struct ct_word  nics, backup;
    s->settled[owner] = r->mapped = true;
    (void)ct_word_split(&value, ',', &nics);
    s->settled_backup[owner] = ct_word_split(&value, ',', &backup);
    if (value.at != NULL) {
        return ct_text_fail(&map->t, value.at, "more than one backup; put + between primaries");
    }
    if (ct_word_is(nics, "none")) {
        return !s->settled_backup[owner]
                   ? CTRAN_SUCCESS
                   : ct_text_fail(&map->t, backup.at, "a backup without a primary");
    }
    int rc = rail_map_read_nics(map, nics, r);
    return rc == CTRAN_SUCCESS && s->settled_backup[owner] ? read_backup(map, backup, r) : rc;
}

static int rail_map_read_entry(struct map *map, struct ct_word entry)
{
    struct ct_word value = entry, who;
    int            owner;
    (void)ct_word_split(&value, '=', &who);
    if (value.at == NULL || who.len == 0) {
        return ct_text_fail(&map->t, entry.at,
                            "expected WHO=NIC[,BACKUP], WHO a GPU or numa:N, not \"%.*s\"",
                            CT_WORD_ARG(entry));
    }
    bool numa = who.len >= 5 && memcmp(who.at, "numa:", 5) == 0;
    int  rc = numa ? find_numa(map, who, &owner) : ct_find_gpu(map->m, &map->t, who, &owner);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (map->entry_at[numa][owner] != NULL) {
        char           first[16] = "";
        struct ct_text before = map->t;
        before.name = "";
        before.why = first;
        before.cap = sizeof first;
        (void)ct_text_fail(&before, map->entry_at[numa][owner], "%s", "");
        return ct_text_fail(&map->t, who.at, "%.*s was given before, at %s", CT_WORD_ARG(who),
                            first + 1);
    }
    map->entry_at[numa][owner] = who.at;
    return read_rail(map, value, numa ? map->numas : map->gpus, owner);
}

int ct_rail_map(const struct ct_machine *m, const char *map_text, struct ct_rail_side *gpus,
                struct ct_rail_side *numas, char *why, size_t cap)
{
    struct map     map = {.m = m, .gpus = gpus, .numas = numas};
    struct ct_word entry;
    int            rc = ct_text_open(&map.t, VARIABLE, map_text, why, cap);
    while (rc == CTRAN_SUCCESS && ct_text_entry(&map.t, &entry)) {
        rc = rail_map_read_entry(&map, entry);
    }
    ct_text_close(&map.t);
    return rc;
}
