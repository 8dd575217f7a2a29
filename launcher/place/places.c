/* SPDX-License-Identifier: BSD-3-Clause */
/* Places by hwloc; see places.h. Used by daemon/start.c. */
#include "config.h"
#include "launcher/place/places.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "launcher/launcher.h"
#include "topo/topo.h"

/* Processing elements that ranks of one turn share: of the machine, or of a NUMA node. */
struct domain {
    hwloc_obj_t     *elements;
    uint32_t         n;
    const cpu_set_t *near;  /* of ranks with GPUs: of their NUMA node; NULL: unknown */
    uint32_t         ranks; /* that are in it, for ranks with GPUs */
};

struct machine {
    hwloc_topology_t topology;
    struct domain   *domains;
    uint32_t         ndomains;
    uint32_t         cores;
    struct turn     *turns; /* by rank */
};

/* A rank's domain, and its number among the ranks there. */
struct turn {
    uint32_t domain, number;
};

/* ---- the machine ----------------------------------------------------------------------------- */

/* Leaves out the CPUs that taskset or a batch system denies this process. */
static void keep_ours(hwloc_topology_t t)
{
    hwloc_bitmap_t ours = hwloc_bitmap_alloc();
    if (hwloc_topology_is_thissystem(t) && hwloc_get_cpubind(t, ours, HWLOC_CPUBIND_THREAD) == 0) {
        (void)hwloc_topology_restrict(t, ours, 0); /* as it was, if that cannot be */
    }
    hwloc_bitmap_free(ours);
}

/* hwloc opens its plugins at the first init. Those for accelerators open their libraries, and are
 * of no use here. The environment is that of the user again before a rank inherits it. */
static bool init_without_plugins(hwloc_topology_t *t)
{
    static const char name[] = "HWLOC_PLUGINS_BLACKLIST";
    const bool ours = getenv(name) == NULL && ct_config_foreign("HWLOC_COMPONENTS") == NULL &&
                      setenv(name, CT_TOPO_PLUGINS, 1) == 0;
    const bool good = hwloc_topology_init(t) == 0;
    if (ours) {
        (void)unsetenv(name);
    }
    return good;
}

/* Only cores, packages and NUMA nodes are read, and L3 caches if an option names them; other caches
 * and devices take time. */
