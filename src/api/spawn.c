/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawning: the root has the launcher start the programs as one job, and then the ranks of both
 * jobs meet at a port that the root has opened and that the new job finds in its environment. The
 * ranks of the new job meet their parents in ctran_init.
 */
#define CT_FOLDER "api"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"

/* What the calls have in common; the arrays count at root alone. */
struct spawn {
    const char         *call;
    int                 count;
    char *const        *commands;
    char **const       *argvs; /* CTRAN_ARGVS_NULL: no program has arguments */
    const int          *maxprocs;
    const ctran_info_t *infos;
    int                 root;
};

/* One program's texts, and what the launcher gets of it. */
struct program {
    struct ct_family_program to;
    char                     command[PATH_MAX], wdir[PATH_MAX], hosts[CTRAN_MAX_INFO_VAL];
    char                     setting[CTRAN_MAX_PORT_NAME + 32];
};

/* ---- one program ----------------------------------------------------------------------------- */

/* The value of a key of info, "" where there is none. */
static void read_key(struct ct_process *p, const struct ct_info *info, const char *key, char *out,
                     size_t cap)
{
    out[0] = '\0';
    if (info != NULL) {
        (void)ct_info_get(&p->infos, info, key, out, cap);
    }
}

/* Looks for the command in the folders of `path`, which has ':' between. */
static void search_path(const char *path, struct program *program, const char *command)
{
    char found[PATH_MAX];
    while (*path != '\0' && strchr(command, '/') == NULL) {
        const size_t len = strcspn(path, ":");
        const int    n = snprintf(found, sizeof found, "%.*s/%s", (int)len, path, command);
        if (n < (int)sizeof found && access(found, X_OK) == 0) {
            snprintf(program->command, sizeof program->command, "%s", found);
            return;
        }
        path += len + (path[len] == ':');
    }
}

static int describe(struct ct_comm *comm, const struct spawn *s, int i, const char *port,
                    struct program *program)
{
    struct ct_process *p = comm->p;
    struct ct_info    *info;
    char               path[CTRAN_MAX_INFO_VAL];
    const char        *command = s->commands[i];
    int                rc = ct_check_info(comm, s->call, s->infos[i], &info);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (command == NULL || *command == '\0' || strlen(command) >= sizeof program->command) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, s->call, "command %d is %s", i,
                            command == NULL    ? "NULL"
                            : *command == '\0' ? "empty"
                                               : "too long");
    }
    if (s->maxprocs[i] < 1) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, s->call, "maxprocs of \"%s\" is %d, must be > 0",
                            command, s->maxprocs[i]);
    }
    snprintf(program->command, sizeof program->command, "%s", command);
    read_key(p, info, "path", path, sizeof path);
    search_path(path, program, command);
    read_key(p, info, "host", program->hosts, sizeof program->hosts);
    read_key(p, info, "wdir", program->wdir, sizeof program->wdir);
    if (program->wdir[0] == '\0' && getcwd(program->wdir, sizeof program->wdir) == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_SPAWN, s->call, "no working directory: %s",
                            strerror(errno));
    }
    snprintf(program->setting, sizeof program->setting, CT_ENV_PARENT_PORT "=%s", port);
    program->to = (struct ct_family_program){
        .command = program->command,
        .argv = s->argvs != CTRAN_ARGVS_NULL ? s->argvs[i] : CTRAN_ARGV_NULL,
        .hosts = program->hosts[0] != '\0' ? program->hosts : NULL,
        .wdir = program->wdir,
        .setting = program->setting,
        .maxprocs = s->maxprocs[i],
    };
    return CTRAN_SUCCESS;
}

/* ---- all ------------------------------------------------------------------------------------- */

static int start(struct ct_comm *comm, const struct spawn *s, const char *port,
                 struct ct_family_watch **watch)
{
    struct program           *programs = calloc((size_t)s->count, sizeof *programs);
    struct ct_family_program *list = calloc((size_t)s->count, sizeof *list);
    const char               *why;
    int                       rc = CTRAN_SUCCESS;
    if (programs == NULL || list == NULL) {
        rc = ct_api_raise(comm, CTRAN_ERR_NO_MEM, s->call, "for %d programs", s->count);
    }
    for (int i = 0; i < s->count && rc == CTRAN_SUCCESS; i++) {
        rc = describe(comm, s, i, port, &programs[i]);
        list[i] = programs[i].to;
    }
    if (rc == CTRAN_SUCCESS &&
        ct_family_spawn(comm->p->job, list, (uint32_t)s->count, watch, &why) != CTRAN_SUCCESS) {
        rc = ct_api_raise(comm, CTRAN_ERR_SPAWN, s->call, "%s%s cannot be started: %s",
                          s->commands[0], s->count > 1 ? " and the others" : "", why);
    }
    free(programs);
    free(list);
    return rc;
}

/* What the root does before all meet: checks, opens the port, has the job started. */
static int prepare(struct ct_comm *comm, const struct spawn *s, char *port,
                   struct ct_family_watch **watch)
{
    const bool complete =
        s->count > 0 && s->commands != NULL && s->maxprocs != NULL && s->infos != NULL;
    if (!complete) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, s->call,
                            "count is %d, must be > 0, and commands, maxprocs and infos must not "
                            "be NULL",
                            s->count);
    }
    if (!comm->p->job->has_family) {
        return ct_api_raise(comm, CTRAN_ERR_SPAWN, s->call,
                            "this process was not started by ctranrun, which alone starts further "
                            "programs");
    }
    int rc = ct_port_open(comm->p, port, CTRAN_MAX_PORT_NAME);
    if (rc != CTRAN_SUCCESS) {
        return ct_api_pass(comm, rc, s->call);
    }
    rc = start(comm, s, port, watch);
    if (rc != CTRAN_SUCCESS) {
        (void)ct_port_close(comm->p, port); /* nobody knows it */
    }
    return rc;
}

