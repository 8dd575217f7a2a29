/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs for ranks; see gpus.h. */
#include "config.h"
#include "launcher/place/gpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/launcher.h"

#define VISIBLE_VARIABLE "CUDA_VISIBLE_DEVICES"
#define ORDER_VARIABLE   "CUDA_DEVICE_ORDER"
#define ORDER_OF_PCI     "PCI_BUS_ID"

/* ---- what there is --------------------------------------------------------------------------- */

/* The number of a GPU among those that CUDA sees. */
static uint32_t number_of_gpu(const struct ct_machine *m, uint32_t gpu)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < gpu; i++) {
        n += ct_find_is_shown(m, i);
    }
    return n;
}

/* The only GPU whose UUID begins so, as CUDA lets one write it. -1: none, or several. */
static int gpu_of_uuid(const struct ct_machine *m, const char *uuid, size_t len)
{
    int found = -1;
    for (uint32_t i = 0; i < m->ngpus; i++) {
        if (m->gpus[i].uuid[0] != '\0' && strncasecmp(m->gpus[i].uuid, uuid, len) == 0) {
            if (found >= 0) {
                return -1;
            }
            found = (int)i;
        }
    }
    return found;
}

static bool knows_uuids(const struct ct_machine *m)
{
    return m->ngpus > 0 && m->gpus[ct_find_shown(m, 0)].uuid[0] != '\0';
}

/* ---- units ----------------------------------------------------------------------------------- */

/* Whether the list names one GPU or one slice twice. */
static bool gpus_is_there(const struct ct_gpus *g, const struct ct_gpu_unit *u)
{
    bool slice = strncmp(u->word, "MIG-", 4) == 0, found = false;
    for (uint32_t i = 0; i < g->nunits; i++) {
        found |= strcasecmp(g->units[i].word, u->word) == 0 ||
                 (!slice && u->gpu >= 0 && g->units[i].gpu == u->gpu);
    }
    return found;
}

/* Adds a unit. Returns false if the list ends here: there is no room; or the unit is named twice,
 * and then the list is empty, as in CUDA. */
static bool add_unit(struct ct_gpus *g, int gpu, const char *word, size_t len)
{
    struct ct_gpu_unit u = {.gpu = (int16_t)gpu};
    if (g->nunits == CT_GPU_UNITS || len >= sizeof u.word) {
        return false;
    }
    memcpy(u.word, word, len);
    if (gpus_is_there(g, &u)) {
        g->nunits = 0;
        return false;
    }
    g->units[g->nunits++] = u;
    return true;
}

/* Adds the GPU that CUDA calls by this word. */
static bool add_gpu(struct ct_gpus *g, int gpu, bool by_uuid)
{
    char        number[16];
    const char *uuid = g->machine->gpus[gpu].uuid;
    snprintf(number, sizeof number, "%u", number_of_gpu(g->machine, (uint32_t)gpu));
    return add_unit(g, gpu, by_uuid ? uuid : number, strlen(by_uuid ? uuid : number));
}

/* Adds one name of the list. Returns false if the name ends the list, as in CUDA. */
static bool add_named(struct ct_gpus *g, const char *name, size_t len, bool by_uuid)
{
    static const char        whole[] = "GPU-", slice[] = "MIG-", old_slice[] = "MIG-GPU-";
    const struct ct_machine *m = g->machine;
    char                    *end;
    if (isdigit((unsigned char)*name)) {
        errno = 0;
        unsigned long number = strtoul(name, &end, 10);
        int           gpu = errno == 0 && end == name + len ? ct_find_shown(m, number) : -1;
        return gpu >= 0 && add_gpu(g, gpu, by_uuid);
    }
    if (len > sizeof old_slice && strncmp(name, old_slice, sizeof old_slice - 1) == 0) {
        size_t uuid_len = strcspn(name + 4, "/,");
        return add_unit(g, gpu_of_uuid(m, name + 4, uuid_len), name, len);
    }
    if (len > sizeof slice && strncmp(name, slice, sizeof slice - 1) == 0) {
        return add_unit(g, -1, name, len);
    }
    if (len > sizeof whole && strncmp(name, whole, sizeof whole - 1) == 0) {
        int gpu = gpu_of_uuid(m, name, len);
        return (gpu >= 0 || !knows_uuids(m)) && add_unit(g, gpu, name, len);
    }
    return false;
}