static bool places_load(hwloc_topology_t *t, const struct ct_jobdesc *d)
{
    if (!init_without_plugins(t)) {
        return false;
    }
    hwloc_topology_set_all_types_filter(*t, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(*t, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    /* The objects above a NUMA node: without them each node would seem to have all cores. */
    hwloc_topology_set_type_filter(*t, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    hwloc_topology_set_type_filter(*t, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (d->map == CT_MAP_L3CACHE || d->bind == CT_BIND_L3CACHE) {
        hwloc_topology_set_type_filter(*t, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
    }
    ct_topo_leave_out(*t);
    if (hwloc_topology_load(*t) != 0) {
        hwloc_topology_destroy(*t);
        return false;
    }
    keep_ours(*t);
    return true;
}

static int try_load(void *arg)
{
    hwloc_topology_t t;
    if (!places_load(&t, arg)) {
        return -1;
    }
    hwloc_topology_destroy(t);
    return 0;
}

/* The objects that are processing elements: cores, or threads if the kernel shows no cores. */
static hwloc_obj_type_t element_type(const struct machine *m, const struct ct_jobdesc *d)
{
    bool threads = d->map == CT_MAP_HWTHREAD ||
                   (d->bind == CT_BIND_HWTHREAD && d->map <= CT_MAP_SLOT) || m->cores == 0;
    return threads ? HWLOC_OBJ_PU : HWLOC_OBJ_CORE;
}

/* The domains that ranks take in turn, besides the whole machine. */
static bool map_type(const struct ct_jobdesc *d, hwloc_obj_type_t *out)
{
    *out = d->map == CT_MAP_PACKAGE   ? HWLOC_OBJ_PACKAGE
           : d->map == CT_MAP_L3CACHE ? HWLOC_OBJ_L3CACHE
                                      : HWLOC_OBJ_NUMANODE;
    return d->map == CT_MAP_NUMA || d->map == CT_MAP_PACKAGE || d->map == CT_MAP_L3CACHE;
}

/* The units of binding that are wider than elements. */
static bool bind_type(enum ct_bind bind, hwloc_obj_type_t *out)
{
    *out = bind == CT_BIND_PACKAGE   ? HWLOC_OBJ_PACKAGE
           : bind == CT_BIND_L3CACHE ? HWLOC_OBJ_L3CACHE
                                     : HWLOC_OBJ_NUMANODE;
    return bind == CT_BIND_NUMA || bind == CT_BIND_PACKAGE || bind == CT_BIND_L3CACHE;
}

/* Whether hwloc finds the objects that the options name. */
static int check_types(const struct machine *m, const struct ct_jobdesc *d, char *why, size_t cap)
{
    hwloc_obj_type_t map, bind;
    bool             no_map = map_type(d, &map) && hwloc_get_nbobjs_by_type(m->topology, map) <= 0;
    bool no_bind = bind_type(d->bind, &bind) && hwloc_get_nbobjs_by_type(m->topology, bind) <= 0;
    if (no_map || no_bind) {
        snprintf(why, cap, "%s: this machine tells of no %s; use core or numa",
                 no_map ? "--map-by" : "--bind-to",
                 (no_map ? map : bind) == HWLOC_OBJ_PACKAGE ? "package" : "L3 cache");
        return CT_EXIT_USAGE;
    }
    return 0;
}

/* The elements inside `set`. Returns false when out of memory. */
static bool fill_domain(struct domain *dom, hwloc_topology_t t, hwloc_obj_type_t type,
                        hwloc_const_cpuset_t set)
{
    int n = hwloc_get_nbobjs_by_type(t, type);
    dom->elements = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *dom->elements);
    for (hwloc_obj_t o = NULL;
         dom->elements != NULL && (o = hwloc_get_next_obj_by_type(t, type, o)) != NULL;) {
        if (hwloc_bitmap_isincluded(o->cpuset, set)) {
            dom->elements[dom->n++] = o;
        }
    }
    return dom->elements != NULL;
}

/* The elements near a GPU; all elements if the NUMA node is unknown. */
static bool fill_near(struct domain *dom, const struct machine *m, hwloc_obj_type_t type)
{
    if (dom->near == NULL) {
        return fill_domain(dom, m->topology, type, hwloc_topology_get_topology_cpuset(m->topology));
    }
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    hwloc_cpuset_from_glibc_sched_affinity(m->topology, set, dom->near, sizeof *dom->near);
    bool ok = fill_domain(dom, m->topology, type, set);
    hwloc_bitmap_free(set);
    return ok;
}

/* The domain of a rank with GPUs. Ranks whose NUMA node has no usable element, or is unknown, share
 * all elements. */
static const cpu_set_t *find_near(const struct machine *m, hwloc_obj_type_t type,
                                  const struct ct_gpus *gpus, uint32_t rank)
{
    const cpu_set_t *near = ct_gpus_cpus(gpus, rank);
    hwloc_bitmap_t   set = hwloc_bitmap_alloc();
    bool             any = false;
    if (near != NULL) {
        hwloc_cpuset_from_glibc_sched_affinity(m->topology, set, near, sizeof *near);
        any = hwloc_get_nbobjs_inside_cpuset_by_type(m->topology, set, type) > 0;
    }
    hwloc_bitmap_free(set);
    return any ? near : NULL;
}

/* Domains by the GPUs of the ranks, and each rank's turn there. */
static bool find_gpu_domains(struct machine *m, hwloc_obj_type_t type, uint32_t n,
                             const struct ct_gpus *gpus)
{
    m->domains = calloc((size_t)CT_MACHINE_NUMAS + 1, sizeof *m->domains);
    bool ok = m->domains != NULL;
    for (uint32_t r = 0; ok && r < n; r++) {
        const cpu_set_t *near = find_near(m, type, gpus, r);
        uint32_t         i = 0;
        while (i < m->ndomains && m->domains[i].near != near) {
            i++;
        }
        if (i == m->ndomains) {
            m->domains[m->ndomains++].near = near;
            ok = fill_near(&m->domains[i], m, type);
        }
        m->turns[r] = (struct turn){.domain = i, .number = m->domains[i].ranks++};
    }
    return ok;
}

/* Domains of the machine, which ranks take in turn. */
static bool find_domains(struct machine *m, const struct ct_jobdesc *d)
{
    hwloc_topology_t t = m->topology;
    hwloc_obj_type_t type = element_type(m, d), by;
    bool             whole = !map_type(d, &by);
    int              n = hwloc_get_nbobjs_by_type(t, by);
    m->domains = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *m->domains);
    if (m->domains == NULL) {
        return false;
    }
    if (whole) {
        m->ndomains = 1;
        return fill_domain(&m->domains[0], t, type, hwloc_topology_get_topology_cpuset(t));
    }
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(t, by, o)) != NULL;) {
        struct domain *dom = &m->domains[m->ndomains];
        if (!fill_domain(dom, t, type, o->cpuset)) {
            return false;
        }
        if (dom->n > 0) {
            m->ndomains++;
        } else {
            free(dom->elements); /* a node of memory alone */
            *dom = (struct domain){0};
        }
    }
    return true;
}

static void free_domains(struct machine *m)
{
    for (uint32_t i = 0; m->domains != NULL && i < m->ndomains; i++) {
        free(m->domains[i].elements);
    }
    free(m->domains);
    free(m->turns);
}

/* ---- cores that jobs hold -------------------------------------------------------------------- */

static unsigned first_cpu(hwloc_obj_t element)
{
    return (unsigned)hwloc_bitmap_first(element->cpuset);
}

/* Elements that jobs of other users claim go to the end of the domain, in their order. */
static void put_last(const struct ct_corelock *held, struct domain *dom)
{
    hwloc_obj_t *others = calloc((size_t)dom->n + 1, sizeof(hwloc_obj_t));
    uint32_t     nfree = 0, nothers = 0;
    for (uint32_t i = 0; others != NULL && i < dom->n; i++) {
        if (ct_corelock_is_others(held, first_cpu(dom->elements[i]))) {
            others[nothers++] = dom->elements[i];
        } else {
            dom->elements[nfree++] = dom->elements[i];
        }
    }
    for (uint32_t i = 0; i < nothers; i++) {
        dom->elements[nfree + i] = others[i];
    }
    free(others);
}

/* Elements that no job of this user holds come first in the domain, and are held. Returns how many
 * there are, at most `wanted`. */
static uint32_t take_free(struct ct_places *p, struct domain *dom, uint32_t wanted)
{
    uint32_t n = 0;
    put_last(&p->held, dom);
    for (uint32_t i = 0; i < dom->n && n < wanted; i++) {
        if (ct_corelock_hold(&p->held, first_cpu(dom->elements[i]))) {
            dom->elements[n++] = dom->elements[i];
        }
    }
    return n;
}

/* The cores that the ranks are bound to: jobs that have the choice shall keep off them. */
static void hold_used(struct ct_places *p, const struct machine *m, uint32_t n)
{
    hwloc_obj_type_t type = m->cores > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    hwloc_bitmap_t   used = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
    for (uint32_t i = 0; i < n; i++) {
        hwloc_cpuset_from_glibc_sched_affinity(m->topology, one, &p->sets[i], sizeof *p->sets);
        hwloc_bitmap_or(used, used, one);
    }
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(m->topology, type, o)) != NULL;) {
        if (hwloc_bitmap_intersects(o->cpuset, used)) {
            /* another job may have this core too: the user asked for it */
            (void)ct_corelock_hold(&p->held, first_cpu(o));
        }
    }
    hwloc_bitmap_free(used);
    hwloc_bitmap_free(one);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Widens a rank's elements to the unit of binding. */
