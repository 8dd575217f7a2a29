/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange between nodes; see nodes.h. What leaders ask of the store, in this order:
 *
 *   WAIT     @places                 at a launcher's store: where its other servers are
 *   SET      @boot/kind/RANKS/BYTES  there is a node with so many ranks, whose records are so long
 *   ADD      @boot/ranks             its ranks (upper half) and itself (lower half); the sum gives
 *                                    the node its number, and tells the last one that it is that
 *   SET      @boot/host/NAME         for who looks why a start is stuck: it is complete, this TIME
 *   LIST     @boot/kind/             the last one: what the largest are, of which there are few
 *   SET      @boot/shape/TIME        ... and how many nodes, and which build it is
 *   WAIT     @boot/shape/TIME        everybody
 *   (those of pmi/oob)
 *   BARRIER  @boot/done/TIME         so that nobody closes what another still needs
 *
 * A launcher's store stays, and a job may come again when all of its processes have left: the sum
 * grows on, and TIME is how often it has been complete before. The nodes stay the same. What a host
 * has said about itself dates from its last start.
 *
 * A node's block of the gathered table has room for as many ranks as the largest node has. An entry
 * is a rank, the length of its record (0: there is none), and the record.
 */
#define CT_FOLDER "pmi"
#include "pmi/nodes.h"
#include "pmi/only.h"

#include <inttypes.h>
#include <stdlib.h>

static const char HOST[] = "@boot/host/", KIND[] = "@boot/kind/", RANKS[] = "@boot/ranks",
                  SHAPE[] = "@boot/shape/", DONE[] = "@boot/done/";
#define HOST_SAYS "%" PRIu32 " ranks, world %" PRIu32 /* the value: how many, TIME */

enum {
    ENTRY_HEAD = 8,
    MOST_ENTRY = 4096,
    VERSION_BYTES = 16,
    BLAME_MS = 3000,
    EVENTS_MS = 2000,
    LOOK_MS = 250,
    KEY_SIZE = 320,
    HOST_SAYS_SIZE = 48
};

/* boot/shape, as it travels: numbers little endian. */
struct shape {
    unsigned char nnodes[4], per_node[4], entry_bytes[4];
    char          version[VERSION_BYTES], digest[CT_DIGEST_LEN];
};

struct exchange {
    struct ct_job            *job;
    struct ct_records        *records;
    const struct ct_auth_key *key;
    uint64_t                  end_ns;
    struct ct_loop           *loop;
    struct ct_store          *store;
    struct ct_addr            reach[CT_OOB_REACH_MAX];
    uint32_t                  nreach, index, nnodes;
    uint32_t                  time, number; /* of this exchange; of the node, over all of them */
    char                      name[CT_OOB_NAME_MAX];
    bool                      by_launcher; /* the store is the launcher's */
    bool                      is_first;    /* node of this exchange */
    bool                      has_places;  /* of all servers, or an error is known */
    int                       places_status;
    const char               *keeper; /* who has the store, for messages */
    struct ct_oob_shape       shape;
    struct ct_oob_terms       terms;
    struct ct_oob_node       *node;
    bool                      gathered;
    int                       status;
};

/* ---- addresses ------------------------------------------------------------------------------- */

uint32_t ct_nodes_reach(const struct ct_job *job, struct ct_addr *reach)
{
    const struct ct_config *cfg = &job->p->cfg;
    uint32_t                found = ct_addr_reach(cfg->tcp_interfaces, cfg->node_ranks > 0, reach);
    if (found == 0) {
        ct_error(&job->p->log,
                 "host %s has no address that other hosts of job %s could reach it by "
                 "(CTRAN_TCP_INTERFACES=\"%s\"); `ip address` lists them",
                 job->host, job->id, cfg->tcp_interfaces);
    }
    return found;
}

bool ct_nodes_where_ok(const struct ct_nodes_where *where, size_t len_bytes)
{
    return len_bytes == sizeof *where && where->magic == CT_NODES_MAGIC && where->naddrs > 0 &&
           where->naddrs <= CT_OOB_REACH_MAX;
}