/* How many error codes the program gets: at root alone that is known without asking. */
static uint32_t count_processes(const struct spawn *s)
{
    uint32_t n = 0;
    for (int i = 0; i < s->count; i++) {
        n += (uint32_t)s->maxprocs[i];
    }
    return n;
}

static void set_codes(int *codes, uint32_t n, int rc)
{
    for (uint32_t i = 0; codes != CTRAN_ERRCODES_IGNORE && i < n; i++) {
        codes[i] = rc;
    }
}

static int spawn(ctran_comm_t handle, const struct spawn *s, ctran_comm_t *intercomm, int *codes)
{
    struct ct_comm         *comm, *made = NULL;
    struct ct_family_watch *watch = NULL;
    char                    port[CTRAN_MAX_PORT_NAME] = "";
    int                     rc = ct_check_intra(s->call, handle, &comm), bad = CTRAN_SUCCESS;
    rc = rc == CTRAN_SUCCESS ? ct_check_out(comm, s->call, intercomm, "intercomm") : rc;
    rc = rc == CTRAN_SUCCESS ? ct_check_root(comm, s->call, s->root) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const bool is_root = (uint32_t)s->root == comm->run.me;
    if (is_root) {
        bad = prepare(comm, s, port, &watch);
    }
    struct ct_blocked b;
    ct_api_block(&b, s->call, comm, CT_BLOCKED_NONE, CT_BLOCKED_NONE);
    const struct ct_meeting at = {.port = port, .lost = watch != NULL ? &watch->lost : NULL};
    rc = ct_comm_meet_at(comm, (uint32_t)s->root, &at, bad, &made);
    ct_blocked_end(&b);
    if (is_root && bad == CTRAN_SUCCESS) {
        (void)ct_port_close(comm->p, port);
        ct_family_unwatch(watch);
    }
    if (is_root && bad == CTRAN_SUCCESS && rc == CTRAN_ERR_SPAWN) {
        bad = ct_api_raise(comm, rc, s->call,
                           "%s%s ended before all its processes had called "
                           "ctran_init",
                           s->commands[0], s->count > 1 ? " or another" : "");
    }
    /* Elsewhere nothing says how many processes were asked for, if none was started. */
    const uint32_t n = made != NULL                     ? made->remote->n
                       : is_root && rc != CTRAN_ERR_ARG ? count_processes(s)
                                                        : 0;
    set_codes(codes, n, rc);
    return bad != CTRAN_SUCCESS ? bad : ct_api_give_comm(comm, rc, made, s->call, intercomm);
}

int ctran_comm_spawn(const char *command, char *argv[], int maxprocs, ctran_info_t info, int root,
                     ctran_comm_t comm, ctran_comm_t *intercomm, int array_of_errcodes[])
{
    char *const        commands[] = {(char *)command};
    char **const       argvs[] = {argv};
    const struct spawn s = {.call = "ctran_comm_spawn",
                            .count = 1,
                            .commands = commands,
                            .argvs = argvs,
                            .maxprocs = &maxprocs,
                            .infos = &info,
                            .root = root};
    return spawn(comm, &s, intercomm, array_of_errcodes);
}

int ctran_comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                              const int array_of_maxprocs[], const ctran_info_t array_of_info[],
                              int root, ctran_comm_t comm, ctran_comm_t *intercomm,
                              int array_of_errcodes[])
{
    const struct spawn s = {.call = "ctran_comm_spawn_multiple",
                            .count = count,
                            .commands = array_of_commands,
                            .argvs = array_of_argv,
                            .maxprocs = array_of_maxprocs,
                            .infos = array_of_info,
                            .root = root};
    return spawn(comm, &s, intercomm, array_of_errcodes);
}

/* ---- the new job ----------------------------------------------------------------------------- */

int ct_api_meet_parent(struct ct_process *p)
{
    struct ct_comm *world = ct_comm_world(p), *parent = NULL;
    const char     *port = p->nworlds == 1 ? ct_family_told_port(p->job) : NULL;
    if (port == NULL) {
        return CTRAN_SUCCESS;
    }
    const struct ct_meeting at = {.port = port, .calls = true, .timeout_ns = CT_PORT_FOREVER};
    int                     rc = ct_comm_meet_at(world, 0, &at, CTRAN_SUCCESS, &parent);
    if (rc != CTRAN_SUCCESS) {
        ct_error(&p->log, "the processes that have spawned job %s cannot be reached at %s",
                 p->job->id, port);
        return rc;
    }
    ct_family_met(p->job);
    ct_comm_set_name(parent, "CTRAN_COMM_PARENT");
    ct_comm_set_parent(p, parent);
    return CTRAN_SUCCESS;
}

int ctran_comm_get_parent(ctran_comm_t *parent)
{
    static const char call[] = "ctran_comm_get_parent";
    struct ct_comm   *self;
    int               rc = ct_check_self(call, &self);
    rc = rc == CTRAN_SUCCESS ? ct_check_out(self, call, parent, "parent") : rc;
    if (rc == CTRAN_SUCCESS) {
        struct ct_comm *comm = ct_comm_parent(self->p);
        *parent = comm != NULL ? ct_comm_handle(comm) : CTRAN_COMM_NULL;
    }
    return rc;
}
