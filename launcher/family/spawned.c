/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that ranks have spawned; see spawned.h. Used by head/run.c and head/end.c. */
#include "config.h"
#include "launcher/family/spawned.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/family/jobs.h"
#include "launcher/family/spawned_place.h"
#include "launcher/io/io.h"
#include "launcher/job/job.h"
#include "launcher/launcher.h"
#include "launcher/proc/proc.h"
#include "launcher/tree/tree.h"

enum { CONTROL, OUT, ERR, STREAMS, CONTROL_FD = 3, FAMILY_FD };

struct job;

/* A pipe from the head of a spawned job. */
struct stream {
    struct job      *job;
    uint32_t         which;
    int              fd; /* -1: closed */
    struct event    *readable;
    struct evbuffer *line; /* the beginning of a line */
};

struct job {
    struct ct_list     node;
    struct ct_spawned *s;
    uint32_t asker, number, rank; /* the asking node, its number for the request, the asking rank */
    uint32_t index;               /* among those of this job, from 1 */
    pid_t    pid;                 /* 0: reaped */
    bool     started;
    bool    *known;    /* by node of this job: the node knows the spawned job */
    bool     answered; /* that it is started */
    bool     asked;    /* to end */
    bool     over;     /* the process has ended */
    int      wait_status;
    char    *id, *nspace;
    struct ct_family_link *link; /* to its head */
    struct stream          streams[STREAMS];
};

struct ct_spawned {
    struct ct_spawned_args       with;
    const struct ct_spawned_ops *ops;
    void                        *arg;
    struct ct_list               jobs;
    struct ct_list               lost; /* jobs whose heads were killed: processes may be left */
    uint32_t                     n, last;
};

/* ---- numbers --------------------------------------------------------------------------------- */

/* How many processes of the family have a number (ct_jobdesc.first_process). One count for all
 * heads of the family: these are forked from each other, and the memory stays shared. NULL: this
 * process has no head yet. A number does not come again. */
static _Atomic uint32_t *numbered;

/* Takes n numbers. Returns false if there are not so many left: the numbers of communicators have
 * 29 bits for that of a process. */