int ct_nodes_where_told(struct ct_nodes_where *where, const struct ct_log *log)
{
    const char *text = ct_job_told(CT_ENV_STORE);
    if (text == NULL || text[0] == '\0' || getenv(CT_ENV_KEY) == NULL) {
        return CT_AGAIN; /* there is none, or it is another job's */
    }
    *where = (struct ct_nodes_where){.magic = CT_NODES_MAGIC, .by_launcher = 1};
    where->naddrs = ct_addr_parse_list(where->addrs, text);
    if (where->naddrs == 0) {
        ct_error(log, "%s, which the launcher sets, is no list of addresses: \"%.200s\"",
                 CT_ENV_STORE, text);
        return CTRAN_ERR_BOOTSTRAP;
    }
    return CTRAN_SUCCESS;
}

/* ---- questions ------------------------------------------------------------------------------- */

static uint32_t left_ms(const struct exchange *x)
{
    uint64_t now = ct_clock_ns();
    return now < x->end_ns ? (uint32_t)((x->end_ns - now) / CT_NS_PER_MS) + 1 : 1;
}

/* The value, if it is wanted, has room for one of `cap` bytes, and is cut to that. */
static int nodes_ask(struct exchange *x, struct ct_store_request *req, uint32_t limit_ms,
                     int64_t *number, void *value, uint32_t cap, uint32_t *len)
{
    struct ct_store_reply reply;
    void                 *memory;
    req->timeout_ms = limit_ms;
    int rc = ct_store_call(x->store, req, &reply, &memory);
    if (rc == CTRAN_SUCCESS && number != NULL) {
        *number = reply.number;
    }
    if (rc == CTRAN_SUCCESS && value != NULL) {
        *len = (uint32_t)ct_min_size(reply.value.len, cap);
        memcpy(value, memory != NULL ? memory : "", *len);
    }
    free(memory);
    return rc;
}

static uint32_t longest_record(const struct exchange *x)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < x->job->nlocal; i++) {
        const void *record;
        size_t      len;
        if (ct_records_get(x->records, x->job->local_ranks[i], &record, &len) == CTRAN_SUCCESS) {
            longest = ct_max_size(longest, len);
        }
    }
    return (uint32_t)longest;
}

static void on_places(void *arg, const struct ct_store_reply *reply)
{
    struct exchange       *x = arg;
    struct ct_store_place *places = calloc(CT_STORE_SERVERS_MAX, sizeof *places);
    uint32_t               n = 0;
    x->places_status = places == NULL ? CTRAN_ERR_NO_MEM : reply->status;
    if (x->places_status == CTRAN_SUCCESS) {
        n = ct_store_places_unpack(places, reply->value.at, reply->value.len);
        x->places_status = n > 0 ? ct_store_extend(x->store, places, n) : CTRAN_ERR_BOOTSTRAP;
    }
    free(places);
    x->has_places = true;
}

static void on_nothing(void *arg, const struct ct_store_reply *reply)
{
    (void)arg, (void)reply; /* it was for people */
}

/* What needs no answer now. */
static int ask_ahead(struct exchange *x)
{
    struct ct_store_request places = {
        .op = CT_STORE_WAIT, .timeout_ms = left_ms(x), .key = ct_bytes_of(CT_STORE_PLACES)};
    return ct_store_ask(x->store, &places, on_places, x);
}

/* Says what kind of node this is. To say it twice does no harm. */
static int call_store(struct exchange *x, const struct ct_nodes_where *where)
{
    char                    kind[64], text[CT_WIRE_LIST_SIZE];
    struct ct_store_request set = {.op = CT_STORE_SET};
    struct ct_store_place   place = {.naddrs = where->naddrs};
    memcpy(place.addrs, where->addrs, where->naddrs * sizeof place.addrs[0]);
    (void)snprintf(kind, sizeof kind, "%s%08x/%08x", KIND, x->job->nlocal, longest_record(x));
    set.key = ct_bytes_of(kind);
    int rc = ct_store_open_at(&x->store, x->loop, &place, 1, x->key);
    if (rc == CTRAN_SUCCESS && x->by_launcher) {
        rc = ask_ahead(x);
    }
    do { /* a connection that is lost is made again */
        rc = rc == CTRAN_SUCCESS ? nodes_ask(x, &set, left_ms(x), NULL, NULL, 0, NULL) : rc;
    } while (rc == CTRAN_ERR_SYSTEM && ct_clock_ns() < x->end_ns);
    if (rc != CTRAN_SUCCESS && rc != CTRAN_ERR_PENDING) {
        ct_addr_format_list(where->addrs, where->naddrs, text);
        ct_error(&x->job->p->log,
                 "host %s cannot reach %s of job %s at %s: %s; is this the network between "
                 "the hosts (CTRAN_TCP_INTERFACES)?",
                 x->job->host, x->keeper, x->job->id, text, ct_error_text(rc));
    }
    return rc;
}