static void places_widen(const struct machine *m, enum ct_bind bind, hwloc_obj_t element,
                         hwloc_bitmap_t out)
{
    hwloc_obj_t      o;
    hwloc_obj_type_t type;
    bool             wide = bind_type(bind, &type);
    if (bind == CT_BIND_HWTHREAD && element->type != HWLOC_OBJ_PU) {
        hwloc_bitmap_set(out, (unsigned)hwloc_bitmap_first(element->cpuset));
        return;
    }
    hwloc_bitmap_or(out, out, element->cpuset);
    o = bind == CT_BIND_CORE ? hwloc_get_ancestor_obj_by_type(m->topology, HWLOC_OBJ_CORE, element)
                             : NULL;
    if (o != NULL) {
        hwloc_bitmap_or(out, out, o->cpuset);
    }
    for (o = NULL; wide && (o = hwloc_get_next_obj_by_type(m->topology, type, o)) != NULL;) {
        if (hwloc_bitmap_intersects(o->cpuset, element->cpuset)) {
            hwloc_bitmap_or(out, out, o->cpuset);
        }
    }
}

/* The unit of binding without --bind-to: elements; or with --map-by numa, package or l3cache and no
 * number of elements, the whole object. */
static enum ct_bind bind_unit(const struct ct_jobdesc *d)
{
    if (d->bind != CT_BIND_DEFAULT) {
        return d->bind;
    }
    return d->map == CT_MAP_HWTHREAD  ? CT_BIND_HWTHREAD
           : d->pe > 0                ? CT_BIND_CORE
           : d->map == CT_MAP_NUMA    ? CT_BIND_NUMA
           : d->map == CT_MAP_PACKAGE ? CT_BIND_PACKAGE
           : d->map == CT_MAP_L3CACHE ? CT_BIND_L3CACHE
                                      : CT_BIND_CORE;
}