static void find_units(struct ct_gpus *g, const char *visible, bool by_uuid)
{
    if (visible == NULL) {
        for (uint32_t i = 0; i < g->machine->ngpus; i++) {
            if (ct_find_is_shown(g->machine, i)) {
                (void)add_gpu(g, (int)i, by_uuid);
            }
        }
        return;
    }
    for (const char *at = visible; *at != '\0';) {
        at += strspn(at, " \t");
        size_t len = strcspn(at, ","), trimmed = len;
        while (trimmed > 0 && isspace((unsigned char)at[trimmed - 1])) {
            trimmed--;
        }
        if (!add_named(g, at, trimmed, by_uuid)) {
            return;
        }
        at += len + (at[len] == ',');
    }
}

/* ---- the choice ------------------------------------------------------------------------------ */

static int numa_of(const struct ct_gpus *g, uint32_t unit)
{
    int gpu = g->units[unit].gpu;
    return gpu >= 0 ? g->machine->gpus[gpu].numa : -1;
}

/* NULL: unknown. */
static const cpu_set_t *cpus_of(const struct ct_gpus *g, uint32_t unit)
{
    int numa = numa_of(g, unit);
    return numa >= 0 && CPU_COUNT(&g->machine->numas[numa].cpus) > 0 ? &g->machine->numas[numa].cpus
                                                                     : NULL;
}

static bool is_near(const struct ct_gpus *g, uint32_t unit, const cpu_set_t *set)
{
    const cpu_set_t *cpus = cpus_of(g, unit);
    cpu_set_t        both;
    if (cpus == NULL || set == NULL) {
        return set == NULL;
    }
    CPU_AND(&both, cpus, set);
    return CPU_COUNT(&both) > 0;
}

/* Returns how many units of this unit's NUMA node are free. */
static uint32_t count_free_beside(const struct ct_gpus *g, uint32_t unit)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->nunits; i++) {
        n += g->units[i].users == 0 && numa_of(g, i) == numa_of(g, unit);
    }
    return n;
}

/* Returns the first unit for a rank that gets `each` of its own: near the rank's CPUs, or on a NUMA
 * node with enough free units, or any. -1: all are taken. */
static int choose_first(const struct ct_gpus *g, const cpu_set_t *set)
{
    int      best = -1;
    uint32_t best_badness = UINT32_MAX;
    for (uint32_t i = 0; i < g->nunits; i++) {
        uint32_t badness = 2 * !is_near(g, i, set) + (count_free_beside(g, i) < g->each);
        if (g->units[i].users == 0 && badness < best_badness) {
            best = (int)i;
            best_badness = badness;
        }
    }
    return best;
}

/* How far a unit is from those that a rank has: the NUMA node first, then the paths together. */
static uint32_t badness_beside(const struct ct_gpus *g, uint32_t unit, const uint16_t *mine,
                               uint32_t n)
{
    enum { ANOTHER_NODE = 1 << 16 };
    uint32_t sum = numa_of(g, unit) != numa_of(g, mine[0]) ? ANOTHER_NODE : 0;
    for (uint32_t i = 0; i < n; i++) {
        int a = g->units[unit].gpu, b = g->units[mine[i]].gpu;
        sum += a < 0 || b < 0 ? CT_PATH_SYS
                              : ct_machine_path_gpus(g->machine, (uint32_t)a, (uint32_t)b);
    }
    return sum;
}

/* The next unit for a rank that has n already. -1: all are taken. */
static int choose_next(const struct ct_gpus *g, const uint16_t *mine, uint32_t n)
{
    int      best = -1;
    uint32_t best_badness = UINT32_MAX;
    for (uint32_t i = 0; i < g->nunits; i++) {
        uint32_t badness = badness_beside(g, i, mine, n);
        if (g->units[i].users == 0 && badness < best_badness) {
            best = (int)i;
            best_badness = badness;
        }
    }
    return best;
}

static void gpus_take(struct ct_gpus *g, uint32_t rank, uint32_t k, uint32_t unit)
{
    g->of[rank * g->each + k] = (uint16_t)unit;
    g->units[unit].users++;
}

/* ---- the user's map -------------------------------------------------------------------------- */

static int unit_of_gpu(const struct ct_gpus *g, int gpu)
{
    for (uint32_t i = 0; i < g->nunits; i++) {
        if (g->units[i].gpu == gpu) {
            return (int)i;
        }
    }
    return -1;
}