/* ---- the shape ------------------------------------------------------------------------------- */

/* The largest number of ranks, and the longest record. */
static int find_largest(struct exchange *x, uint32_t *ranks, uint32_t *bytes)
{
    enum { AT_A_TIME = 1000 };
    char                    last[64] = "", before[64];
    struct ct_store_reply   reply;
    struct ct_store_request list = {
        .op = CT_STORE_LIST, .number = AT_A_TIME, .key = ct_bytes_of(KIND)};
    do {
        void *memory;
        memcpy(before, last, sizeof before);
        list.timeout_ms = left_ms(x);
        list.expected = ct_bytes_of(last);
        int rc = ct_store_call(x->store, &list, &reply, &memory);
        if (rc != CTRAN_SUCCESS) {
            free(memory);
            return rc;
        }
        for (struct ct_bytes key; ct_store_next_key(&reply.value, &key);) {
            uint32_t r = 0, b = 0;
            (void)snprintf(last, sizeof last, "%.*s", (int)key.len, (const char *)key.at);
            if (sscanf(last + strlen(KIND), "%8x/%8x", &r, &b) == 2) {
                *ranks = r > *ranks ? r : *ranks;
                *bytes = b > *bytes ? b : *bytes;
            }
        }
        free(memory);
    } while (reply.found && strcmp(before, last) < 0); /* a longer key than any of ours stays cut */
    return CTRAN_SUCCESS;
}

/* The key of something that every exchange has anew. */
static struct ct_bytes nodes_key_of(const struct exchange *x, const char *name, char key[KEY_SIZE])
{
    (void)snprintf(key, KEY_SIZE, "%s%" PRIu32, name, x->time);
    return ct_bytes_of(key);
}

static int tell_shape(struct exchange *x, uint32_t nnodes)
{
    char         key[KEY_SIZE];
    uint32_t     ranks = 0, bytes = 0;
    struct shape s = {0};
    int          rc = find_largest(x, &ranks, &bytes);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_wire_put32(s.nnodes, nnodes);
    ct_wire_put32(s.per_node, ranks);
    ct_wire_put32(s.entry_bytes, (uint32_t)ct_round_up(ENTRY_HEAD + bytes, 8));
    snprintf(s.version, sizeof s.version, "%s", ct_version_string());
    memcpy(s.digest, ct_version_digest(), CT_DIGEST_LEN);
    struct ct_store_request set = {
        .op = CT_STORE_SET, .key = nodes_key_of(x, SHAPE, key), .value = {&s, sizeof s}};
    return nodes_ask(x, &set, left_ms(x), NULL, NULL, 0, NULL);
}