static bool take_numbers(uint32_t n, uint32_t *first)
{
    const uint32_t all = UINT32_C(1) << 29;
    *first = atomic_load_explicit(numbered, memory_order_relaxed);
    while (n <= all - *first) {
        if (atomic_compare_exchange_weak_explicit(numbered, first, *first + n, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

/* The root's head makes the count: the first numbers are those of the user's job. */
static bool count_numbers(const struct ct_jobdesc *d)
{
    if (numbered == NULL) {
        void *page =
            mmap(NULL, sizeof *numbered, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) {
            return false;
        }
        numbered = page;
        atomic_store_explicit(numbered, ct_jobdesc_ranks(d), memory_order_relaxed);
    }
    return true;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void spawned_answer(struct ct_spawned *s, uint32_t asker, uint32_t number,
                           enum ct_spawn_status status, const char *nspace)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, asker);
    ct_pack_u32(body, number);
    ct_pack_u32(body, status);
    ct_pack_text(body, nspace);
    ct_router_send_down(s->with.router, CT_MSG_SPAWN_ANSWER, body);
}

/* ---- the end of one -------------------------------------------------------------------------- */

static void close_stream(struct stream *st)
{
    if (st->readable != NULL) {
        event_free(st->readable);
        st->readable = NULL;
    }
    if (st->fd >= 0) {
        close(st->fd);
        st->fd = -1;
    }
}

/* Takes the job out of the list of those that run. */
static void spawned_stop_running(struct job *j)
{
    for (int i = 0; i < STREAMS; i++) {
        close_stream(&j->streams[i]);
        if (j->streams[i].line != NULL) {
            evbuffer_free(j->streams[i].line);
            j->streams[i].line = NULL;
        }
    }
    ct_family_remove(j->link);
    j->link = NULL;
    ct_list_remove(&j->node);
    j->s->n--;
}

static void free_names(struct job *j)
{
    free(j->id);
    free(j->nspace);
    free(j->known);
    free(j);
}

static void free_job(struct job *j)
{
    spawned_stop_running(j);
    free_names(j);
}

static int exit_status(const struct job *j)
{
    return WIFEXITED(j->wait_status) ? WEXITSTATUS(j->wait_status)
                                     : CT_EXIT_SIGNAL + WTERMSIG(j->wait_status);
}

static void answer_failure(struct job *j)
{
    int                  status = exit_status(j);
    enum ct_spawn_status why = status == CT_EXIT_NOT_FOUND     ? CT_SPAWN_NOT_FOUND
                               : status == CT_EXIT_CANNOT_EXEC ? CT_SPAWN_CANNOT_EXEC
                                                               : CT_SPAWN_FAILED;
    spawned_answer(j->s, j->asker, j->number, why, "");
}

static void finish_if_over(struct job *j)
{
    struct ct_spawned *s = j->s;
    if (!j->over || j->streams[OUT].fd >= 0 || j->streams[ERR].fd >= 0) {
        return;
    }
    if (j->started) {
        if (!j->answered) {
            spawned_answer(s, j->asker, j->number, CT_SPAWN_OK, j->nspace);
        }
        if (exit_status(j) != 0) {
            s->ops->failed(s->arg, j->id, j->rank, exit_status(j));
        }
    } else {
        answer_failure(j);
    }
    if (WIFEXITED(j->wait_status)) {
        free_job(j);
    } else {
        spawned_stop_running(j);
        ct_list_append(&s->lost, &j->node);
    }
    s->ops->over(s->arg);
}

/* ---- what comes from its head ---------------------------------------------------------------- */

/* Lines with their ends; a long one in pieces, and the last as it is. */
static void spawned_pass_on(struct stream *st, bool all)
{
    struct ct_output   *output = st->job->s->with.output;
    size_t              len = evbuffer_get_length(st->line), take = len;
    struct evbuffer_ptr at = {.pos = -1}, next;
    uint32_t            channel = st->which == OUT ? CT_CHAN_OUT : CT_CHAN_ERR;
    if (!all && len < CT_LINE_MAX) {
        next = evbuffer_search(st->line, "\n", 1, NULL);
        while (next.pos >= 0) {
            at = next;
            struct evbuffer_ptr from = next;
            evbuffer_ptr_set(st->line, &from, 1, EVBUFFER_PTR_ADD);
            next = evbuffer_search(st->line, "\n", 1, &from);
        }
        take = (size_t)(at.pos + 1);
    }
    if (take > 0) {
        ct_output_pass(output, channel, 2 * st->job->index + channel,
                       evbuffer_pullup(st->line, (ssize_t)take), take);
        evbuffer_drain(st->line, take);
    }
}

/* Reads some output, if all output before is written. */
static void spawned_read_some(struct stream *st)
{
    if (!ct_output_is_idle(st->job->s->with.output)) {
        event_del(st->readable); /* until it is */
        return;
    }
    int  n = evbuffer_read(st->line, st->fd, 16 << 10);
    bool later = n < 0 && (errno == EAGAIN || errno == EINTR);
    bool ended =
        later ? st->job->over : n <= 0; /* another process may hold the pipe open, silent */
    spawned_pass_on(st, ended);
    if (ended) {
        close_stream(st);
    } else if (n > 0 && st->job->over) { /* read until the pipe is empty; it may never end */
        event_active(st->readable, EV_READ, 0);
    }
}

static void on_output(int fd, short what, void *arg)
{
    struct stream *st = arg;
    (void)fd;
    (void)what;
    spawned_read_some(st);
    finish_if_over(st->job);
}

void ct_spawned_resume(struct ct_spawned *s)
{
    CT_LIST_FOR (l, &s->jobs) {
        struct job *j = CT_LIST_ENTRY(l, struct job, node);
        for (int i = OUT; i <= ERR; i++) {
            if (j->streams[i].readable != NULL) {
                event_add(j->streams[i].readable, NULL);
                spawned_read_some(&j->streams[i]);
            }
        }
        finish_if_over(j);
    }
}

/* A node whose ranks have all ended needs no answer: no rank there can name the job, and its daemon
 * may be gone. */
static bool is_known_everywhere(const struct job *j)
{
    const struct ct_spawned *s = j->s;
    for (uint32_t i = 0; i < s->with.desc->nnodes; i++) {
        if (!j->known[i] && !s->ops->node_has_ended(s->arg, i)) {
            return false;
        }
    }
    return true;
}

/* The asking rank gets the name of the job when all nodes know the job: the name then spreads among
 * their ranks. */
static void answer_if_known(struct job *j)
{
    if (j->started && !j->answered && is_known_everywhere(j)) {
        j->answered = true;
        spawned_answer(j->s, j->asker, j->number, CT_SPAWN_OK, j->nspace);
    }
}

void ct_spawned_known(struct ct_spawned *s, struct ct_unpack *in)
{
    uint32_t    node = ct_unpack_u32(in);
    const char *nspace = ct_unpack_text(in);
    in->bad |= node >= s->with.desc->nnodes;
    CT_LIST_FOR (l, &s->jobs) {
        struct job *j = CT_LIST_ENTRY(l, struct job, node);
        if (!in->bad && strcmp(j->nspace, nspace) == 0) {
            j->known[node] = true;
            answer_if_known(j);
        }
    }
}

void ct_spawned_rank_ended(struct ct_spawned *s)
{
    CT_LIST_FOR (l, &s->jobs) {
        answer_if_known(CT_LIST_ENTRY(l, struct job, node));
    }
}

/* A byte: all its ranks are started. The end: the process ends. */
static void on_control(int fd, short what, void *arg)
{
    struct stream *st = arg;
    struct job    *j = st->job;
    char           byte;
    (void)what;
    ssize_t n = read(fd, &byte, 1);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n == 1) {
        j->started = true;
        answer_if_known(j);
        return;
    }
    if (j->pid > 0 && waitpid(j->pid, &j->wait_status, 0) != j->pid) {
        j->wait_status = SIGKILL; /* another part has reaped the process and does not tell */
    }
    j->pid = 0;
    j->over = true;
    close_stream(st);
    for (int i = OUT; i <= ERR; i++) {
        if (j->streams[i].readable != NULL) { /* the end of the pipe may have come before */
            event_add(j->streams[i].readable, NULL);
            event_active(j->streams[i].readable, EV_READ, 0);
        }
    }
    finish_if_over(j);
}

/* ---- its process ----------------------------------------------------------------------------- */

/* In the new process: closes the descriptors of the parent, except three pipes and a stream, and
 * drops its handlers. The new numbers of these descriptors may be their old ones. */
static void leave_parent(struct ct_spawned *s, const int ends[STREAMS], int link, pid_t parent)
{
    s->ops->forked(s->arg);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(CT_EXIT_INTERNAL);
    }
    setpgid(0, 0); /* the parent passes on the terminal's signals, once */
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(ends[OUT], STDOUT_FILENO) < 0 ||
        dup2(ends[ERR], STDERR_FILENO) < 0) {
        _exit(CT_EXIT_INTERNAL);
    }
    int control = fcntl(ends[CONTROL], F_DUPFD_CLOEXEC, FAMILY_FD + 1);
    link = fcntl(link, F_DUPFD_CLOEXEC, FAMILY_FD + 1);
    if (dup3(control, CONTROL_FD, O_CLOEXEC) < 0 || dup3(link, FAMILY_FD, O_CLOEXEC) < 0) {
        _exit(CT_EXIT_INTERNAL);
    }
    closefrom(FAMILY_FD + 1);
}

