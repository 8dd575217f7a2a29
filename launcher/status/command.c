/* SPDX-License-Identifier: BSD-3-Clause */
/* The asking side of --status; see command.h. Used by ctranrun.c. */
#include "config.h"
#include "launcher/status/command.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/base.h"
#include "launcher/launcher.h"
#include "launcher/proc/proc.h"
#include "launcher/status/ask.h"
#include "launcher/status/blockfile.h"

enum { CALL_WIDTH = 36 }; /* the width of most calls; a longer call moves the columns after it */

/* One request for the state of the jobs. */
struct query {
    const char *job;        /* NULL: all, without their ranks */
    uint64_t    elapsed_ms; /* of the job that answers */
    uint32_t    nhosts;     /* its hosts */
    bool        found, silent;
    bool        told; /* the job has been shown: its other daemons would show it again */
};

/* ---- tables ---------------------------------------------------------------------------------- */

/* "1:02:03" */
static void format_time(uint64_t ms, char *out, size_t cap)
{
    uint64_t s = ms / 1000;
    snprintf(out, cap, "%" PRIu64 ":%02u:%02u", s / 3600, (unsigned)(s / 60 % 60),
             (unsigned)(s % 60));
}

/* The state of a process, in the letters of ps and in words. */
static void format_state(uint32_t state, int wait_status, char *out, size_t cap)
{
    static const struct {
        char        letter;
        const char *word;
    } words[] = {{'R', "running"}, {'S', "sleeping"}, {'D', "blocked"},
                 {'T', "stopped"}, {'t', "traced"},   {'Z', "ending"}};
    if (state == 0 && WIFSIGNALED(wait_status)) {
        snprintf(out, cap, "killed:%d", WTERMSIG(wait_status));
        return;
    }
    if (state == 0) {
        snprintf(out, cap, "exited:%d", WEXITSTATUS(wait_status));
        return;
    }
    snprintf(out, cap, "%c", (char)state);
    for (size_t i = 0; i < CT_ARRAY_LEN(words); i++) {
        if (words[i].letter == (char)state) {
            snprintf(out, cap, "%s", words[i].word);
        }
    }
}

/* Writes " from 3" or " from any"; "" if the call has no such argument. */
static size_t add_number(const char *word, int32_t number, char *out, size_t cap)
{
    int len = 0;
    if (number == CT_BLOCKED_ANY) {
        len = snprintf(out, cap, " %s any", word);
    } else if (number != CT_BLOCKED_NONE) {
        len = snprintf(out, cap, " %s %d", word, number);
    }
    return (size_t)len;
}

/* "ctran_recv peer 3 tag 7 comm 0", and how long it has waited. */
static void format_call(const struct ct_blocked_call *c, char *call, size_t cap, char *since,
                        size_t since_cap)
{
    snprintf(call, cap, "-");
    snprintf(since, since_cap, "-");
    if (c->call[0] != '\0') {
        size_t len = (size_t)snprintf(call, cap, "%s", c->call);
        len += add_number("peer", c->peer, call + len, cap - len);
        len += add_number("tag", c->tag, call + len, cap - len);
        snprintf(call + len, cap - len, " comm %" PRIx64, c->comm);
        format_time(c->since_ms, since, since_cap);
    }
}

static void print_job(struct query *q, struct ct_unpack *in)
{
    const char *job = ct_unpack_text(in), *host = ct_unpack_text(in);
    char        time[32], where[300], pid[32];
    q->nhosts = ct_unpack_u32(in);
    uint32_t head = ct_unpack_u32(in);
    q->elapsed_ms = ct_unpack_u64(in);
    uint32_t    ranks = ct_unpack_u32(in), running = ct_unpack_u32(in);
    const char *program = ct_unpack_text(in);
    format_time(q->elapsed_ms, time, sizeof time);
    if (in->bad) {
        return;
    }
    snprintf(pid, sizeof pid, "%u", head);
    if (q->job == NULL) {
        printf("%-8s %7s %6u %8u %9s  %s\n", job, head != 0 ? pid : "-", ranks, running, time,
               program);
        return;
    }
    if (q->nhosts > 1) {
        snprintf(where, sizeof where, "%u hosts", q->nhosts);
    } else {
        snprintf(where, sizeof where, "host %s", host);
    }
    printf("job %s, %u ranks on %s, %u running, ctranrun is %s%s, started %s ago\n", job, ranks,
           where, running, head != 0 ? "pid " : "on another host", head != 0 ? pid : "", time);
    printf("%6s %8s %-10s %-9s %5s %9s %9s %9s  %-*s  %s%s\n", "RANK", "PID", "STATE", "PMIX",
           "CPU%", "CPU", "RSS", "WAITS", CALL_WIDTH, "CALL", q->nhosts > 1 ? "HOST  " : "",
           "PROGRAM");
}