static int take_mapped(struct ct_gpus *g, const struct ct_gpu_order *o, uint32_t rank, char *why,
                       size_t cap)
{
    int  gpu = -1;
    char reason[512] = "";
    if (ct_rails_gpu_of(g->machine, o->map, o->visible, rank, &gpu, reason, sizeof reason) !=
        CTRAN_SUCCESS) {
        snprintf(why, cap, "%s", reason);
        return CT_EXIT_USAGE;
    }
    int unit = gpu >= 0 ? unit_of_gpu(g, gpu) : -1;
    if (gpu < 0) {
        snprintf(why, cap,
                 "CTRAN_GPU_MAP \"%s\" gives local rank %u of host %s no GPU, and --map-by gpu or "
                 "--gpus-per-rank asks for one; give that rank a GPU, or leave these options out",
                 o->map, rank, o->host);
    } else if (unit < 0) {
        snprintf(why, cap,
                 "CTRAN_GPU_MAP \"%s\" gives local rank %u of host %s GPU %d, which "
                 "CUDA_VISIBLE_DEVICES=%s leaves out",
                 o->map, rank, o->host, gpu, o->visible != NULL ? o->visible : "");
    } else if (o->own > 0 && g->units[unit].users > 0) {
        snprintf(why, cap,
                 "CTRAN_GPU_MAP \"%s\" gives local rank %u of host %s GPU %d, which another rank "
                 "has, and --gpus-per-rank %u asks for GPUs of their own; name another GPU for "
                 "that rank",
                 o->map, rank, o->host, gpu, o->own);
        return CT_EXIT_USAGE;
    } else {
        gpus_take(g, rank, 0, (uint32_t)unit);
    }
    return unit < 0 ? CT_EXIT_USAGE : 0;
}

/* ---- all ranks ------------------------------------------------------------------------------- */

/* Gives each rank the rest of its units. The first one is known, or still to be found. */
static bool give_own(struct ct_gpus *g, const struct ct_gpu_order *o)
{
    for (uint32_t r = 0; r < g->nranks; r++) {
        bool mapped = o->map[0] != '\0';
        for (uint32_t k = mapped ? 1 : 0; k < g->each; k++) {
            int unit = k == 0 ? choose_first(g, o->sets != NULL ? &o->sets[r] : NULL)
                              : choose_next(g, &g->of[r * g->each], k);
            if (unit < 0) {
                return false;
            }
            gpus_take(g, r, k, (uint32_t)unit);
        }
    }
    return true;
}

static int gpus_give(struct ct_gpus *g, const struct ct_gpu_order *o, char *why, size_t cap)
{
    bool mapped = o->map[0] != '\0';
    for (uint32_t r = 0; mapped && r < g->nranks; r++) {
        int status = take_mapped(g, o, r, why, cap);
        if (status != 0) {
            return status;
        }
    }
    for (uint32_t r = 0; !mapped && o->own == 0 && r < g->nranks; r++) {
        gpus_take(g, r, 0, r % g->nunits);
    }
    if (o->own > 0 && !give_own(g, o)) {
        snprintf(why, cap,
                 "--gpus-per-rank %u: the %u ranks of host %s need %u GPUs of their own, and %u "
                 "may be used%s%s; ask for fewer GPUs or ranks",
                 o->own, g->nranks, o->host, o->own * g->nranks, g->nunits,
                 o->visible != NULL ? " there with CUDA_VISIBLE_DEVICES=" : "",
                 o->visible != NULL ? o->visible : "");
        return CT_EXIT_USAGE;
    }
    return 0;
}

/* Whether the GPUs have names that CUDA takes in the same meaning. */
static int choose_names(struct ct_gpus *g, const struct ct_gpu_order *o, bool *by_uuid, char *why,
                        size_t cap)
{
    g->set_order = o->device_order == NULL;
    *by_uuid = o->device_order != NULL && strcmp(o->device_order, ORDER_OF_PCI) != 0;
    if (*by_uuid && g->machine->ngpus > 0 && !knows_uuids(g->machine)) {
        snprintf(why, cap,
                 ORDER_VARIABLE "=%s: the numbers that it gives to GPUs of host %s are not known, "
                                "nor are their UUIDs; set it to " ORDER_OF_PCI " or leave it out",
                 o->device_order, o->host);
        return CT_EXIT_USAGE;
    }
    return 0;
}