/* Changes the description, which is a copy in this process, into that of the new job. */
static bool spawned_become_job(struct ct_spawned *s, const struct job *j,
                               const struct ct_spawned_place *place)
{
    struct ct_jobdesc *d = s->with.desc;
    char               setting[64], *dir = NULL;
    struct evbuffer   *family = evbuffer_new();
    ct_family_pack(s->with.family, j->nspace, family);
    d->family_len = evbuffer_get_length(family);
    d->family = evbuffer_pullup(family, -1); /* for as long as this process lives */
    d->parent_nspace = d->nspace;
    d->parent_rank = j->rank;
    d->first_process = place->first_process;
    d->job = j->id;
    d->nspace = j->nspace;
    d->apps = place->apps;
    d->napps = place->napps;
    d->nodes = place->nodes;
    d->nnodes = place->nnodes;
    d->rank_env = d->debugger = NULL;
    d->debug_ranks = strdup("0");
    d->debug_terminal = d->tell_ranks = d->ranks_in_turn = false;
    d->stdin_to = CT_STDIN_NONE;
    if (d->output_dir[0] != '\0') {
        d->output_dir = asprintf(&dir, "%s/spawned.%u", d->output_dir, j->index) >= 0 ? dir : NULL;
    }
    snprintf(setting, sizeof setting, CT_ENV_JOB "=%s", d->job);
    return d->debug_ranks != NULL && d->output_dir != NULL && ct_strlist_set(&d->env, setting) &&
           ct_jobdesc_map(d);
}