static void status_command_print_rank(struct query *q, struct ct_unpack *in)
{
    static const char *const phases[] = {"-", "connected", "finalized"};
    uint32_t                 rank = ct_unpack_u32(in), pid = ct_unpack_u32(in);
    uint32_t                 state = ct_unpack_u32(in);
    int                      wait_status = (int)ct_unpack_u32(in);
    uint32_t                 phase = ct_unpack_u32(in);
    uint64_t                 cpu_ms = ct_unpack_u64(in), resident = ct_unpack_u64(in);
    struct ct_blocked_call   blocked;
    char                     what[32], cpu[32], call[128], since[32];
    ct_blocked_call_unpack(in, &blocked);
    const char *host = ct_unpack_text(in), *program = ct_unpack_text(in);
    if (in->bad || phase >= CT_ARRAY_LEN(phases)) {
        in->bad = true;
        return;
    }
    if (pid != 0) {
        format_state(state, wait_status, what, sizeof what);
    } else {
        snprintf(what, sizeof what, "waiting");
    }
    format_time(cpu_ms, cpu, sizeof cpu);
    format_call(&blocked, call, sizeof call, since, sizeof since);
    printf("%6u %8u %-10s %-9s %5.0f %9s %8.1fM %9s  %-*s  %s%s%s\n", rank, pid, what,
           phases[phase], q->elapsed_ms > 0 ? 100.0 * (double)cpu_ms / (double)q->elapsed_ms : 0.0,
           cpu, (double)resident / (1 << 20), since, CALL_WIDTH, call, q->nhosts > 1 ? host : "",
           q->nhosts > 1 ? "  " : "", program);
}

static void print_missing(struct query *q, struct ct_unpack *in)
{
    const char *host = ct_unpack_text(in);
    q->silent = true;
    fflush(stdout);
    fprintf(stderr, "ctranrun: host %s does not answer; its ranks are not shown\n", host);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void status_command_on_msg(void *arg, enum ct_msg_type type, struct ct_unpack *in)
{
    struct query *q = arg;
    switch (type) {
    case CT_MSG_STATUS_JOB:
        print_job(q, in);
        break;
    case CT_MSG_STATUS_RANK:
        status_command_print_rank(q, in);
        break;
    case CT_MSG_STATUS_MISSING:
        print_missing(q, in);
        break;
    default:
        in->bad = true;
    }
}

static void status_command_on_session(void *arg, const char *job, int dir_fd)
{
    struct query *q = arg;
    if (q->job != NULL && (q->told || strcmp(job, q->job) != 0)) {
        return;
    }
    switch (ct_status_ask(dir_fd, CT_MSG_STATUS_ASK, q->job != NULL, status_command_on_msg, q)) {
    case CT_STATUS_ASK_ANSWERED:
        q->found = true;
        q->told = q->job != NULL;
        break;
    case CT_STATUS_ASK_SILENT:
        q->found = q->silent = true;
        fflush(stdout);
        fprintf(
            stderr,
            "ctranrun: the daemon of job %s does not answer; the daemon is ending, or is stopped\n",
            job);
        break;
    case CT_STATUS_ASK_GONE:
        break;
    }
}

int ct_status_run(const char *job)
{
    struct query q = {.job = job};
    signal(SIGPIPE, SIG_IGN);
    if (job == NULL) {
        printf("%-8s %7s %6s %8s %9s  %s\n", "JOB", "PID", "RANKS", "RUNNING", "TIME", "PROGRAM");
    }
    ct_session_each(status_command_on_session, &q);
    if (job != NULL && !q.found) {
        fprintf(stderr,
                "ctranrun: there is no job %s of yours on this machine (looked in %s, as TMPDIR "
                "says); ctranrun --status lists the jobs\n",
                job, ct_session_base());
    }
    return q.silent || (job != NULL && !q.found) ? CT_EXIT_INTERNAL : 0;
}
