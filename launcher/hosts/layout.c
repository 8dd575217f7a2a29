/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes and the ways to them; see layout.h. Used by ctranrun.c. */
#include "config.h"
#include "launcher/hosts/layout.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/cli/cli.h"
#include "launcher/hosts/list.h"
#include "launcher/hosts/order.h"
#include "launcher/job/job.h"
#include "launcher/launcher.h"

extern char **environ;

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Finds the hosts: on the command line, else in the environment of a batch system. */
static bool find_hosts(const struct ct_options *o, struct ct_hosts *h)
{
    char why[2048];
    if (o->host_list != NULL) {
        return ct_hosts_add_list(h, o->host_list, why, sizeof why) ||
               ct_options_complain("-H: %s", why);
    }
    if (o->hostfile != NULL) {
        return ct_hosts_add_file(h, o->hostfile, why, sizeof why) ||
               ct_options_complain("--hostfile: %s", why);
    }
    return ct_hosts_add_slurm(h, why, sizeof why) || ct_options_complain("%s", why);
}

/* No hosts: all ranks are on this machine. */
static bool all_here(struct ct_options *o)
{
    char own[256] = "localhost";
    gethostname(own, sizeof own - 1);
    o->desc.nodes = calloc(1, sizeof *o->desc.nodes);
    if (o->desc.nodes == NULL) {
        return ct_options_complain("out of memory");
    }
    if (o->ppn > 0 && o->ranks_given && ct_jobdesc_ranks(&o->desc) > o->ppn) {
        return ct_options_complain("%u ranks do not fit on this machine with --ppn %u; name hosts "
                                   "with -H",
                                   ct_jobdesc_ranks(&o->desc), o->ppn);
    }
    if (o->ppn > 0 && !o->ranks_given) {
        o->desc.apps[0].ranks = o->ppn;
    }
    o->desc.nodes[0] = (struct ct_node){.host = strdup(own), .ranks = ct_jobdesc_ranks(&o->desc)};
    o->desc.nnodes = 1;
    o->local = 0;
    return o->desc.nodes[0].host != NULL || ct_options_complain("out of memory");
}

/* Without -n the job fills its hosts. */
static bool choose_ranks(struct ct_options *o, const struct ct_hosts *h)
{
    uint64_t all = o->ppn > 0 ? (uint64_t)o->ppn * h->n : ct_hosts_slots(h);
    o->desc.slots = (uint32_t)(all < INT32_MAX ? all : INT32_MAX);
    if (!o->ranks_given && o->desc.napps == 1) {
        if (all > CT_MAX_RANKS) {
            return ct_options_complain("the hosts take %" PRIu64
                                       " ranks, at most %d can be started; "
                                       "give the number with -n",
                                       all, CT_MAX_RANKS);
        }
        o->desc.apps[0].ranks = (uint32_t)all;
    }
    return true;
}

/* One node for each host that has ranks. */
static bool make_nodes(struct ct_options *o, const struct ct_hosts *h, const uint32_t *counts)
{
    struct ct_jobdesc *d = &o->desc;
    d->nodes = calloc(h->n, sizeof *d->nodes);
    for (uint32_t i = 0; d->nodes != NULL && i < h->n; i++) {
        if (counts[i] == 0) {
            continue;
        }
        char *host = strdup(h->all[i].name);
        if (host == NULL) {
            return false;
        }
        if (o->local == CT_NO_NODE && h->all[i].here) {
            o->local = d->nnodes;
        }
        d->nodes[d->nnodes++] = (struct ct_node){.host = host, .ranks = counts[i]};
    }
    return d->nodes != NULL;
}

static bool layout_place(struct ct_options *o, const struct ct_hosts *h)
{
    char      why[512];
    bool      in_turn = o->desc.map == CT_MAP_NODE;
    uint32_t *counts = calloc(h->n, sizeof *counts);
    bool      ok = counts != NULL && choose_ranks(o, h);
    if (ok &&
        !ct_hosts_place(h, ct_jobdesc_ranks(&o->desc), o->ppn, in_turn, counts, why, sizeof why)) {
        ok = ct_options_complain("%s", why);
    } else if (ok && !make_nodes(o, h, counts)) {
        ok = ct_options_complain("out of memory");
    }
    o->desc.ranks_in_turn = in_turn;
    free(counts);
    return ok;
}

bool ct_layout_nodes(struct ct_options *o)
{
    struct ct_hosts h = {0};
    o->local = CT_NO_NODE;
    bool ok = find_hosts(o, &h) && ct_hosts_order(o, &h);
    o->from_slurm = ok && h.n > 0 && h.soft;
    h.over = o->desc.oversubscribe;
    if (ok && ct_jobdesc_ranks(&o->desc) <= CT_MAX_RANKS) {
        ok = h.n == 0 ? all_here(o) : layout_place(o, &h);
    } else if (ok) {
        ok = ct_options_complain("the programs have %u ranks together, at most %d can be started",
                                 ct_jobdesc_ranks(&o->desc), CT_MAX_RANKS);
    }
    ct_hosts_fini(&h);
    if (ok && o->desc.nnodes > 1 && !CT_HAVE_SODIUM) {
        return ct_options_complain(
            "jobs of several hosts are refused: this ctran was built without "
            "libsodium, by which their processes prove that they belong to "
            "the job; install it (Debian: libsodium-dev) and build anew");
    }
    return ok && (ct_jobdesc_map(&o->desc) || ct_options_complain("out of memory"));
}