static void places_place(struct ct_places *p, const struct machine *m, const struct ct_jobdesc *d,
                         uint32_t rank)
{
    uint32_t             pe = d->pe > 0 ? d->pe : 1;
    const struct turn   *turn = &m->turns[rank];
    const struct domain *dom = &m->domains[turn->domain];
    uint32_t             first = turn->number % (dom->n / pe) * pe, end = first + pe;
    hwloc_bitmap_t       set = hwloc_bitmap_alloc();
    if (d->pe == 0 && dom->ranks > 0 && dom->ranks <= dom->n) { /* an even share of all */
        first = (uint32_t)((uint64_t)turn->number * dom->n / dom->ranks);
        end = (uint32_t)((turn->number + (uint64_t)1) * dom->n / dom->ranks);
    }
    for (uint32_t i = first; i < end; i++) {
        places_widen(m, bind_unit(d), dom->elements[i], set);
    }
    hwloc_cpuset_to_glibc_sched_affinity(m->topology, set, &p->sets[rank], sizeof *p->sets);
    hwloc_bitmap_free(set);
}

static const char *element_word(const struct machine *m, const struct ct_jobdesc *d)
{
    return element_type(m, d) == HWLOC_OBJ_PU ? "hardware threads" : "cores";
}

static const char *domain_word(const struct ct_jobdesc *d, const struct domain *dom)
{
    return dom->near != NULL          ? "the NUMA node of a GPU"
           : d->map == CT_MAP_NUMA    ? "a NUMA node"
           : d->map == CT_MAP_PACKAGE ? "a package"
           : d->map == CT_MAP_L3CACHE ? "an L3 cache"
                                      : "this machine";
}

/* Whether every domain has as many elements as one rank wants. */
static int check_order(const struct machine *m, const struct ct_jobdesc *d, char *why, size_t cap)
{
    for (uint32_t i = 0; i < m->ndomains; i++) {
        const struct domain *dom = &m->domains[i];
        if (dom->n < (d->pe > 0 ? d->pe : 1)) {
            snprintf(why, cap,
                     "--map-by asks for %u %s a rank, and %s has only %u that may be used; "
                     "ask for fewer",
                     d->pe, element_word(m, d), domain_word(d, dom), dom->n);
            return CT_EXIT_USAGE;
        }
    }
    return 0;
}

/* A warning if the ranks of a domain want more elements than it has. */
static void note_overload(struct ct_places *p, const struct machine *m, const struct ct_jobdesc *d,
                          uint32_t n)
{
    for (uint32_t i = 0; i < m->ndomains && p->warning[0] == '\0'; i++) {
        const struct domain *dom = &m->domains[i];
        uint64_t             ranks = 0;
        for (uint32_t r = 0; r < n; r++) {
            ranks += m->turns[r].domain == i;
        }
        uint64_t wanted = ranks * (d->pe > 0 ? d->pe : 1);
        if (wanted > dom->n) {
            snprintf(
                p->warning, sizeof p->warning,
                "warning: %" PRIu64 " ranks want %" PRIu64 " %s and %s has %u, so that several "
                "ranks share one; start fewer ranks, use --bind-to none, or --oversubscribe to "
                "have no warning",
                ranks, wanted, element_word(m, d), domain_word(d, dom), dom->n);
        }
    }
}

/* Whether no option decides about the places. */
static bool is_free_choice(const struct ct_jobdesc *d)
{
    return d->bind == CT_BIND_DEFAULT && d->map == CT_MAP_DEFAULT && d->gpus == 0;
}

