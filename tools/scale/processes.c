/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange with a process for each rank, which ctranrun starts: as many hosts as there are
 * nodes, all of them this machine, by way of this program as the launch agent. Rank 0 has the
 * store, the first rank of a node its agent; all prove the job's key, which the launcher gave them.
 *
 * Ranks meet at a fence of the launcher's before they begin, and do not leave before all are at
 * another, while their loops run on, since others may still need them. Each prints a line of what
 * it measured, and whoever started the job adds them up. Here every rank has its own core only if
 * there are enough of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scale.h"

enum { LOOKUPS = 100, TEXT = 256 };

/* ---- a rank ---------------------------------------------------------------------------------- */

struct one {
    const struct options   *o;
    struct ct_log           log;
    struct ct_loop          loop;
    struct ct_auth_key      key;
    struct ct_oob_shape     shape;
    uint32_t                slot;
    struct ct_store_server *server; /* of rank 0 */
    struct ct_store        *store;  /* of agents, with the next two */
    struct ct_oob_terms     terms;
    struct ct_oob_node     *agent;
    struct ct_oob_rank     *rank;
    bool                    agent_done, rank_done;
    int                     status;
    uint32_t                table_pid, table_fd;
    int                     fence[2]; /* a pipe: the fence's end is another thread's */
    struct event            fence_over;
};

static int fail(const char *what, int code)
{
    fprintf(stderr, "ctran_scale: %s: %s\n", what, ct_error_text(code));
    return code;
}

static void on_agent(void *arg, struct ct_oob_node *node, int status)
{
    struct one *r = arg;
    (void)node;
    r->agent_done = true;
    r->status = r->status == CTRAN_SUCCESS ? status : r->status;
}

static void on_rank(void *arg, struct ct_oob_rank *rank, int status, uint32_t pid, uint32_t fd)
{
    struct one *r = arg;
    (void)rank;
    r->rank_done = true;
    r->table_pid = pid;
    r->table_fd = fd;
    r->status = r->status == CTRAN_SUCCESS ? status : r->status;
}

static struct ct_addr store_addr(const struct options *o)
{
    struct ct_addr a = node_addr(o, 0);
    memcpy(a.ip, (const uint8_t[4]){127, 9, 0, 1}, 4);
    return a;
}

/* What has to be there before anybody begins. */
static int prepare(struct one *r)
{
    const char *hex = getenv(CT_ENV_KEY);
    ct_log_init(&r->log, CT_LOG_WARN, "ctran_scale");
    if (hex == NULL || ct_auth_key_from_hex(&r->key, hex) != CTRAN_SUCCESS) {
        return fail("the launcher gave no key", CTRAN_ERR_BOOTSTRAP);
    }
    int rc = ct_loop_init(&r->loop, &r->log);
    if (rc == CTRAN_SUCCESS && r->slot == 0) {
        struct ct_addr a = store_addr(r->o);
        rc = ct_store_server_open(&r->server, &r->loop, &a, &r->key, NULL);
    }
    return rc;
}

static int begin(struct one *r)
{
    uint32_t       node = r->slot / r->shape.per_node, limit_ms = r->o->limit_s * 1000;
    struct ct_addr home = node_addr(r->o, node), store = store_addr(r->o);
    unsigned char  record[ENTRY_BYTES];
    int            rc = CTRAN_SUCCESS;
    r->agent_done = r->slot % r->shape.per_node != 0;
    record_make(record, r->slot, &home);
    if (!r->agent_done) {
        rc = ct_store_open(&r->store, &r->loop, &store, 1, &r->key);
        r->terms =
            (struct ct_oob_terms){.loop = &r->loop,
                                  .store = r->store,
                                  .key = &r->key,
                                  .shape = r->shape,
                                  .name = "scale",
                                  .algo = ct_oob_algo(r->o->algorithm, ct_oob_nnodes(&r->shape),
                                                      r->shape.per_node * ENTRY_BYTES),
                                  .limit_ms = limit_ms};
        if (rc == CTRAN_SUCCESS) {
            rc = ct_oob_node_open(&r->agent, &r->terms, node, &home, on_agent, r);
        }
    }
    return rc == CTRAN_SUCCESS ? ct_oob_rank_open(&r->rank, &r->loop, &home, &r->key, &r->shape,
                                                  r->slot, record, limit_ms, on_rank, r)
                               : rc;
}