static int nodes_check_shape(struct exchange *x, const struct shape *s, uint32_t len)
{
    const struct ct_log *log = &x->job->p->log;
    if (len == sizeof *s && memcmp(s->digest, ct_version_digest(), CT_DIGEST_LEN) != 0) {
        ct_error(log,
                 "another host runs ctran %.15s build %.16s, host %s runs %s build %.16s: use one "
                 "build for the whole job",
                 s->version, s->digest, x->job->host, ct_version_string(), ct_version_digest());
        return CTRAN_ERR_VERSION;
    }
    x->nnodes = len == sizeof *s ? ct_wire_get32(s->nnodes) : 0;
    x->shape.per_node = ct_wire_get32(s->per_node);
    x->shape.entry_bytes = ct_wire_get32(s->entry_bytes);
    x->index = x->number - x->time * x->nnodes;
    uint64_t slots = (uint64_t)x->nnodes * x->shape.per_node;
    if (x->index >= x->nnodes || x->nnodes > x->job->size || slots < x->job->size ||
        slots > UINT32_MAX || x->shape.per_node < x->job->nlocal ||
        x->shape.entry_bytes < ENTRY_HEAD + longest_record(x) ||
        x->shape.entry_bytes > MOST_ENTRY) {
        ct_error(log, "the hosts of job %s do not agree on how many ranks they have", x->job->id);
        return CTRAN_ERR_BOOTSTRAP;
    }
    x->shape.nslots = (uint32_t)slots;
    return CTRAN_SUCCESS;
}

/* ---- hosts that do not come ------------------------------------------------------------------ */

static struct ct_bytes host_key(const char *host, char key[KEY_SIZE])
{
    (void)snprintf(key, KEY_SIZE, "%s%.255s", HOST, host);
    return ct_bytes_of(key);
}

/* Says that this host is complete. Nobody waits for that. */
static void tell_host(struct exchange *x)
{
    char                    key[KEY_SIZE], value[HOST_SAYS_SIZE];
    struct ct_store_request set = {
        .op = CT_STORE_SET, .timeout_ms = left_ms(x), .key = host_key(x->job->host, key)};
    (void)snprintf(value, sizeof value, HOST_SAYS, x->job->nlocal, x->time);
    set.value = ct_bytes_of(value);
    (void)ct_store_ask(x->store, &set, on_nothing, NULL);
}

/* Whether a host is complete, this time. */
static int ask_host(struct exchange *x, const char *host, bool *has_come)
{
    char                    key[KEY_SIZE], value[HOST_SAYS_SIZE] = "";
    uint32_t                len = 0, ranks = 0, time = 0;
    struct ct_store_request get = {.op = CT_STORE_GET, .key = host_key(host, key)};
    int                     rc = nodes_ask(x, &get, BLAME_MS, NULL, value, sizeof value - 1, &len);
    *has_come = sscanf(value, HOST_SAYS, &ranks, &time) == 2 && time == x->time;
    return rc;
}

/* The first rank on a host that has not come, as more of the message; "" where that is not to be
 * found out in time. One node does that for all. */
static void name_missing(struct exchange *x, char *text, size_t cap)
{
    struct ct_job *job = x->job;
    uint64_t       end_ns = ct_clock_ns() + BLAME_MS * CT_NS_PER_MS;
    char           host[256], before[256] = "";
    *text = '\0';
    if (!x->is_first || !x->has_places || job->ops->host_of == NULL) {
        return;
    }
    for (uint32_t id = 0; id < job->size && ct_clock_ns() < end_ns; id++) {
        bool has_come = true;
        if (!job->ops->host_of(job, id, host, sizeof host) || strcmp(host, before) == 0) {
            continue;
        }
        memcpy(before, host, sizeof before);
        if (ask_host(x, host, &has_come) != CTRAN_SUCCESS) {
            return;
        }
        if (!has_come) {
            (void)snprintf(text, cap, ", the first of them host %s with rank %" PRIu32, host, id);
            return;
        }
    }
}

/* Hosts that lack a rank say so themselves; a host without any rank cannot. */
static void blame_others(struct exchange *x)
{
    const struct ct_job    *job = x->job;
    int64_t                 sum = 0;
    struct ct_store_request add = {.op = CT_STORE_ADD, .key = ct_bytes_of(RANKS)};
    char                    missing[KEY_SIZE];
    name_missing(x, missing, sizeof missing);
    if (nodes_ask(x, &add, BLAME_MS, &sum, NULL, 0, NULL) == CTRAN_SUCCESS) {
        ct_error(&job->p->log,
                 "the ranks of job %s did not all start: host %s and others, which are complete, "
                 "have %" PRId64 " of %" PRIu32 " ranks; the other hosts have not come within "
                 "%" PRId64 " ms (CTRAN_BOOTSTRAP_TIMEOUT)%s",
                 job->id, job->host, (sum >> 32) - (int64_t)x->time * job->size, job->size,
                 job->p->cfg.bootstrap_timeout, missing);
    } else {
        ct_error(&job->p->log, "host %s has lost %s of job %s", job->host, x->keeper, job->id);
    }
}

