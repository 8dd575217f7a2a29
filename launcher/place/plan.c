/* SPDX-License-Identifier: BSD-3-Clause */
/* Places of a node's ranks, and the plan of a job; see plan.h. Used by ctrand.c, daemon/start.c. */
#include "config.h"
#include "launcher/place/plan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/launcher.h"
#include "launcher/place/gpuread.h"
#include "launcher/place/limits.h"

int ct_plan_places(struct ct_places *places, struct ct_gpus *gpus, const struct ct_jobdesc *d,
                   char *why, size_t cap)
{
    uint32_t n = d->nodes[d->me].ranks;
    bool     lead = ct_jobdesc_gpus_lead(d); /* the GPUs come first, and CPUs near them */
    int      status = lead ? ct_gpus_read(gpus, d, n, NULL, why, cap) : 0;
    if (status == 0) {
        status = ct_places_init(places, d, n, lead ? gpus : NULL, why, cap);
    }
    if (status == 0 && !lead && ct_jobdesc_wants_gpus(d)) {
        status = ct_gpus_read(gpus, d, n, places->sets, why, cap);
    }
    return status;
}

void ct_plan_describe(const struct ct_places *places, const struct ct_gpus *gpus,
                      uint32_t local_rank, char *out, size_t cap)
{
    ct_places_describe(places, local_rank, out, cap);
    size_t len = strlen(out);
    ct_gpus_describe(gpus, local_rank, out + len, cap - len);
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* Prints a rank, its host, its place and its command, and below these what is added to its
 * environment. */
static bool plan_print_rank(const struct ct_jobdesc *d, uint32_t rank, const char *place)
{
    const struct ct_app *app = &d->apps[ct_jobdesc_app_of(d, rank)];
    char               **env = ct_jobdesc_env(d, rank), **command = ct_jobdesc_command(d, rank);
    bool                 ok = env != NULL && command != NULL;
    if (ok) {
        printf("rank %u on host %s, %s:", rank, d->nodes[d->ranks.node_of[rank]].host, place);
        for (char **a = command; *a != NULL; a++) {
            printf(" %s", *a);
        }
        printf("\n    program %s\n", app->path);
        if (app->wdir[0] != '\0') {
            printf("    directory %s\n", app->wdir);
        }
        for (char **s = env; *s != NULL; s++) {
            printf("    environment %s\n", *s);
        }
    }
    ct_strlist_free(command);
    ct_strlist_free(env);
    return ok;
}

static void plan_warn(const struct ct_jobdesc *d, const char *text)
{
    bool named = d->nnodes > 1;
    fprintf(stderr, "ctranrun: job %s: %s%s%s%s\n", d->job, named ? "host " : "",
            named ? d->nodes[d->me].host : "", named ? ": " : "", text);
}

/* The places on this machine. Returns 0, or an exit status after a message. */
static int plan_here(const struct ct_jobdesc *d, struct ct_places *places, struct ct_gpus *gpus)
{
    char why[PATH_MAX + 1024] = "";
    int  status = ct_limits_check(d, why, sizeof why);
    if (status == 0 && why[0] != '\0') {
        plan_warn(d, why);
    }
    if (status == 0) {
        status = ct_plan_places(places, gpus, d, why, sizeof why);
    }
    if (status != 0) {
        plan_warn(d, why);
    } else if (places->warning[0] != '\0') {
        plan_warn(d, places->warning);
    }
    return status;
}

static int print_plan(const struct ct_jobdesc *d, bool here)
{
    struct ct_places places = {0};
    struct ct_gpus   gpus = {0};
    bool             ok = true;
    int              status = here ? plan_here(d, &places, &gpus) : 0;
    for (uint32_t r = 0; status == 0 && ok && r < ct_jobdesc_ranks(d); r++) {
        char place[3072] = "place chosen there";
        if (here && d->ranks.node_of[r] == d->me) {
            ct_plan_describe(&places, &gpus, d->ranks.local_of[r], place, sizeof place);
        }
        ok = plan_print_rank(d, r, place);
    }
    if (!ok) {
        plan_warn(d, "cannot make the plan of the job: out of memory");
    } else if (fflush(stdout) != 0) {
        fprintf(stderr, "ctranrun: job %s: cannot write standard output: %s\n", d->job,
                strerror(errno));
        ok = false;
    }
    ct_places_fini(&places);
    ct_gpus_fini(&gpus);
    return ok ? status : CT_EXIT_INTERNAL;
}

int ct_plan_run(const char *local)
{
    struct ct_jobdesc d = {0};
    struct stat       st;
    int               status = CT_EXIT_INTERNAL;
    void             *text = MAP_FAILED;
    if (fstat(CT_DAEMON_FD, &st) == 0 && st.st_size > 0) {
        text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, CT_DAEMON_FD, 0);
    }
    if (text == MAP_FAILED) {
        fprintf(stderr, CT_DAEMON_NAME ": is started by ctranrun, not by hand\n");
        return CT_EXIT_USAGE;
    }
    struct ct_unpack in = {.at = text, .left = (size_t)st.st_size};
    ct_jobdesc_unpack(&d, &in);
    if (!in.bad) {
        status = print_plan(&d, strcmp(local, "none") != 0);
    } else {
        fprintf(stderr, CT_DAEMON_NAME ": the description of the job makes no sense\n");
    }
    ct_jobdesc_fini(&d);
    munmap(text, (size_t)st.st_size);
    return status;
}