/* Returns the exit status of the new job. */
static int spawned_run(struct ct_spawned *s, const struct job *j,
                       const struct ct_spawned_place *place)
{
    const struct ct_spawned_run run = {.number = j->index,
                                       .local = place->local,
                                       .control_fd = CONTROL_FD,
                                       .family_fd = FAMILY_FD};
    if (!spawned_become_job(s, j, place)) {
        fprintf(stderr, "ctranrun: job %s: out of memory\n", j->id);
        return CT_EXIT_INTERNAL;
    }
    int status = ct_program_find_all(s->with.desc);
    return status != 0 ? status : s->ops->run(s->arg, &run);
}

static void close_pipes(int pipes[STREAMS][2], int end)
{
    for (int i = 0; i < STREAMS; i++) {
        if (pipes[i][end] >= 0) {
            close(pipes[i][end]);
            pipes[i][end] = -1;
        }
    }
}

static bool spawned_open_stream(struct job *j, uint32_t which, int fd)
{
    struct stream *st = &j->streams[which];
    st->job = j;
    st->which = which;
    st->fd = fd;
    st->line = evbuffer_new();
    fcntl(fd, F_SETFL, O_NONBLOCK);
    st->readable = event_new(j->s->with.base, fd, EV_READ | EV_PERSIST,
                             which == CONTROL ? on_control : on_output, st);
    return st->line != NULL && st->readable != NULL && event_add(st->readable, NULL) == 0;
}

/* Starts the process. Returns false with errno set. */
static bool spawned_start(struct ct_spawned *s, struct job *j, struct ct_spawned_place *place)
{
    int  pipes[STREAMS][2] = {{-1, -1}, {-1, -1}, {-1, -1}}, link[2] = {-1, -1};
    bool ok = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) == 0,
         one = ct_output_is_one_sink(s->with.output);
    for (int i = 0; i < STREAMS && ok; i++) {
        ok = (one && i == ERR) || pipe2(pipes[i], O_CLOEXEC) == 0;
    }
    if (ok) { /* before the process exists: daemons must know the job first */
        j->link = ct_family_add(s->with.family, j->nspace, place, link[0]);
        link[0] = -1;
        ok = j->link != NULL;
    }
    pid_t    parent = getpid();
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* the child must not run the parent's handlers */
    j->pid = ok ? fork() : -1;
    if (j->pid == 0) {
        int ends[STREAMS] = {pipes[CONTROL][1], pipes[OUT][1], pipes[one ? OUT : ERR][1]};
        leave_parent(s, ends, link[1], parent);
        sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(spawned_run(s, j, place));
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close_pipes(pipes, 1);
    for (int i = 0; i < 2; i++) {
        if (link[i] >= 0) {
            close(link[i]);
        }
    }
    for (int i = 0; i < STREAMS && j->pid > 0; i++) {
        if (pipes[i][0] >= 0 && ok) {
            ok = spawned_open_stream(j, (uint32_t)i, pipes[i][0]);
            pipes[i][0] = -1; /* the stream's, also if it has failed */
        }
    }
    close_pipes(pipes, 0);
    if (!ok && j->pid > 0) {
        kill(j->pid, SIGKILL);
        (void)waitpid(j->pid, NULL, 0);
    }
    return ok && j->pid > 0;
}

/* ---- requests -------------------------------------------------------------------------------- */

static struct job *make_job(struct ct_spawned *s, uint32_t asker, uint32_t number, uint32_t rank)
{
    char        id[16];
    struct job *j = calloc(1, sizeof *j);
    if (j == NULL) {
        return NULL;
    }
    ct_job_make_id(id, sizeof id);
    *j = (struct job){.s = s,
                      .asker = asker,
                      .number = number,
                      .rank = rank,
                      .index = ++s->last,
                      .known = calloc(s->with.desc->nnodes, sizeof *j->known),
                      .id = strdup(id),
                      .nspace = ct_job_make_name(id)};
    for (int i = 0; i < STREAMS; i++) {
        j->streams[i].fd = -1;
    }
    ct_list_append(&s->jobs, &j->node);
    s->n++;
    if (j->known == NULL || j->id == NULL || j->nspace == NULL) {
        free_job(j);
        return NULL;
    }
    return j;
}

