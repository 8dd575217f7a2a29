/* SPDX-License-Identifier: BSD-3-Clause */
/* forced - see forced.h. */
#include "forced.h"

#include "api/api.h"
#include "coll/coll.h"

static const struct ct_algo *forced;

bool forced_wants(const char *collective)
{
    const char *only = forced != NULL ? ct_algo_coll_name(forced->colls) : getenv("CT_COLL");
    return only == NULL || strcmp(only, collective) == 0;
}

/* Where it can serve comm's ranks, it is what runs there. */
static void expect_in_force(ctran_comm_t handle)
{
    struct ct_comm  *comm;
    struct ct_choice choice;
    int              rc;
    OK(ct_check_comm("forced_on", handle, &comm));
    const struct ct_chooser *c = ct_coll_chooser(comm, &rc);
    OK(rc);
    const struct ct_select what = {.coll = forced->colls, .bytes = 1};
    const struct ct_pick   pick = {.algo = forced, .radix = CT_RADIX_DEFAULT};
    const struct ct_shape  shape = {.n = comm->run.n, .levels = comm->run.levels};
    EXPECT(ct_chooser_pick(comm->p, c, &what, &choice));
    EXPECT(choice.pick->algo == forced || !ct_pick_fits(&pick, &shape, &what));
}

void forced_on(ctran_comm_t comm)
{
    char         list[128];
    ctran_info_t info;
    if (forced == NULL) {
        return;
    }
    (void)snprintf(list, sizeof list, "%s:%s", ct_algo_coll_name(forced->colls), forced->name);
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "ctran_coll_algorithm", list));
    OK(ctran_comm_set_info(comm, info));
    OK(ctran_info_free(&info));
    expect_in_force(comm);
}

void forced_each(void (*run)(void))
{
    const char *collective = getenv("CT_FORCED");
    if (collective == NULL) {
        run();
        return;
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* from now on levels are known */
    const struct ct_env env = {.n = (uint32_t)check_size,
                               .radix = CT_RADIX_DEFAULT,
                               .levels = ct_comm_world(ct_api_process())->run.levels};
    int                 ran = 0;
    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL; a++) {
        const char *name = ct_algo_coll_name((*a)->colls);
        const bool  asked = strcmp(collective, "all") == 0 || strcmp(name, collective) == 0;
        if (asked && (*a)->fits(&env)) {
            forced = *a;
            if (check_rank == 0) {
                printf("%s:%s\n", name, forced->name);
                fflush(stdout);
            }
            run();
            ran++;
        }
    }
    forced = NULL;
    EXPECT(ran > 0);
}