static int agree_on_shape(struct exchange *x)
{
    int64_t                 sum = 0;
    struct shape            shape = {0};
    uint32_t                len = 0, size = x->job->size;
    char                    key[KEY_SIZE];
    struct ct_store_request add = {.op = CT_STORE_ADD, .key = ct_bytes_of(RANKS)};
    add.number = (int64_t)x->job->nlocal << 32 | 1;
    int      rc = nodes_ask(x, &add, left_ms(x), &sum, NULL, 0, NULL);
    uint32_t ranks = (uint32_t)(sum >> 32), nodes = (uint32_t)(sum & UINT32_MAX);
    x->number = nodes - 1;
    x->time = (ranks - 1) / size;
    x->is_first = ranks - x->job->nlocal == x->time * size;
    if (rc == CTRAN_SUCCESS && x->by_launcher) {
        tell_host(x);
    }
    if (rc == CTRAN_SUCCESS && ranks % size == 0) {
        rc = tell_shape(x, nodes / (x->time + 1));
    }
    if (rc == CTRAN_SUCCESS) {
        struct ct_store_request wait = {.op = CT_STORE_WAIT, .key = nodes_key_of(x, SHAPE, key)};
        rc = nodes_ask(x, &wait, left_ms(x), NULL, &shape, sizeof shape, &len);
    }
    if (rc != CTRAN_SUCCESS && rc != CTRAN_ERR_PENDING) {
        blame_others(x);
        return CTRAN_ERR_BOOTSTRAP;
    }
    return rc == CTRAN_SUCCESS ? nodes_check_shape(x, &shape, len) : rc;
}

/* What keys of nodes' addresses are shared out over. */
static int know_servers(struct exchange *x)
{
    if (!ct_loop_until(x->loop, &x->has_places)) { /* ends: the request has a deadline */
        return CTRAN_ERR_PENDING;
    }
    if (x->places_status != CTRAN_SUCCESS) {
        ct_error(&x->job->p->log, "%s of job %s does not say to host %s where its servers are: %s",
                 x->keeper, x->job->id, x->job->host, ct_error_text(x->places_status));
        return CTRAN_ERR_BOOTSTRAP;
    }
    return CTRAN_SUCCESS;
}

/* ---- the records
 * ------------------------------------------------------------------------------- */

static void nodes_on_gathered(void *arg, struct ct_oob_node *node, int status)
{
    struct exchange *x = arg;
    (void)node;
    x->gathered = true;
    x->status = status;
}

/* The records of this node's ranks, as they travel. The caller frees them. */
static unsigned char *nodes_pack(const struct exchange *x)
{
    unsigned char *all = calloc(x->shape.per_node, x->shape.entry_bytes);
    for (uint32_t i = 0; all != NULL && i < x->job->nlocal; i++) {
        unsigned char *at = all + (size_t)i * x->shape.entry_bytes;
        const void    *record;
        size_t         len;
        if (ct_records_get(x->records, x->job->local_ranks[i], &record, &len) == CTRAN_SUCCESS) {
            ct_wire_put32(at, x->job->local_ranks[i]);
            ct_wire_put32(at + 4, (uint32_t)len);
            memcpy(at + ENTRY_HEAD, record, len);
        }
    }
    return all;
}