/* Any rank can find any other in its node's table. */
static int look_up(struct one *r)
{
    const void *table;
    int         rc = ct_oob_map(&r->log, &r->shape, r->table_pid, r->table_fd, &table);
    for (uint32_t i = 0; rc == CTRAN_SUCCESS && i < LOOKUPS; i++) {
        uint32_t             slot = ct_loop_random(&r->loop, r->shape.nslots);
        struct ct_addr       home = node_addr(r->o, slot / r->shape.per_node);
        const unsigned char *record = (const unsigned char *)table + (size_t)slot * ENTRY_BYTES;
        rc = record_is_right(record, slot, &home) ? CTRAN_SUCCESS : CTRAN_ERR_OTHER;
    }
    return rc;
}

static void on_fence(pmix_status_t status, void *arg)
{
    const struct one *r = arg;
    char              byte = status == PMIX_SUCCESS;
    (void)!write(r->fence[1], &byte, 1);
}

static void on_fence_over(evutil_socket_t fd, short what, void *arg)
{
    struct one *r = arg;
    char        byte = 0;
    (void)what;
    if (read(fd, &byte, 1) != 1 || byte != 1) {
        r->status = CTRAN_ERR_BOOTSTRAP;
    }
    (void)event_base_loopbreak(r->loop.base);
}

/* Goes on serving until all ranks are here. */
static int wait_for_all(struct one *r)
{
    if (pipe(r->fence) != 0) {
        return CTRAN_ERR_SYSTEM;
    }
    (void)event_assign(&r->fence_over, r->loop.base, r->fence[0], EV_READ, on_fence_over, r);
    (void)event_add(&r->fence_over, NULL);
    if (PMIx_Fence_nb(NULL, 0, NULL, 0, on_fence, r) != PMIX_SUCCESS) {
        return CTRAN_ERR_BOOTSTRAP;
    }
    (void)event_base_dispatch(r->loop.base);
    return r->status;
}

/* One write, so that lines of ranks do not mix. */
static void tell(const struct one *r, uint64_t begin_ns, uint64_t end_ns,
                 const struct ct_traffic_count *sent)
{
    struct rusage usage;
    char          text[TEXT];
    (void)getrusage(RUSAGE_SELF, &usage);
    int n = snprintf(text, sizeof text, "rank %u %" PRIu64 " %" PRIu64 " %ld", r->slot, begin_ns,
                     end_ns, usage.ru_maxrss);
    for (int k = 0; k < CT_TRAFFIC_KINDS; k++) {
        n += snprintf(text + n, sizeof text - (size_t)n, " %" PRIu64 " %" PRIu64, sent[k].messages,
                      sent[k].bytes);
    }
    text[n++] = '\n';
    (void)!write(STDOUT_FILENO, text, (size_t)n);
}

static int take_part(struct one *r)
{
    int rc = prepare(r);
    if (PMIx_Fence(NULL, 0, NULL, 0) != PMIX_SUCCESS || rc != CTRAN_SUCCESS) {
        return rc != CTRAN_SUCCESS ? rc : CTRAN_ERR_BOOTSTRAP;
    }
    uint64_t begin_ns = ct_clock_ns();
    rc = begin(r);
    while (rc == CTRAN_SUCCESS && !(r->agent_done && r->rank_done)) {
        (void)event_base_loop(r->loop.base, EVLOOP_ONCE);
        rc = r->status;
    }
    uint64_t end_ns = ct_clock_ns();
    rc = rc == CTRAN_SUCCESS ? look_up(r) : rc;
    rc = rc == CTRAN_SUCCESS ? wait_for_all(r) : fail("the exchange", rc);
    if (rc == CTRAN_SUCCESS) {
        tell(r, begin_ns, end_ns, r->loop.sent);
    }
    return rc;
}

int run_rank(const struct options *o, struct result *result)
{
    pmix_proc_t me;
    struct one  r = {.o = o, .shape = {o->ranks, o->per_node, ENTRY_BYTES}};
    (void)result;
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        return fail("no launcher", CTRAN_ERR_BOOTSTRAP);
    }
    r.slot = me.rank;
    int rc = take_part(&r);
    (void)PMIx_Finalize(NULL, 0);
    exit(rc == CTRAN_SUCCESS ? 0 : 1); /* its sockets go with it; whoever asked reads its line */
}

/* ---- whoever starts them --------------------------------------------------------------------- */