/* ---- the ways there -------------------------------------------------------------------------- */

/* Whether a variable belongs to a host, to this process, or to a launcher above this one. */
static bool stays_here(const char *setting)
{
    static const char *const names[] = {"TMPDIR=",
                                        "HOME=",
                                        "USER=",
                                        "LOGNAME=",
                                        "SHELL=",
                                        "MAIL=",
                                        "HOSTNAME=",
                                        "PWD=",
                                        "OLDPWD=",
                                        "SHLVL=",
                                        "_=",
                                        "XDG_RUNTIME_DIR=",
                                        "XDG_SESSION_ID=",
                                        "DBUS_SESSION_BUS_ADDRESS="};
    static const char *const beginnings[] = {"SSH_", "SLURM", "SRUN_", "BASH_FUNC_"};
    for (size_t i = 0; i < CT_ARRAY_LEN(names); i++) {
        if (strncmp(setting, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(beginnings); i++) {
        if (strncmp(setting, beginnings[i], strlen(beginnings[i])) == 0) {
            return true;
        }
    }
    return strncmp(setting, "PMIX_", 5) == 0 && strncmp(setting, "PMIX_MCA_", 9) != 0;
}

/* Variables by which Slurm gives each node its GPUs. */
static bool is_slurms(const char *setting)
{
    static const char *const names[] = {"CUDA_VISIBLE_DEVICES=", "GPU_DEVICE_ORDINAL=",
                                        "ROCR_VISIBLE_DEVICES=", "ZE_AFFINITY_MASK="};
    bool                     found = false;
    for (size_t i = 0; i < CT_ARRAY_LEN(names); i++) {
        found |= strncmp(setting, names[i], strlen(names[i])) == 0;
    }
    return found;
}

static bool choose_environment(struct ct_jobdesc *d, bool from_slurm)
{
    for (char **s = environ; *s != NULL; s++) {
        if (!stays_here(*s) && !(from_slurm && is_slurms(*s)) && strchr(*s, '=') != NULL &&
            !ct_strlist_add(&d->forward, *s)) {
            return false;
        }
    }
    return true;
}

static bool layout_add_words(char ***list, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (!ct_strlist_add(list, *words)) {
            return false;
        }
    }
    return true;
}

/* ssh must not ask anybody, and has to notice that a host is gone. */
static bool use_ssh(struct ct_jobdesc *d)
{
    static const char *const words[] = {
        "ssh", "-x", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", NULL};
    d->agent_shell = true;
    return layout_add_words(&d->agent, words);
}

/* A step of its own for each daemon, beside whatever else runs in the allocation: it takes nothing
 * from it (--overlap), binds nothing, and is no PMI job of Slurm's. */
static bool use_srun(struct ct_jobdesc *d)
{
    static const char *const words[] = {"--overlap",   "--nodes=1",    "--ntasks=1",
                                        "--mpi=none",  "--quiet",      "--cpu-bind=none",
                                        "--input=all", "--export=ALL", "--kill-on-bad-exit=0",
                                        "--wait=0",    "-w",           NULL};
    char                     job[64];
    snprintf(job, sizeof job, "--jobid=%.32s", getenv("SLURM_JOB_ID"));
    d->agent_shell = false;
    return ct_strlist_add(&d->agent, "srun") && ct_strlist_add(&d->agent, job) &&
           layout_add_words(&d->agent, words);
}

static bool make_secrets(struct ct_jobdesc *d)
{
    d->key = ct_job_make_key();
    d->nspace = ct_job_make_name(d->job);
    return d->key != NULL && d->nspace != NULL;
}

bool ct_layout_ways(struct ct_options *o, const char *daemon)
{
    struct ct_jobdesc *d = &o->desc;
    char               here[PATH_MAX] = "";
    d->daemon = strdup(daemon);
    d->fan_out = o->fan_out > 0 ? o->fan_out : CT_FAN_OUT;
    bool ok = make_secrets(d) && d->daemon != NULL;
    if (d->nnodes == 1 && o->local == 0) {
        d->cwd = strdup("");
        return ok && d->cwd != NULL;
    }
    d->cwd = strdup(getcwd(here, sizeof here) != NULL ? here : "");
    ok = ok && d->cwd != NULL && choose_environment(d, o->from_slurm);
    if (ok && d->agent != NULL) {
        const char *slash = strrchr(d->agent[0], '/');
        d->agent_shell = strcmp(slash != NULL ? slash + 1 : d->agent[0], "srun") != 0;
        return true;
    }
    return ok && (o->from_slurm ? use_srun(d) : use_ssh(d));
}
