/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The asking side of --store-dump; see store_dump.h. A daemon of the job on this machine answers
 * this user alone, with the address of the store and the job's key. Then the servers are asked as
 * ranks ask them. Used by ctranrun.c.
 */
#include "config.h"
#include "launcher/status/store_dump.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/job/job.h"
#include "launcher/launcher.h"
#include "launcher/proc/proc.h"
#include "launcher/status/ask.h"
#include "pmi/store/store.h"

enum { LIMIT_MS = CT_STATUS_LIMIT_MS };

static const char HOSTS[] = "@boot/host/"; /* pmi/nodes.c: "2 ranks, world 0" */

struct dump {
    const char *job;  /* NULL: all */
    char      **told; /* jobs that have been shown: their other daemons would show them again */
    bool        failed, found;

    /* The answer of a daemon. */
    struct ct_auth_key    key;
    struct ct_store_place first;
    char                **hosts; /* of a job of several */
    bool                  has_key;
};

/* ---- a daemon's answer ----------------------------------------------------------------------- */

static void store_dump_on_msg(void *arg, enum ct_msg_type type, struct ct_unpack *in)
{
    struct dump *d = arg;
    if (type != CT_MSG_STORE_WHERE) {
        in->bad = true;
        return;
    }
    d->has_key = ct_auth_key_from_hex(&d->key, ct_unpack_text(in)) == CTRAN_SUCCESS;
    d->first.naddrs = ct_addr_parse_list(d->first.addrs, ct_unpack_text(in));
    for (uint32_t n = ct_unpack_u32(in); n > 0 && !in->bad; n--) {
        in->bad |= !ct_strlist_add(&d->hosts, ct_unpack_text(in));
    }
}

/* ---- the store ------------------------------------------------------------------------------- */

/* The last world of the job for which all ranks of the host have come, by the keys of the store;
 * -1: none. */
static int world_of(const char *text, const char *host)
{
    char line[320];
    int  ranks, world;
    (void)snprintf(line, sizeof line, "\n%s%.255s ", HOSTS, host);
    const char *at = strstr(text, line);
    return at != NULL && sscanf(at + strlen(line), "%d ranks, world %d", &ranks, &world) == 2
               ? world
               : -1;
}

/* The hosts whose ranks have not all come: for any world as long as no host has, later for the last
 * one that a host has come for. */
static int store_dump_show_missing(const struct dump *d, struct ct_store *store)
{
    char  *text = NULL;
    size_t len = 0;
    FILE  *f = open_memstream(&text, &len);
    int    rc = CTRAN_ERR_NO_MEM, last = 0;
    if (f != NULL) {
        (void)fputc('\n', f);
        rc = ct_store_show(store, 0, HOSTS, CT_STORE_SHOW_VALUES, LIMIT_MS, f);
        (void)fclose(f);
    }
    for (char **host = d->hosts; rc == CTRAN_SUCCESS && host != NULL && *host != NULL; host++) {
        last = world_of(text, *host) > last ? world_of(text, *host) : last;
    }
    for (char **host = d->hosts; rc == CTRAN_SUCCESS && host != NULL && *host != NULL; host++) {
        if (world_of(text, *host) < last) {
            printf("# host %s has not come: its ranks have not all called ctran_init\n", *host);
        }
    }
    free(text);
    return rc;
}

static int show_server(struct ct_store *store, uint32_t i, const struct ct_store_place *place)
{
    static const struct {
        enum ct_store_show what;
        const char        *title;
    } parts[] = {{CT_STORE_SHOW_VALUES, "holds"}, {CT_STORE_SHOW_WAITS, "is waited at"}};
    char text[CT_WIRE_LIST_SIZE];
    int  rc = CTRAN_SUCCESS;
    ct_addr_format_list(place->addrs, place->naddrs, text);
    for (size_t k = 0; k < CT_ARRAY_LEN(parts) && rc == CTRAN_SUCCESS; k++) {
        printf("# server %u, %s, %s:\n", i, text, parts[k].title);
        rc = ct_store_show(store, i, "", parts[k].what, LIMIT_MS, stdout);
    }
    (void)fflush(stdout);
    if (rc != CTRAN_SUCCESS) {
        fprintf(stderr, "ctranrun: server %u of the store, at %s: %s\n", i, text,
                ct_error_text(rc));
    }
    return rc;
}

