/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns what the daemons report into an exit status and into lines. The first failure decides both;
 * -v prints the later ones. Used by run.c.
 */
#include "config.h"
#include "launcher/head/state.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"

/* ---- what the daemon reports ----------------------------------------------------------------- */

/* Judges the end of a rank. Returns the exit status of the failure with words for it; 0: no
 * failure. */
static int judge_exit(int wait_status, uint32_t phase, char *words, size_t cap)
{
    bool inside = phase == CT_PHASE_CONNECTED;
    words[0] = '\0';
    if (WIFSIGNALED(wait_status)) {
        int signo = WTERMSIG(wait_status);
        snprintf(words, cap, "was killed by signal %d (%s)", signo, strsignal(signo));
        return CT_EXIT_SIGNAL + signo;
    }
    int code = WEXITSTATUS(wait_status);
    if (code != 0 || inside) {
        snprintf(words, cap, "exited with status %d%s", code,
                 inside ? " without ctran_finalize" : "");
    }
    return code != 0 ? code : inside ? 1 : 0;
}

/* The job outlives the rank. One that was killed, or that ended in the midst of the others, is
 * lost; one that had left, or never came, has just failed. */
static void head_go_on_without(struct ct_head *h, bool lost, int status, const char *line)
{
    int *first = lost ? &h->lost_status : &h->left_status;
    bool is_first = *first == 0;
    h->nlost += lost;
    *first = is_first ? status : *first;
    if (lost) {
        ct_head_message(h, "%s; the job goes on without the rank", line);
    } else if (is_first || h->args->desc->verbose) {
        ct_head_message(h, "%s", line);
    }
}

void ct_head_take_exit(struct ct_head *h, struct ct_unpack *in)
{
    char     words[256], line[1024];
    uint32_t rank = ct_unpack_u32(in), pid = ct_unpack_u32(in);
    int      wait_status = (int)ct_unpack_u32(in);
    uint32_t phase = ct_unpack_u32(in);
    int      status = judge_exit(wait_status, phase, words, sizeof words);
    if (!in->bad) {
        ct_head_note_end(
            h, rank,
            &(struct ct_rank_state){
                .pid = pid, .wait_status = (uint32_t)wait_status, .phase = phase, .ended = true});
    }
    if (status == 0 || in->bad) {
        return;
    }
    snprintf(line, sizeof line, "rank %u (pid %u on host %s) %s", rank, pid, ct_head_host(h, rank),
             words);
    if (h->args->desc->recovery && !h->failed) {
        head_go_on_without(h, WIFSIGNALED(wait_status) || phase == CT_PHASE_CONNECTED, status,
                           line);
    } else if (ct_head_fail(h, status)) {
        ct_head_message(h, "%s", line);
        ct_head_ask_to_end(h, CT_TERM_GRACE_MS);
        ct_head_watch_daemon(h);
    } else if (h->args->desc->verbose) {
        ct_head_message(h, "then %s", line);
    }
}

void ct_head_take_done(struct ct_head *h)
{
    bool none_left = h->nlost == ct_jobdesc_ranks(h->args->desc);
    int  status = h->left_status != 0 ? h->left_status : none_left ? h->lost_status : 0;
    h->done = true;
    if (status != 0) {
        (void)ct_head_fail(h, status); /* a status that was decided before stands */
    }
}

void ct_head_take_abort(struct ct_head *h, struct ct_unpack *in)
{
    uint32_t    rank = ct_unpack_u32(in), pid = ct_unpack_u32(in);
    int         status = (int)ct_unpack_u32(in);
    const char *msg = ct_unpack_text(in);
    /* An exit status has eight bits, and a failure must not come out as success by their loss. */
    int code = (status & 0xff) == 0 && status != 0 ? 1 : status & 0xff;
    if (!in->bad && ct_head_fail(h, code)) {
        ct_head_message(h, "rank %u (pid %u on host %s) aborted the job with status %d%s%s", rank,
                        pid, ct_head_host(h, rank), status, *msg ? ": " : "", msg);
        ct_head_ask_to_end(h, CT_TERM_GRACE_MS);
        ct_head_watch_daemon(h);
    }
}

/* Prints the lines about ranks in order, as far as all ranks before have started. */
static void tell_started(struct ct_head *h)
{
    uint32_t n = ct_jobdesc_ranks(h->args->desc);
    while (h->ntold < n && h->started[h->ntold] != NULL) {
        ct_head_message(h, "%s", h->started[h->ntold]);
        free(h->started[h->ntold]);
        h->started[h->ntold++] = NULL;
    }
}

