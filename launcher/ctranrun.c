/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctranrun - starts the ranks of a job. From the command line to a job description; the rest is
 * head.c. Everything that can be wrong with the request is found here, before a process starts.
 */
#include "config.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "head.h"
#include "jobdesc.h"
#include "launcher.h"
#include "options.h"
#include "program.h"
#include "session.h"

/* A closed standard stream would give its number to the next descriptor we open. */
static void open_missing_stdio(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
        }
    }
}

/* The PATH that the ranks will have. */
static const char *ranks_path(const struct ct_options *o)
{
    const char *path = getenv("PATH");
    for (uint32_t i = 0; i < o->nenv; i++) {
        if (strncmp(o->env[i], "PATH=", 5) == 0) {
            path = o->env[i] + 5;
        }
    }
    return path != NULL ? path : "/usr/local/bin:/bin:/usr/bin";
}

/* The settings of --set come after those of a ctranrun that started us, and so override them. */
static bool add_launcher_env(struct ct_options *o, const char *job)
{
    const char *above = getenv(CT_ENV_SET);
    char       *all;
    bool        ok = ct_options_add_env(o, CT_ENV_JOB, job);
    if (ok && o->set != NULL) {
        ok = asprintf(&all, "%s%s%s", above != NULL ? above : "", above != NULL ? "\n" : "",
                      o->set) >= 0;
        /* For the ranks; and for ourselves and our daemon, who clean up where they put files. */
        ok = ok && ct_options_add_env(o, CT_ENV_SET, all) && setenv(CT_ENV_SET, all, 1) == 0;
        free(all);
    }
    return ok;
}

static int run(struct ct_options *o, const char *file, const char *daemon)
{
    char job[16], host[256] = "localhost";
    gethostname(host, sizeof host - 1);
    ct_session_job_id(job, sizeof job);
    if (!add_launcher_env(o, job)) {
        fprintf(stderr, "ctranrun: out of memory\n");
        return CT_EXIT_INTERNAL;
    }
    struct ct_node    node = {.host = host, .ranks = o->ranks};
    struct ct_jobdesc desc = {
        .job = job,
        .path = (char *)(uintptr_t)file,
        .wdir = (char *)(uintptr_t)o->wdir,
        .argv = o->argv,
        .env = o->env,
        .nodes = &node,
        .nnodes = 1,
        .bind = o->bind,
        .verbose = o->verbose,
    };
    return ct_head_run(&(struct ct_head_args){
        .desc = &desc, .daemon = daemon, .timeout_ms = o->timeout_ms, .tag_output = o->tag_output});
}

int main(int argc, char **argv)
{
    struct ct_options o;
    char              file[PATH_MAX], daemon[PATH_MAX];
    open_missing_stdio();
    int status = ct_options_parse(&o, argc, argv);
    if (status < 0) {
        status = ct_program_find(o.argv[0], ranks_path(&o), o.wdir, file, sizeof file);
        if (status == 0) {
            status = ct_program_find_daemon(daemon, sizeof daemon);
        }
        if (status == 0) {
            status = run(&o, file, daemon);
        }
    }
    ct_options_fini(&o);
    return status;
}