static int nodes_unpack(const struct exchange *x, const unsigned char *table)
{
    const struct ct_oob_shape *shape = &x->shape;
    uint32_t                   n = 0, own = x->index * shape->per_node;
    int                        rc = CTRAN_SUCCESS;
    for (uint32_t i = 0; i < shape->nslots && rc == CTRAN_SUCCESS; i++) {
        const unsigned char *at = table + (size_t)i * shape->entry_bytes;
        uint32_t             rank = ct_wire_get32(at), len = ct_wire_get32(at + 4);
        if (len == 0) {
            continue;
        }
        n++;
        if (i < own || i >= own + shape->per_node) {
            rc = len <= shape->entry_bytes - ENTRY_HEAD
                     ? ct_records_bring(x->records, rank, at + ENTRY_HEAD, len)
                     : CTRAN_ERR_BOOTSTRAP;
        }
    }
    if (rc != CTRAN_SUCCESS || n != x->job->size) {
        ct_error(&x->job->p->log, "the hosts of job %s do not agree on the hosts of the ranks",
                 x->job->id);
        rc = CTRAN_ERR_BOOTSTRAP;
    }
    return rc;
}

static int nodes_gather(struct exchange *x)
{
    struct ct_addr at = ct_addr_listen_on(x->reach, x->nreach);
    size_t         block = (size_t)x->shape.per_node * x->shape.entry_bytes;
    unsigned char *records = nodes_pack(x);
    if (records == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    (void)snprintf(x->name, sizeof x->name, "records/%" PRIu32, x->time);
    x->terms = (struct ct_oob_terms){.loop = x->loop,
                                     .store = x->store,
                                     .key = x->key,
                                     .shape = x->shape,
                                     .name = x->name,
                                     .algo = ct_oob_algo(NULL, x->nnodes, block),
                                     .limit_ms = left_ms(x),
                                     .reach = x->reach,
                                     .nreach = x->nreach};
    int rc = ct_oob_node_open(&x->node, &x->terms, x->index, &at, nodes_on_gathered, x);
    if (rc == CTRAN_SUCCESS) {
        ct_oob_node_fill(x->node, records);
    }
    free(records);
    if (rc == CTRAN_SUCCESS) { /* ends: the agent has a deadline */
        rc = ct_loop_until(x->loop, &x->gathered) ? x->status : CTRAN_ERR_PENDING;
    }
    return rc;
}

/* Whoever is missing here is no loss: all that it needs is on its way. Then no process asks for
 * this node's address any more; a store that goes on does not need it either. */
static void nodes_part(struct exchange *x)
{
    char                    key[KEY_SIZE];
    struct ct_store_request all = {
        .op = CT_STORE_BARRIER, .number = x->nnodes, .key = nodes_key_of(x, DONE, key)};
    struct ct_store_request delete = {.op = CT_STORE_DELETE, .timeout_ms = BLAME_MS};
    int rc = nodes_ask(x, &all, left_ms(x), NULL, NULL, 0, NULL);
    if (rc == CTRAN_SUCCESS && x->has_places) {
        delete.key = (struct ct_bytes){key, ct_oob_key(key, x->name, x->index)};
        (void)ct_store_ask(x->store, &delete, on_nothing, NULL);
    }
}

static void nodes_on_moment(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    *(bool *)arg = true;
}

/* A process that dies is seen first by those that it was connected to: the events has a moment. */
static int await_events(struct exchange *x, int rc)
{
    struct timeval moment = ct_wire_timeval(EVENTS_MS);
    bool           over = false;
    struct event   limit;
    if (!x->job->events
             .on) { /* what is looked for, run_watching's, is looked for from time to time */
        return atomic_load(x->loop->stop->flag) ? CTRAN_ERR_PENDING : rc;
    }
    (void)evtimer_assign(&limit, x->loop->base, nodes_on_moment, &over);
    over = event_add(&limit, &moment) != 0;
    rc = ct_loop_until(x->loop, &over) ? rc : CTRAN_ERR_PENDING;
    (void)event_del(&limit);
    return rc;
}

static int nodes_run(struct exchange *x, const struct ct_nodes_where *where)
{
    int rc = call_store(x, where);
    rc = rc == CTRAN_SUCCESS ? agree_on_shape(x) : rc;
    rc = rc == CTRAN_SUCCESS && x->by_launcher ? know_servers(x) : rc;
    rc = rc == CTRAN_SUCCESS ? nodes_gather(x) : rc;
    rc = rc == CTRAN_SUCCESS ? nodes_unpack(x, ct_oob_node_table(x->node)) : rc;
    rc = rc != CTRAN_SUCCESS ? await_events(x, rc) : rc;
    if (rc != CTRAN_ERR_PENDING) { /* else all of the node hear the events */
        ct_records_complete(x->records, rc);
    }
    if (rc == CTRAN_SUCCESS) {
        ct_info(&x->job->p->log,
                "%" PRIu32 " hosts have exchanged the addresses of %" PRIu32 " ranks by %s",
                x->nnodes, x->job->size, x->terms.algo->name);
        nodes_part(x);
    }
    if (x->node != NULL) {
        ct_oob_node_close(x->node);
    }
    if (x->store != NULL) {
        ct_store_close(x->store);
    }
    return rc;
}

/* The launcher has no events: looks now and then whether a rank has ended that has no record. */
struct watch {
    struct ct_loop_stop stop;
    struct event        look;
    _Atomic bool        vain;
    uint32_t            rank;
};

static void nodes_on_look(evutil_socket_t fd, short what, void *arg)
{
    struct watch *w = arg;
    (void)fd, (void)what;
    if (!atomic_load(&w->vain) && ct_only_is_vain(&w->rank)) {
        atomic_store(&w->vain, true);
        ct_wake_signal(&w->stop.wake);
    }
}

static int run_watching(struct exchange *x, const struct ct_nodes_where *where)
{
    struct timeval each = ct_wire_timeval(LOOK_MS);
    struct watch   w = {.vain = false};
    int            rc = ct_loop_stop_init(x->loop, &w.stop, &w.vain);
    if (rc != CTRAN_SUCCESS) {
        ct_records_complete(x->records, rc);
        return rc;
    }
    (void)event_assign(&w.look, x->loop->base, -1, EV_PERSIST, nodes_on_look, &w);
    (void)event_add(&w.look, &each); /* without it the limit ends the wait */
    rc = nodes_run(x, where);
    (void)event_del(&w.look);
    if (rc == CTRAN_ERR_PENDING) {
        ct_only_tell(&x->job->p->log, x->job->id, w.rank);
        rc = CTRAN_ERR_BOOTSTRAP;
        ct_records_complete(x->records, rc);
    }
    ct_loop_stop_fini(x->loop);
    return rc;
}

/* Like run, but ends as well when an event says that waiting is useless. */
static int run_heeding(struct exchange *x, const struct ct_nodes_where *where)
{
    struct ct_job_events *events = &x->job->events;
    struct ct_loop_stop   stop;
    if (!events->on) {
        return run_watching(x, where);
    }
    int rc = ct_loop_stop_init(x->loop, &stop, &events->no_start);
    if (rc != CTRAN_SUCCESS) {
        ct_records_complete(x->records, rc);
        return rc;
    }
    struct ct_wake *before = ct_job_events_set_wake(events, &stop.wake);
    rc = nodes_run(x, where);
    (void)ct_job_events_set_wake(events, before);
    if (before != NULL) {
        ct_wake_signal(before);
    }
    ct_loop_stop_fini(x->loop);
    return rc;
}

int ct_nodes_exchange(struct ct_job *job, struct ct_records *records,
                      const struct ct_nodes_where *where, const struct ct_auth_key *key,
                      struct ct_nodes_store *own, uint64_t end_ns)
{
    struct ct_loop  loop;
    struct exchange x = {.job = job, .records = records, .key = key, .end_ns = end_ns};
    x.nreach = ct_nodes_reach(job, x.reach);
    x.by_launcher = where->by_launcher;
    x.keeper = x.by_launcher ? "the launcher's store" : "rank 0";
    int rc = x.nreach > 0 ? CTRAN_SUCCESS : CTRAN_ERR_BOOTSTRAP;
    if (rc == CTRAN_SUCCESS && own == NULL) {
        rc = ct_loop_init(&loop, &job->p->log);
    }
    if (rc != CTRAN_SUCCESS) {
        ct_records_complete(records, rc);
        return rc;
    }
    x.loop = own != NULL ? ct_nodes_store_loop(own) : &loop;
    rc = run_heeding(&x, where);
    if (own != NULL) {
        ct_nodes_store_linger(own);
    } else {
        ct_loop_fini(&loop);
    }
    return rc;
}