/* Cores of their own for all ranks, or none is bound. Returns whether they have them. */
static bool choose_default(struct ct_places *p, struct machine *m, uint32_t n)
{
    struct domain *all = &m->domains[0];
    if (!hwloc_topology_is_thissystem(m->topology)) {
        snprintf(p->why, sizeof p->why,
                 "hwloc describes another machine (HWLOC_SYNTHETIC, _XMLFILE)");
        return false;
    }
    if (n > all->n) {
        snprintf(p->why, sizeof p->why, "there are %u ranks and %u cores", n, all->n);
        return false;
    }
    uint32_t mine = take_free(p, all, n);
    if (mine < n) {
        snprintf(p->why, sizeof p->why, "other jobs of yours have %u of the %u cores",
                 all->n - mine, all->n);
        ct_corelock_let_go(&p->held);
    }
    return mine == n;
}

/* Finds the places on the machine m. */
static int find_places(struct ct_places *p, struct machine *m, const struct ct_jobdesc *d,
                       uint32_t n, const struct ct_gpus *gpus, char *why, size_t cap)
{
    hwloc_obj_type_t wide;
    int              unknown = check_types(m, d, why, cap);
    if (unknown != 0) {
        return unknown;
    }
    m->cores = (uint32_t)hwloc_get_nbobjs_by_type(m->topology, HWLOC_OBJ_CORE);
    p->sets = calloc(n, sizeof *p->sets);
    m->turns = calloc(n, sizeof *m->turns);
    if (p->sets == NULL || m->turns == NULL ||
        !(gpus != NULL ? find_gpu_domains(m, element_type(m, d), n, gpus) : find_domains(m, d))) {
        snprintf(why, cap, "cannot place the ranks: out of memory");
        return CT_EXIT_INTERNAL;
    }
    for (uint32_t i = 0; gpus == NULL && m->ndomains > 0 && i < n; i++) {
        m->turns[i] = (struct turn){.domain = i % m->ndomains, .number = i / m->ndomains};
    }
    if (is_free_choice(d) && !choose_default(p, m, n)) {
        free(p->sets);
        p->sets = NULL;
        return 0;
    }
    int status = check_order(m, d, why, cap);
    if (status == 0 && !d->oversubscribe) {
        note_overload(p, m, d, n);
    }
    for (uint32_t i = 0; status == 0 && i < n; i++) {
        places_place(p, m, d, i);
    }
    if (status == 0 && !is_free_choice(d) && !bind_type(bind_unit(d), &wide) &&
        hwloc_topology_is_thissystem(m->topology)) {
        hold_used(p, m, n);
    }
    return status;
}

int ct_places_init(struct ct_places *p, const struct ct_jobdesc *d, uint32_t n,
                   const struct ct_gpus *gpus, char *why, size_t cap)
{
    *p = (struct ct_places){.held.fd = -1};
    /* Ranks and libpmix read that file, too. */
    if (ct_trial_is_due() && ct_trial(try_load, (void *)(uintptr_t)d) == CT_TRIAL_ENDED) {
        snprintf(why, cap,
                 "hwloc crashes when it reads the file that HWLOC_XMLFILE names (%.200s);"
                 " write the file with lstopo, or unset the variable",
                 getenv("HWLOC_XMLFILE"));
        return CT_EXIT_USAGE;
    }
    if (!places_load(&p->topology, d)) {
        p->topology = NULL;
        snprintf(p->why, sizeof p->why, "hwloc cannot tell what this machine is like");
        return 0;
    }
    if (d->bind == CT_BIND_NONE) {
        return 0;
    }
    if (hwloc_topology_is_thissystem(p->topology)) {
        ct_corelock_open(&p->held, "/dev/shm");
    }
    struct machine m = {.topology = p->topology};
    int            status = find_places(p, &m, d, n, gpus, why, cap);
    free_domains(&m);
    return status;
}

void ct_places_let_go(struct ct_places *p)
{
    if (p->topology != NULL) {
        ct_corelock_close(&p->held);
    }
}

const char *ct_places_warning(const struct ct_places *p)
{
    return p->held.why[0] != '\0' ? p->held.why : NULL;
}

void ct_places_fini(struct ct_places *p)
{
    ct_places_let_go(p);
    free(p->sets);
    if (p->topology != NULL) {
        hwloc_topology_destroy(p->topology);
    }
    *p = (struct ct_places){.held.fd = -1};
}

const cpu_set_t *ct_places_of(const struct ct_places *p, uint32_t local_rank)
{
    return p->sets != NULL ? &p->sets[local_rank] : NULL;
}