void ct_spawned_take(struct ct_spawned *s, struct ct_unpack *in)
{
    const struct ct_jobdesc *d = s->with.desc;
    struct ct_spawned_place  place;
    uint32_t                 asker = ct_unpack_u32(in), number = ct_unpack_u32(in);
    uint32_t                 rank = ct_unpack_u32(in);
    in->bad |= asker >= d->nnodes || rank >= ct_jobdesc_ranks(d);
    if (in->bad) {
        return;
    }
    bool fits = ct_spawned_place_read(&place, d, s->with.local, in);
    bool counted = fits && take_numbers(ct_spawned_place_ranks(&place), &place.first_process);
    if (!in->bad &&
        ((fits && !counted) || s->n >= CT_SPAWN_MAX || s->with.depth >= CT_SPAWN_DEPTH_MAX)) {
        spawned_answer(s, asker, number, CT_SPAWN_TOO_MANY, "");
    } else if (!in->bad && (!fits || !s->ops->may_spawn(s->arg))) {
        spawned_answer(s, asker, number, fits ? CT_SPAWN_FAILED : CT_SPAWN_NO_PLACE, "");
    } else if (!in->bad) {
        struct job *j = make_job(s, asker, number, rank);
        if (j == NULL || !spawned_start(s, j, &place)) {
            s->ops->cannot(s->arg, rank, errno);
            spawned_answer(s, asker, number, CT_SPAWN_FAILED, "");
            if (j != NULL) {
                free_job(j);
            }
        }
    }
    ct_spawned_place_fini(&place);
}

void ct_spawned_signal(struct ct_spawned *s, int signo)
{
    CT_LIST_FOR (l, &s->jobs) {
        struct job *j = CT_LIST_ENTRY(l, struct job, node);
        /* A head that has just begun would end by these two. */
        const bool early = !j->started && (signo == SIGUSR1 || signo == SIGUSR2);
        if (j->pid > 0 && !early) {
            (void)kill(j->pid, signo);
        }
    }
}

void ct_spawned_end(struct ct_spawned *s, int signo)
{
    CT_LIST_FOR (l, &s->jobs) {
        struct job *j = CT_LIST_ENTRY(l, struct job, node);
        if (j->pid > 0 && !j->asked) {
            (void)kill(j->pid, signo);
        }
        j->asked = true;
    }
}

void ct_spawned_reaped(struct ct_spawned *s, pid_t pid, int wait_status)
{
    CT_LIST_FOR (l, &s->jobs) {
        struct job *j = CT_LIST_ENTRY(l, struct job, node);
        if (j->pid == pid) {
            j->pid = 0;
            j->wait_status = wait_status;
        }
    }
}

bool ct_spawned_has_lost(const struct ct_spawned *s)
{
    return !ct_list_empty(&s->jobs) || !ct_list_empty(&s->lost);
}

void ct_spawned_remove_files(struct ct_spawned *s)
{
    CT_LIST_FOR (l, &s->jobs) {
        ct_session_remove(CT_LIST_ENTRY(l, struct job, node)->id, 0);
    }
    CT_LIST_FOR (l, &s->lost) {
        ct_session_remove(CT_LIST_ENTRY(l, struct job, node)->id, 0);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool ct_spawned_is_over(const struct ct_spawned *s)
{
    return ct_list_empty(&s->jobs);
}

struct ct_spawned *ct_spawned_create(const struct ct_spawned_args *args,
                                     const struct ct_spawned_ops *ops, void *arg)
{
    struct ct_spawned *s = count_numbers(args->desc) ? calloc(1, sizeof *s) : NULL;
    if (s != NULL) {
        *s = (struct ct_spawned){.with = *args, .ops = ops, .arg = arg};
        ct_list_init(&s->jobs);
        ct_list_init(&s->lost);
    }
    return s;
}

/* The jobs that are left have been killed with all descendants, or cannot be killed. */
void ct_spawned_destroy(struct ct_spawned *s)
{
    if (s == NULL) {
        return;
    }
    CT_LIST_FOR (l, &s->jobs) {
        free_job(CT_LIST_ENTRY(l, struct job, node));
    }
    CT_LIST_FOR (l, &s->lost) {
        free_names(CT_LIST_ENTRY(l, struct job, node));
    }
    free(s);
}