/* Gets to know the other servers from the first one, and shows all. */
static int show_all(struct dump *d, struct ct_store *store)
{
    struct ct_store_request get = {
        .op = CT_STORE_GET, .timeout_ms = LIMIT_MS, .key = ct_bytes_of(CT_STORE_PLACES)};
    struct ct_store_reply  reply;
    void                  *value;
    struct ct_store_place *places = calloc(CT_STORE_SERVERS_MAX, sizeof *places);
    int                    rc = ct_store_call(store, &get, &reply, &value);
    uint32_t               n = 0;
    if (places != NULL && rc == CTRAN_SUCCESS) {
        n = ct_store_places_unpack(places, reply.value.at, reply.value.len);
        rc = n > 0 ? ct_store_extend(store, places, n) : CTRAN_ERR_OTHER;
    }
    if (rc == CTRAN_SUCCESS) {
        rc = store_dump_show_missing(d, store);
    }
    for (uint32_t i = 0; i < n;
         i++) { /* a server that does not answer does not hold up the others */
        int one = show_server(store, i, &places[i]);
        rc = rc == CTRAN_SUCCESS ? one : rc;
    }
    free(value);
    free(places);
    return rc;
}

static int show_store(struct dump *d)
{
    struct ct_log    log;
    struct ct_loop   loop;
    struct ct_store *store;
    ct_log_init(&log, CT_LOG_NONE, "ctranrun");
    int rc = ct_loop_init(&loop, &log);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_store_open_at(&store, &loop, &d->first, 1, &d->key);
    if (rc == CTRAN_SUCCESS) {
        rc = show_all(d, store);
        ct_store_close(store);
    }
    ct_loop_fini(&loop);
    return rc;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void show_job(struct dump *d, const char *job, enum ct_status_ask answer)
{
    int rc = CTRAN_ERR_OTHER;
    printf("# job %s\n", job);
    (void)fflush(stdout);
    if (answer != CT_STATUS_ASK_ANSWERED) {
        fprintf(
            stderr,
            "ctranrun: the daemon of job %s does not answer; the daemon is ending, or is stopped\n",
            job);
    } else if (!d->has_key || d->first.naddrs == 0) {
        fprintf(stderr,
                "ctranrun: job %s has no store: its hosts are not all ready yet, or this build is "
                "without libsodium\n",
                job);
    } else {
        rc = show_store(d);
        if (rc != CTRAN_SUCCESS) {
            fprintf(stderr, "ctranrun: the store of job %s cannot be shown whole: %s\n", job,
                    ct_error_text(rc));
        }
    }
    d->failed |= rc != CTRAN_SUCCESS;
}

static bool is_told(const struct dump *d, const char *job)
{
    for (char **s = d->told; s != NULL && *s != NULL; s++) {
        if (strcmp(*s, job) == 0) {
            return true;
        }
    }
    return false;
}

static void store_dump_on_session(void *arg, const char *job, int dir_fd)
{
    struct dump *d = arg;
    if ((d->job != NULL && strcmp(job, d->job) != 0) || is_told(d, job)) {
        return;
    }
    d->has_key = false;
    d->first.naddrs = 0;
    ct_strlist_free(d->hosts);
    d->hosts = NULL;
    enum ct_status_ask answer = ct_status_ask(dir_fd, CT_MSG_STORE_ASK, 0, store_dump_on_msg, d);
    if (answer != CT_STATUS_ASK_GONE) {
        d->found = true;
        (void)ct_strlist_add(&d->told, job);
        show_job(d, job, answer);
    }
    ct_auth_wipe(&d->key, sizeof d->key);
}

int ct_store_dump_run(const char *job)
{
    struct dump d = {.job = job};
    signal(SIGPIPE, SIG_IGN);
    ct_session_each(store_dump_on_session, &d);
    if (job != NULL && !d.found) {
        fprintf(stderr,
                "ctranrun: there is no job %s of yours on this machine (looked in %s, as TMPDIR "
                "says); ctranrun --status lists the jobs\n",
                job, ct_session_base());
    }
    ct_strlist_free(d.told);
    ct_strlist_free(d.hosts);
    return d.failed || (job != NULL && !d.found) ? CT_EXIT_INTERNAL : 0;
}