int ct_gpus_init(struct ct_gpus *g, struct ct_machine *machine, const struct ct_gpu_order *o,
                 char *why, size_t cap)
{
    bool by_uuid;
    *g = (struct ct_gpus){.machine = machine, .nranks = o->ranks, .each = o->own > 0 ? o->own : 1};
    int status = choose_names(g, o, &by_uuid, why, cap);
    if (status != 0) {
        return status;
    }
    find_units(g, o->visible, by_uuid);
    if (g->nunits == 0) {
        snprintf(why, cap, "%s: host %s has %s%s%s",
                 o->own > 0 ? "--gpus-per-rank" : "--map-by gpu", o->host,
                 machine->ngpus == 0 ? "no GPU that can be seen"
                                     : "GPUs, and none that may be used with " VISIBLE_VARIABLE "=",
                 machine->ngpus == 0 || o->visible == NULL ? "" : o->visible,
                 machine->ngpus == 0 ? "; start there without this option" : "");
        return CT_EXIT_USAGE;
    }
    if (ct_rails_find(machine, o->nic_map, &g->rails, why, cap) != CTRAN_SUCCESS) {
        return CT_EXIT_USAGE;
    }
    g->of = calloc((size_t)g->nranks * g->each, sizeof *g->of);
    if (g->of == NULL) {
        snprintf(why, cap, "cannot choose the ranks' GPUs: out of memory");
        return CT_EXIT_INTERNAL;
    }
    return gpus_give(g, o, why, cap);
}

void ct_gpus_fini(struct ct_gpus *g)
{
    free(g->of);
    free(g->machine);
    *g = (struct ct_gpus){0};
}

/* ---- what a rank has ------------------------------------------------------------------------- */

const cpu_set_t *ct_gpus_cpus(const struct ct_gpus *g, uint32_t local_rank)
{
    return cpus_of(g, g->of[local_rank * g->each]);
}

void ct_gpus_visible(const struct ct_gpus *g, uint32_t local_rank, char *out, size_t cap)
{
    size_t len = 0;
    out[0] = '\0';
    for (uint32_t k = 0; k < g->each && len < cap; k++) {
        const struct ct_gpu_unit *u = &g->units[g->of[local_rank * g->each + k]];
        len += (size_t)snprintf(out + len, cap - len, "%s%s", k > 0 ? "," : "", u->word);
    }
}

static void describe_unit(const struct ct_gpus *g, const struct ct_gpu_unit *u, FILE *f)
{
    const struct ct_machine *m = g->machine;
    char                     pci[32];
    if (u->gpu < 0) {
        fprintf(f, "; GPU %s", u->word);
    } else {
        const struct ct_machine_gpu *gpu = &m->gpus[u->gpu];
        const struct ct_rail        *rail = &g->rails.gpus[u->gpu];
        bool                         slice = strncmp(u->word, "MIG-", 4) == 0;
        ct_pci_format(&gpu->pci, pci, sizeof pci);
        fprintf(f, "; GPU %u%s%s at %s", number_of_gpu(m, (uint32_t)u->gpu), slice ? " " : "",
                slice ? u->word : "", pci);
        if (gpu->numa >= 0) {
            fprintf(f, " on NUMA node %u", m->numas[gpu->numa].os_index);
        }
        if (rail->primary >= 0) {
            fprintf(f, " with NIC %s (%s)", m->nics[rail->primary].name,
                    ct_path_name((enum ct_path)rail->primary_path));
        }
    }
    if (u->users > 1) {
        fprintf(f, ", shared by %u ranks", u->users);
    }
}

void ct_gpus_describe(const struct ct_gpus *g, uint32_t local_rank, char *out, size_t cap)
{
    char  visible[1024];
    FILE *f = g->machine != NULL ? fmemopen(out, cap, "w") : NULL;
    out[0] = '\0';
    if (f == NULL) {
        return;
    }
    for (uint32_t k = 0; k < g->each; k++) {
        describe_unit(g, &g->units[g->of[local_rank * g->each + k]], f);
    }
    ct_gpus_visible(g, local_rank, visible, sizeof visible);
    fprintf(f, "; " VISIBLE_VARIABLE "=%s", visible);
    fclose(f);
    out[cap - 1] = '\0';
}

bool ct_gpus_env(const struct ct_gpus *g, uint32_t local_rank, char ***env)
{
    static const char name[] = VISIBLE_VARIABLE "=";
    char              setting[sizeof name + CT_GPU_UNITS * CT_GPU_WORD];
    if (g->machine == NULL) {
        return true;
    }
    memcpy(setting, name, sizeof name);
    ct_gpus_visible(g, local_rank, setting + sizeof name - 1, sizeof setting - sizeof name);
    return ct_strlist_set(env, setting) &&
           (!g->set_order || ct_strlist_set(env, ORDER_VARIABLE "=" ORDER_OF_PCI));
}
