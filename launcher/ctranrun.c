/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctranrun - starts the ranks of a job. This file goes from the command line to a job description;
 * head/run.c does the rest. Every fault of the request is found here, before a process starts.
 */
#include "config.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/cli/cli.h"
#include "launcher/head/head.h"
#include "launcher/hosts/hosts.h"
#include "launcher/io/io.h"
#include "launcher/job/job.h"
#include "launcher/launcher.h"
#include "launcher/place/place.h"
#include "launcher/proc/proc.h"
#include "launcher/status/status.h"

/* The debugger's file takes the place of its name. */
static int find_debugger(struct ct_jobdesc *d)
{
    char file[PATH_MAX];
    if (d->debugger == NULL) {
        return 0;
    }
    const char *path = getenv("PATH");
    int         status =
        ct_program_find(d->debugger[0], path != NULL ? path : "/usr/local/bin:/bin:/usr/bin", "",
                        file, sizeof file);
    if (status == 0) {
        free(d->debugger[0]);
        d->debugger[0] = strdup(file);
    }
    return status;
}

/* A single rank under a debugger gets a terminal if this process has one to share. */
static void choose_terminal(struct ct_options *o)
{
    struct ct_jobdesc *d = &o->desc;
    d->debug_terminal = d->debugger != NULL && !o->stdin_given && !d->output_hidden &&
                        ct_ranklist_count(d->debug_ranks, ct_jobdesc_ranks(d)) == 1 &&
                        ct_terminal_is_ours();
    if (d->debug_terminal) {
        ct_terminal_size(&d->rows, &d->columns);
    }
}

/* NAME=VALUE for all ranks. */
static bool add_env(struct ct_jobdesc *d, const char *name, const char *value)
{
    char *setting;
    bool  ok = asprintf(&setting, "%s=%s", name, value) >= 0 && ct_strlist_add(&d->env, setting);
    free(setting);
    return ok;
}

/* The settings of --set come after those of a ctranrun that started this one, and so override
 * them. */
static bool add_launcher_env(struct ct_options *o)
{
    const char *above = getenv(CT_ENV_SET);
    char       *all;
    bool        ok = add_env(&o->desc, CT_ENV_JOB, o->desc.job);
    /* A person at a debugger takes longer than a rank that starts by itself. */
    if (ok && o->desc.debugger != NULL && getenv(CT_ENV_BOOTSTRAP_TIMEOUT) == NULL) {
        ok = add_env(&o->desc, CT_ENV_BOOTSTRAP_TIMEOUT, "86400s");
    }
    if (ok && o->set != NULL) {
        ok = asprintf(&all, "%s%s%s", above != NULL ? above : "", above != NULL ? "\n" : "",
                      o->set) >= 0;
        /* for the ranks; and for this process and its daemon, which remove the ranks' files */
        ok = ok && add_env(&o->desc, CT_ENV_SET, all) && setenv(CT_ENV_SET, all, 1) == 0;
        free(all);
    }
    return ok;
}

static bool name_job(struct ct_jobdesc *d)
{
    char job[16];
    ct_job_make_id(job, sizeof job);
    d->job = strdup(job);
    return d->job != NULL;
}

static int ctranrun_run(struct ct_options *o, const char *daemon)
{
    if (!name_job(&o->desc) || !add_launcher_env(o) || !ct_layout_ways(o, daemon)) {
        fprintf(stderr, "ctranrun: out of memory\n");
        return CT_EXIT_INTERNAL;
    }
    if (o->dry_run) {
        return ct_plan_exec(&o->desc, o->local, daemon);
    }
    choose_terminal(o);
    return ct_head_run(&(struct ct_head_args){.desc = &o->desc,
                                              .daemon = daemon,
                                              .local = o->local,
                                              .timeout_ms = o->timeout_ms,
                                              .launch_timeout_ms = o->launch_timeout_ms,
                                              .tag_output = o->tag_output});
}

/* A job is to be started: everything about the request is checked first. */
static int check_and_run(struct ct_options *o)
{
    char daemon[PATH_MAX];
    if (!ct_layout_nodes(o) || !ct_options_check(o)) {
        return CT_EXIT_USAGE;
    }
    int status = ct_program_find_all(&o->desc);
    status = status == 0 ? find_debugger(&o->desc) : status;
    if (status == 0) {
        status = ct_program_find_daemon(daemon, sizeof daemon);
    }
    return status == 0 ? ctranrun_run(o, daemon) : status;
}

static int ctranrun_do_action(struct ct_options *o)
{
    switch (o->action) {
    case CT_ACTION_HELP:
        ct_options_print_help();
        return 0;
    case CT_ACTION_VERSION:
        printf("ctranrun %s\n", PACKAGE_VERSION);
        return 0;
    case CT_ACTION_COMPLETION:
        ct_completion_print(o->word);
        return 0;
    case CT_ACTION_STATUS:
        return ct_status_run(o->word);
    case CT_ACTION_ANALYZE:
        return ct_analyze_run(o->word);
    case CT_ACTION_TRACE_DUMP:
        return ct_trace_dump_run(o->word);
    case CT_ACTION_STORE_DUMP:
        return ct_store_dump_run(o->word);
    default:
        return check_and_run(o);
    }
}

int main(int argc, char **argv)
{
    struct ct_options o;
    ct_stdfd_fill();
    int status = ct_options_parse(&o, argc, argv) ? ctranrun_do_action(&o) : CT_EXIT_USAGE;
    ct_options_fini(&o);
    return status;
}
