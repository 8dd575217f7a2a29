/* SPDX-License-Identifier: BSD-3-Clause */
/* The asking side of --analyze; see analyze.h. Used by ctranrun.c. */
#include "config.h"
#include "launcher/status/analyze.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/proc/proc.h"
#include "launcher/status/ask.h"
#include "launcher/status/blockfile.h"
#include "trace/trace.h"

struct traces {
    const char *job;
    FILE       *file; /* gets the dumps, one after the other */
    bool        found, silent;
    uint32_t    ranks; /* of the job */
};

/* ---- asking ---------------------------------------------------------------------------------- */

static void analyze_on_job(struct traces *t, struct ct_unpack *in)
{
    (void)ct_unpack_text(in); /* job and host */
    (void)ct_unpack_text(in);
    (void)ct_unpack_u32(in); /* hosts, the head's pid, time */
    (void)ct_unpack_u32(in);
    (void)ct_unpack_u64(in);
    t->ranks = ct_unpack_u32(in);
}

/* A rank that has ended gets an empty dump that says so: where its daemon has left with its trace
 * there is no other. */
static void analyze_on_rank(struct traces *t, struct ct_unpack *in)
{
    struct ct_trace_header h;
    struct ct_blocked_call call;
    const uint32_t         rank = ct_unpack_u32(in), pid = ct_unpack_u32(in);
    const uint32_t         letter = ct_unpack_u32(in), wait_status = ct_unpack_u32(in);
    const uint32_t         phase = ct_unpack_u32(in);
    (void)ct_unpack_u64(in); /* CPU, memory */
    (void)ct_unpack_u64(in);
    ct_blocked_call_unpack(in, &call);
    const char *host = ct_unpack_text(in);
    if (in->bad || pid == 0 || letter != 0 || rank >= t->ranks) {
        return;
    }
    ct_trace_pack_blank(&h, rank, t->ranks);
    h.owner = pid;
    h.process = CT_TRACE_PROCESS_ENDED;
    h.process_detail = wait_status;
    h.life = phase == CT_PHASE_FINALIZED ? CT_TRACE_LIFE_LEFT : CT_TRACE_LIFE_NONE;
    snprintf(h.job, sizeof h.job, "%s", t->job);
    snprintf(h.host, sizeof h.host, "%s", host);
    (void)fwrite(&h, 1, sizeof h, t->file);
}

static void analyze_on_msg(void *arg, enum ct_msg_type type, struct ct_unpack *in)
{
    struct traces *t = arg;
    if (type == CT_MSG_TRACE) {
        size_t len;
        (void)ct_unpack_u32(in);
        const void *dump = ct_unpack_bytes(in, &len);
        if (!in->bad) {
            (void)fwrite(dump, 1, len, t->file);
        }
    } else if (type == CT_MSG_STATUS_MISSING) {
        fprintf(stderr, "ctranrun: host %s does not answer; the traces of its ranks are missing\n",
                ct_unpack_text(in));
    } else if (type == CT_MSG_STATUS_JOB) {
        analyze_on_job(t, in);
    } else if (type == CT_MSG_STATUS_RANK) {
        analyze_on_rank(t, in);
    } else {
        in->bad = true;
    }
}

static void analyze_on_session(void *arg, const char *job, int dir_fd)
{
    struct traces *t = arg;
    if (t->found || strcmp(job, t->job) != 0) {
        return;
    }
    switch (ct_status_ask(dir_fd, CT_MSG_ANALYZE_ASK, 0, analyze_on_msg, t)) {
    case CT_STATUS_ASK_ANSWERED:
        t->found = true;
        break;
    case CT_STATUS_ASK_SILENT:
        t->found = t->silent = true;
        fprintf(stderr,
                "ctranrun: the daemon of job %s does not answer; the daemon is ending, or is "
                "stopped\n",
                job);
        break;
    case CT_STATUS_ASK_GONE:
        break;
    }
}

/* Gets the traces into a file. false after a message. */
static bool get_traces(const char *job, FILE *file)
{
    struct traces t = {.job = job, .file = file};
    signal(SIGPIPE, SIG_IGN);
    ct_session_each(analyze_on_session, &t);
    if (!t.found) {
        fprintf(stderr,
                "ctranrun: there is no job %s of yours on this machine (looked in %s, as TMPDIR "
                "says); ctranrun --status lists the jobs\n",
                job, ct_session_base());
    }
    if (fflush(file) != 0 || ferror(file)) {
        fprintf(stderr, "ctranrun: cannot write the traces: %s\n", strerror(errno));
        return false;
    }
    return t.found && !t.silent;
}

int ct_trace_dump_run(const char *job)
{
    return get_traces(job, stdout) ? 0 : CT_EXIT_INTERNAL;
}

/* ---- ctran_analyze --------------------------------------------------------------------------- */

/* It stands beside ctranrun where both are installed, else in the build's folder tools/analyze. */
static void exec_analyzer(void)
{
    static const char *const places[] = {"ctran_analyze", "tools/analyze/ctran_analyze",
                                         "../tools/analyze/ctran_analyze"};
    char                     self[PATH_MAX], path[PATH_MAX + 64];
    const ssize_t            n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash != NULL && i < CT_ARRAY_LEN(places); i++) {
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - self), self, places[i]);
        execl(path, "ctran_analyze", "-", (char *)NULL);
    }
    execlp("ctran_analyze", "ctran_analyze", "-", (char *)NULL);
}

static int run_analyzer(FILE *traces)
{
    rewind(traces);
    const pid_t pid = fork();
    if (pid == 0) {
        if (dup2(fileno(traces), STDIN_FILENO) == 0) {
            exec_analyzer();
        }
        fprintf(stderr, "ctranrun: cannot run ctran_analyze: %s; install it beside ctranrun\n",
                strerror(errno));
        _exit(CT_EXIT_INTERNAL);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        fprintf(stderr, "ctranrun: cannot run ctran_analyze: %s\n", strerror(errno));
        return CT_EXIT_INTERNAL;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : CT_EXIT_INTERNAL;
}

int ct_analyze_run(const char *job)
{
    FILE *traces = tmpfile();
    if (traces == NULL) {
        fprintf(stderr, "ctranrun: cannot make a temporary file: %s\n", strerror(errno));
        return CT_EXIT_INTERNAL;
    }
    int status = get_traces(job, traces) ? run_analyzer(traces) : CT_EXIT_INTERNAL;
    (void)fclose(traces);
    return status;
}