/* "n0:64,n1:64,n2:3" */
static char *hosts(const struct options *o, uint32_t nodes)
{
    struct ct_oob_shape shape = {o->ranks, o->per_node, ENTRY_BYTES};
    char               *text = NULL;
    size_t              len = 0;
    FILE               *f = open_memstream(&text, &len);
    for (uint32_t i = 0; f != NULL && i < nodes; i++) {
        fprintf(f, "%sn%u:%u", i > 0 ? "," : "", i,
                ct_oob_first(&shape, i + 1) - ct_oob_first(&shape, i));
    }
    return f != NULL && fclose(f) == 0 ? text : NULL;
}

/* Becomes the launcher. */
static void start(const struct options *o, const char *self, const char *list)
{
    char        agent[4200], ranks[16], per_node[16], limit[16], port[16];
    const char *argv[24] = {o->launcher, "--launch-agent", agent, "-H", list, "-n", ranks};
    const char *words[] = {self,        "--mode",  "rank",
                           "--ranks",   ranks,     "--ranks-per-node",
                           per_node,    "--limit", limit,
                           "--port",    port,      o->algorithm != NULL ? "--algorithm" : NULL,
                           o->algorithm};
    (void)snprintf(agent, sizeof agent, "%s --as-agent", self);
    (void)snprintf(ranks, sizeof ranks, "%u", o->ranks);
    (void)snprintf(per_node, sizeof per_node, "%u", o->per_node);
    (void)snprintf(limit, sizeof limit, "%u", o->limit_s);
    (void)snprintf(port, sizeof port, "%u", o->port);
    memcpy(argv + 7, words, sizeof words);
    (void)execvp(o->launcher, (char **)(uintptr_t)argv);
    fprintf(stderr, "ctran_scale: cannot start %s: %s\n", o->launcher, strerror(errno));
    _exit(1);
}

/* A rank's line; false: it is none. */
static bool take_line(const char *line, struct result *r, uint64_t *first_ns, uint64_t *last_ns)
{
    uint64_t begin_ns, end_ns, rss, v[2 * CT_TRAFFIC_KINDS];
    unsigned slot;
    int      at;
    if (sscanf(line, "rank %u %" SCNu64 " %" SCNu64 " %" SCNu64 "%n", &slot, &begin_ns, &end_ns,
               &rss, &at) != 4) {
        return false;
    }
    char *next = (char *)(uintptr_t)line + at;
    for (int k = 0; k < 2 * CT_TRAFFIC_KINDS; k++) {
        v[k] = strtoull(next, &next, 10);
    }
    for (int k = 0; k < CT_TRAFFIC_KINDS; k++) {
        r->sent[k].messages += v[2 * k];
        r->sent[k].bytes += v[2 * k + 1];
    }
    *first_ns = r->workers == 0 || begin_ns < *first_ns ? begin_ns : *first_ns;
    *last_ns = r->workers == 0 || end_ns > *last_ns ? end_ns : *last_ns;
    r->max_rss_kb = rss > r->max_rss_kb ? rss : r->max_rss_kb;
    r->workers++;
    r->lookups += LOOKUPS;
    return *next == '\n';
}

int run_processes(const struct options *o, struct result *r)
{
    char     self[4096] = "", line[TEXT];
    int      up[2], status = 1;
    uint64_t first_ns = 0, last_ns = 0;
    bool     good = true;
    r->nodes = (uint32_t)ct_div_up(o->ranks, o->per_node);
    char *list = hosts(o, r->nodes);
    if (list == NULL || readlink("/proc/self/exe", self, sizeof self - 1) <= 0 || pipe(up) != 0) {
        return fail("cannot start", CTRAN_ERR_SYSTEM);
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(up[1], STDOUT_FILENO);
        (void)close(up[0]);
        (void)close(up[1]);
        start(o, self, list);
    }
    (void)close(up[1]);
    free(list);
    FILE *in = fdopen(up[0], "r");
    while (pid > 0 && in != NULL && good && fgets(line, sizeof line, in) != NULL) {
        good = take_line(line, r, &first_ns, &last_ns);
    }
    if (pid > 0) {
        (void)waitpid(pid, &status, 0);
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    r->seconds = (double)(last_ns - first_ns) / 1e9;
    if (!good || status != 0 || r->workers != o->ranks) {
        fprintf(stderr, "ctran_scale: %u of %u ranks came through; %s ended with status %d\n",
                r->workers, o->ranks, o->launcher, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        return CTRAN_ERR_OTHER;
    }
    return CTRAN_SUCCESS;
}

int be_agent(char **argv)
{
    (void)execvp(argv[1], argv + 1); /* argv[0] is the host, which is all this machine */
    return errno == ENOENT ? 127 : 126;
}