void ct_head_take_started(struct ct_head *h, struct ct_unpack *in)
{
    uint32_t    rank = ct_unpack_u32(in), pid = ct_unpack_u32(in);
    const char *place = ct_unpack_text(in);
    if (in->bad || rank >= ct_jobdesc_ranks(h->args->desc) || h->started == NULL) {
        in->bad = true;
        return;
    }
    if (rank >= h->ntold && h->started[rank] == NULL &&
        asprintf(&h->started[rank], "rank %u is pid %u on host %s, %s", rank, pid,
                 ct_head_host(h, rank), place) < 0) {
        h->started[rank] = strdup("");
    }
    tell_started(h);
}

void ct_head_tell_rest(struct ct_head *h)
{
    for (uint32_t n = ct_jobdesc_ranks(h->args->desc); h->started != NULL && h->ntold < n;) {
        tell_started(h);
        h->ntold += h->ntold < n; /* one that was not started */
    }
}

void ct_head_take_running(struct ct_head *h, struct ct_unpack *in)
{
    uint32_t node = ct_unpack_u32(in);
    uint64_t server = ct_unpack_u64(in), ranks = ct_unpack_u64(in);
    in->bad |= node >= h->args->desc->nnodes;
    h->server_us = server > h->server_us ? server : h->server_us;
    h->ranks_us = ranks > h->ranks_us ? ranks : h->ranks_us;
    h->nrunning++;
    if (h->nrunning == h->args->desc->nnodes && h->args->tag_number > 0) {
        ssize_t n = write(h->args->control_fd, "+", 1);
        (void)n; /* without a parent this process is killed */
    }
    if (h->nrunning == h->args->desc->nnodes && h->args->desc->verbose) {
        ct_head_message(
            h, "%u ranks started %.1f ms after ctranrun: PMIx server %.1f ms, ranks %.1f ms",
            ct_jobdesc_ranks(h->args->desc), (double)(ct_clock_ns() - h->t0) / 1e6,
            (double)h->server_us / 1e3, (double)h->ranks_us / 1e3);
        ct_head_message(h, "a debugger attaches to a rank on its host with: gdb -p PID");
    }
}

/* One line for the eyes, while the start takes long and no rank has printed anything. */
void ct_head_take_progress(struct ct_head *h, struct ct_unpack *in)
{
    uint32_t node = ct_unpack_u32(in), started = 0, ready = 0;
    uint32_t n = ct_jobdesc_ranks(h->args->desc);
    char     line[128] = "";
    in->bad |= node >= h->args->desc->nnodes;
    if (!in->bad) {
        h->nodes[node].started = ct_unpack_u32(in);
        h->nodes[node].connected = ct_unpack_u32(in);
    }
    for (uint32_t i = 0; i < h->args->desc->nnodes; i++) {
        started += h->nodes[i].started;
        ready += h->nodes[i].connected;
    }
    if (in->bad || ct_clock_ns() - h->t0 < CT_PROGRESS_AFTER_MS * CT_NS_PER_MS) {
        return;
    }
    if (started < n) {
        snprintf(line, sizeof line, "ctranrun: %u of %u ranks are started", started, n);
    } else if (ready > 0 && ready < n) {
        snprintf(line, sizeof line, "ctranrun: %u of %u ranks are ready", ready, n);
    }
    ct_output_progress(h->out, line);
}

void ct_head_take_refused(struct ct_head *h, struct ct_unpack *in)
{
    const char *prefix = ct_head_prefix(h, in);
    int         status = (int)ct_unpack_u32(in);
    const char *why = ct_unpack_text(in);
    if (ct_head_fail(h, status)) {
        ct_head_message(h, "%s%s", prefix, why);
    }
    ct_head_ask_to_end(h, 0);
    ct_head_watch_daemon(h);
}

void ct_head_take_not_kept(struct ct_head *h, struct ct_unpack *in)
{
    const char *prefix = ct_head_prefix(h, in);
    const char *why = ct_unpack_text(in);
    if (ct_head_fail(h, CT_EXIT_INTERNAL)) {
        ct_head_message(h, "%s%s", prefix, why);
        ct_head_ask_to_end(h, CT_TERM_GRACE_MS);
        ct_head_watch_daemon(h);
    }
}

void ct_head_take_job_failed(struct ct_head *h, const char *id, uint32_t rank, int status)
{
    if (h->args->desc->recovery && !h->failed) {
        ct_head_message(h, "job %s, which rank %u spawned, failed with status %d; this job goes on",
                        id, rank, status);
        h->left_status = h->left_status != 0 ? h->left_status : status;
        if (h->done) {
            (void)ct_head_fail(h, h->left_status);
        }
    } else if (ct_head_fail(h, status)) {
        ct_head_message(h,
                        "job %s, which rank %u spawned, failed with status %d; this job is ended",
                        id, rank, status);
        ct_head_ask_to_end(h, CT_TERM_GRACE_MS);
        ct_head_watch_daemon(h);
    }
}
