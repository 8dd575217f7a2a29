/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms that the command line names, each with its radix. Names and radices are read by
 * the library's own parser (coll/pick.c), collective by collective. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

bool sim_is_named(const char *list, const char *name)
{
    size_t len = strlen(name);
    if (strcmp(list, "all") == 0) {
        return true;
    }
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += len) {
        if ((at == list || at[-1] == ',') && (at[len] == ',' || at[len] == '\0')) {
            return true;
        }
    }
    return false;
}

/* One that is there already is not there twice. */
static int add(struct sim_picks *p, const struct ct_pick *pick)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->pick[i].algo == pick->algo && p->pick[i].radix == pick->radix) {
            return CTRAN_SUCCESS;
        }
    }
    struct ct_pick *more = realloc(p->pick, (p->n + 1) * sizeof *more);
    if (more == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    p->pick = more;
    p->pick[p->n++] = *pick;
    return CTRAN_SUCCESS;
}

/* The item of the list at *list, which goes on to the next or becomes NULL. */
static void next_item(const char **list, char *item, size_t cap)
{
    const size_t len = strcspn(*list, ",");
    (void)snprintf(item, cap, "%.*s", (int)ct_min_size(len, cap - 1), *list);
    *list = (*list)[len] == ',' ? *list + len + 1 : NULL;
}

static bool is_of(const char *item, const struct ct_algo *algo)
{
    const size_t len = strcspn(item, ":");
    return strlen(algo->name) == len && strncmp(item, algo->name, len) == 0;
}

/* All that a list names of one algorithm of the table. */
static int add_named(struct sim_picks *p, const struct ct_algo *algo, const char *list, char *why,
                     size_t cap)
{
    char           item[128];
    struct ct_pick pick = {.algo = algo, .radix = CT_RADIX_DEFAULT};
    int            rc = strcmp(list, "all") == 0 ? add(p, &pick) : CTRAN_SUCCESS;
    while (rc == CTRAN_SUCCESS && list != NULL) {
        next_item(&list, item, sizeof item);
        if (!is_of(item, algo)) {
            continue;
        }
        rc = ct_pick_parse(algo->colls, item, &pick, why, cap) ? add(p, &pick) : CTRAN_ERR_ARG;
    }
    return rc;
}

/* Whether each item of a list is an algorithm of one of the collectives; else `why` has it. */
static bool are_known(const char *colls, const char *list, char *why, size_t cap)
{
    char item[128];
    bool found = true;
    while (found && list != NULL) {
        const bool whole = strcspn(list, ",") < sizeof item;
        found = false;
        next_item(&list, item, sizeof item);
        for (const struct ct_algo *const *a = ct_algo_table; whole && *a != NULL && !found; a++) {
            found = is_of(item, *a) && sim_is_named(colls, ct_algo_coll_name((*a)->colls));
        }
    }
    if (!found) {
        (void)snprintf(why, cap,
                       "these collectives have no such algorithm (ctran_info lists them): %.64s",
                       item);
    }
    return found;
}

int sim_picks_read(struct sim_picks *p, const char *colls, const char *algos, char *why, size_t cap)
{
    int rc = CTRAN_SUCCESS;
    (void)snprintf(why, cap, "no memory");
    if (strcmp(algos, "all") != 0 && !are_known(colls, algos, why, cap)) {
        return CTRAN_ERR_ARG;
    }
    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL && rc == CTRAN_SUCCESS; a++) {
        if (sim_is_named(colls, ct_algo_coll_name((*a)->colls))) {
            rc = add_named(p, *a, algos, why, cap);
        }
    }
    return rc;
}

static bool fits_with(const struct ct_pick *pick, const struct sim_case *c, uint32_t radix)
{
    const struct ct_env env = {
        .n = c->n, .root = c->root, .radix = radix, .ordered = c->ordered, .levels = c->levels};
    return pick->algo->fits(&env);
}

bool sim_pick_fits(const struct ct_pick *pick, const struct sim_case *c)
{
    return fits_with(pick, c, pick->radix);
}

uint32_t sim_pick_most(const struct ct_pick *pick, const struct sim_case *c)
{
    uint32_t radix = pick->radix;
    while (radix >= CT_RADIX_DEFAULT && !fits_with(pick, c, radix)) {
        radix--;
    }
    return radix >= CT_RADIX_DEFAULT ? radix : 0;
}

void sim_case_name(const struct sim_case *c, char *out, size_t cap)
{
    if (c->radix == CT_RADIX_DEFAULT) {
        (void)snprintf(out, cap, "%s", c->algo->name);
    } else {
        (void)snprintf(out, cap, "%s:%u", c->algo->name, c->radix);
    }
}

void sim_case_radix(const struct sim_case *c, char *out, size_t cap)
{
    if ((c->algo->traits & CT_RADIX) == 0) {
        (void)snprintf(out, cap, "null");
    } else {
        (void)snprintf(out, cap, "%u", c->radix);
    }
}
