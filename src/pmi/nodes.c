/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange between nodes; see nodes.h. What leaders ask of the store, in this order:
 *
 *   SET      boot/kind/RANKS/BYTES   there is a node with so many ranks, whose cards are so long
 *   ADD      boot/ranks              its ranks (upper half) and itself (lower half); the sum gives
 *                                    the node its number, and tells the last one that it is that
 *   LIST     boot/kind/              the last one: what the largest are, of which there are few
 *   SET      boot/shape              ... and how many nodes, and which build it is
 *   WAIT     boot/shape              everybody
 *   (those of pmi/oob)
 *   BARRIER  boot/done               so that nobody closes what another still needs
 *
 * A node's block of the gathered table has room for as many ranks as the largest node has. An entry
 * is a rank, the length of its card (0: there is none), and the card.
 */
#define CT_FOLDER "pmi"
#include "pmi/nodes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>

static const uint32_t MAGIC = 0x45524f54; /* "TORE" */
static const char     KIND[] = "boot/kind/", RANKS[] = "boot/ranks", SHAPE[] = "boot/shape",
                  DONE[] = "boot/done";

enum {
    ENTRY_HEAD = 8,
    MOST_ENTRY = 4096,
    VERSION_BYTES = 16,
    FIRST_CHOICE_MS = 500,
    MOST_ROUNDS = 4, /* of which each doubles that */
    BLAME_MS = 3000,
    LINGER_MS = 5000,
    SPARE = 256
};

struct ct_nodes_store {
    struct ct_loop          loop;
    struct ct_store_server *server;
    rlim_t                  had, raised; /* descriptors: the limit before, and now; 0: the same */
};

/* boot/shape, as it travels: numbers little endian. */
struct shape {
    unsigned char nnodes[4], per_node[4], entry_bytes[4];
    char          version[VERSION_BYTES], digest[CT_DIGEST_LEN];
};

struct exchange {
    const struct ct_job      *job;
    struct ct_cards          *cards;
    const struct ct_auth_key *key;
    uint64_t                  end_ns;
    struct ct_loop           *loop;
    struct ct_store          *store;
    struct ct_addr            reach[CT_OOB_REACH_MAX];
    uint32_t                  nreach, index, nnodes;
    struct ct_oob_shape       shape;
    struct ct_oob_terms       terms;
    struct ct_oob_node       *node;
    bool                      gathered;
    int                       status;
};

/* ---- addresses ------------------------------------------------------------------------------- */

/* Where this host is reached, IPv4 first. */
static uint32_t find_reach(const struct ct_job *job, struct ct_addr *reach)
{
    const struct ct_config *cfg = &job->p->cfg;
    struct ct_ifaddr        all[CT_IFADDR_MAX];
    int                     n = ct_ifaddr_list(cfg->tcp_interfaces, cfg->node_ranks > 0, all);
    uint32_t                found = 0;
    for (uint8_t family = 4; family <= 6; family = (uint8_t)(family + 2)) {
        for (int i = 0; i < n; i++) {
            if (all[i].family == family) {
                reach[found] = (struct ct_addr){.family = family};
                memcpy(reach[found++].ip, all[i].ip, sizeof reach->ip);
            }
        }
    }
    if (found == 0) {
        ct_error(&job->p->log,
                 "host %s has no address that other hosts of job %s could reach it by "
                 "(CTRAN_TCP_INTERFACES=\"%s\"); `ip address` lists them",
                 job->host, job->id, cfg->tcp_interfaces);
    }
    return found;
}

/* The address itself if it is the only one, else any; any of IPv6 is any of IPv4 as well. */
static struct ct_addr listen_on(const struct ct_addr *reach, uint32_t nreach)
{
    struct ct_addr any = {.family = 4};
    for (uint32_t i = 0; i < nreach; i++) {
        any.family = reach[i].family == 6 ? 6 : any.family;
    }
    return nreach == 1 ? reach[0] : any;
}

bool ct_nodes_where_ok(const struct ct_nodes_where *where, size_t len_bytes)
{
    return len_bytes == sizeof *where && where->magic == MAGIC && where->naddrs > 0 &&
           where->naddrs <= CT_OOB_REACH_MAX;
}

/* ---- rank 0's store -------------------------------------------------------------------------- */

/* Each node holds a connection to the store until all are done. The program has its limit back
 * then. */
static void raise_limit(struct ct_nodes_store *s, const struct ct_job *job)
{
    struct rlimit lim;
    rlim_t        more = job->size - job->nlocal;
    if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < lim.rlim_max) {
        s->had = lim.rlim_cur;
        s->raised = lim.rlim_max - lim.rlim_cur < more ? lim.rlim_max : lim.rlim_cur + more;
        lim.rlim_cur = s->raised;
        (void)setrlimit(RLIMIT_NOFILE, &lim); /* or the last ones wait in vain, and say so */
    }
}

static void restore_limit(const struct ct_nodes_store *s)
{
    struct rlimit lim;
    if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && s->raised > 0 && lim.rlim_cur == s->raised) {
        lim.rlim_cur = s->had;
        (void)setrlimit(RLIMIT_NOFILE, &lim);
    }
}

int ct_nodes_store_open(struct ct_nodes_store **store, const struct ct_job *job,
                        const struct ct_auth_key *key, struct ct_nodes_where *where)
{
    struct ct_nodes_store *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *where = (struct ct_nodes_where){.magic = MAGIC};
    where->naddrs = find_reach(job, where->addrs);
    int rc = where->naddrs > 0 ? ct_loop_init(&s->loop, &job->p->log) : CTRAN_ERR_BOOTSTRAP;
    if (rc != CTRAN_SUCCESS) {
        free(s);
        return rc;
    }
    struct ct_addr         at = listen_on(where->addrs, where->naddrs);
    struct ct_store_limits limits = {.connections = job->size + SPARE,
                                     .strangers = job->size + SPARE};
    rc = ct_store_server_open(&s->server, &s->loop, &at, key, &limits);
    if (rc != CTRAN_SUCCESS) {
        ct_loop_fini(&s->loop);
        free(s);
        return rc;
    }
    for (uint32_t i = 0; i < where->naddrs; i++) {
        memcpy(where->addrs[i].port, at.port, sizeof at.port);
    }
    raise_limit(s, job);
    *store = s;
    return CTRAN_SUCCESS;
}

void ct_nodes_store_close(struct ct_nodes_store *s)
{
    ct_store_server_close(s->server);
    ct_loop_fini(&s->loop);
    restore_limit(s);
    free(s);
}

static void on_moment(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
}

/* Others may not have read their last answer yet: until they have hung up, or have had a while. */
static void linger(struct ct_nodes_store *s)
{
    uint64_t              end_ns = ct_clock_ns() + LINGER_MS * CT_NS_PER_MS;
    struct timeval        moment = ct_wire_timeval(LINGER_MS);
    struct ct_store_stats stats;
    struct event          limit;
    (void)evtimer_assign(&limit, s->loop.base, on_moment, NULL);
    (void)event_add(&limit, &moment);
    ct_store_server_stats(s->server, &stats);
    while (stats.connections > stats.strangers && ct_clock_ns() < end_ns) {
        (void)event_base_loop(s->loop.base, EVLOOP_ONCE);
        ct_store_server_stats(s->server, &stats);
    }
    (void)event_del(&limit);
}

/* ---- questions ------------------------------------------------------------------------------- */

static uint32_t left_ms(const struct exchange *x)
{
    uint64_t now = ct_clock_ns();
    return now < x->end_ns ? (uint32_t)((x->end_ns - now) / CT_NS_PER_MS) + 1 : 1;
}

/* The value, if it is wanted, has room for one of `cap` bytes, and is cut to that. */
static int ask(struct exchange *x, struct ct_store_request *req, uint32_t limit_ms, int64_t *number,
               void *value, uint32_t cap, uint32_t *len)
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

static uint32_t longest_card(const struct exchange *x)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < x->job->nlocal; i++) {
        const void *card;
        size_t      len;
        if (ct_cards_get(x->cards, x->job->local_ranks[i], &card, &len) == CTRAN_SUCCESS) {
            longest = ct_max_size(longest, len);
        }
    }
    return (uint32_t)longest;
}

/* Says what kind of node this is, at the first of the store's addresses that answers. To say it
 * twice does no harm. */
static int call_store(struct exchange *x, const struct ct_nodes_where *where)
{
    char                    kind[64];
    struct ct_store_request set = {.op = CT_STORE_SET};
    uint32_t                limit_ms, i = 0;
    int                     rc;
    (void)snprintf(kind, sizeof kind, "%s%08x/%08x", KIND, x->job->nlocal, longest_card(x));
    set.key = ct_bytes_of(kind);
    do {
        rc = ct_store_open(&x->store, x->loop, &where->addrs[i++ % where->naddrs], 1, x->key);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        limit_ms = left_ms(x);
        if (where->naddrs > 1) { /* each time round more */
            uint32_t round = (uint32_t)ct_min_size((i - 1) / where->naddrs, MOST_ROUNDS);
            limit_ms = (uint32_t)ct_min_size(limit_ms, (size_t)FIRST_CHOICE_MS << round);
        }
        rc = ask(x, &set, limit_ms, NULL, NULL, 0, NULL);
        if (rc != CTRAN_SUCCESS) {
            ct_store_close(x->store);
            x->store = NULL;
        }
    } while (rc != CTRAN_SUCCESS && ct_clock_ns() < x->end_ns);
    if (rc != CTRAN_SUCCESS) {
        char text[64];
        ct_addr_format(&where->addrs[0], text, sizeof text);
        ct_error(&x->job->p->log,
                 "host %s cannot speak with rank 0 of job %s at %s%s: %s; is this the network "
                 "between the hosts (CTRAN_TCP_INTERFACES)?",
                 x->job->host, x->job->id, text,
                 where->naddrs > 1 ? " nor at its other addresses" : "", ct_error_text(rc));
    }
    return rc;
}

/* ---- the shape ------------------------------------------------------------------------------- */

/* The largest number of ranks, and the longest card. */
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

static int tell_shape(struct exchange *x, uint32_t nnodes)
{
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
        .op = CT_STORE_SET, .key = ct_bytes_of(SHAPE), .value = {&s, sizeof s}};
    return ask(x, &set, left_ms(x), NULL, NULL, 0, NULL);
}

static int check_shape(struct exchange *x, const struct shape *s, uint32_t len)
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
    uint64_t slots = (uint64_t)x->nnodes * x->shape.per_node;
    if (x->index >= x->nnodes || x->nnodes > x->job->size || slots < x->job->size ||
        slots > UINT32_MAX || x->shape.per_node < x->job->nlocal ||
        x->shape.entry_bytes < ENTRY_HEAD + longest_card(x) || x->shape.entry_bytes > MOST_ENTRY) {
        ct_error(log, "the hosts of job %s do not agree on how many ranks they have", x->job->id);
        return CTRAN_ERR_BOOTSTRAP;
    }
    x->shape.nslots = (uint32_t)slots;
    return CTRAN_SUCCESS;
}

/* Hosts that lack a rank say so themselves; one of which nobody has come cannot. */
static void blame_others(struct exchange *x)
{
    const struct ct_job    *job = x->job;
    int64_t                 sum = 0;
    struct ct_store_request add = {.op = CT_STORE_ADD, .key = ct_bytes_of(RANKS)};
    if (ask(x, &add, BLAME_MS, &sum, NULL, 0, NULL) == CTRAN_SUCCESS) {
        ct_error(&job->p->log,
                 "the ranks of job %s did not all start: host %s and others, which are complete, "
                 "have %" PRId64 " of %" PRIu32 " ranks; the other hosts have not come within "
                 "%" PRId64 " ms (CTRAN_BOOTSTRAP_TIMEOUT)",
                 job->id, job->host, sum >> 32, job->size, job->p->cfg.bootstrap_timeout);
    } else {
        ct_error(&job->p->log, "host %s has lost rank 0 of job %s", job->host, job->id);
    }
}

static int agree_on_shape(struct exchange *x)
{
    int64_t                 sum = 0;
    struct shape            shape = {0};
    uint32_t                len = 0;
    struct ct_store_request add = {.op = CT_STORE_ADD, .key = ct_bytes_of(RANKS)};
    add.number = (int64_t)x->job->nlocal << 32 | 1;
    int rc = ask(x, &add, left_ms(x), &sum, NULL, 0, NULL);
    x->index = (uint32_t)(sum & UINT32_MAX) - 1;
    if (rc == CTRAN_SUCCESS && sum >> 32 == x->job->size) {
        rc = tell_shape(x, x->index + 1);
    }
    if (rc == CTRAN_SUCCESS) {
        struct ct_store_request wait = {.op = CT_STORE_WAIT, .key = ct_bytes_of(SHAPE)};
        rc = ask(x, &wait, left_ms(x), NULL, &shape, sizeof shape, &len);
    }
    if (rc != CTRAN_SUCCESS) {
        blame_others(x);
        return CTRAN_ERR_BOOTSTRAP;
    }
    return check_shape(x, &shape, len);
}

/* ---- the cards ------------------------------------------------------------------------------- */

static void on_gathered(void *arg, struct ct_oob_node *node, int status)
{
    struct exchange *x = arg;
    (void)node;
    x->gathered = true;
    x->status = status;
}

/* The cards of this node's ranks, as they travel. The caller frees them. */
static unsigned char *pack(const struct exchange *x)
{
    unsigned char *all = calloc(x->shape.per_node, x->shape.entry_bytes);
    for (uint32_t i = 0; all != NULL && i < x->job->nlocal; i++) {
        unsigned char *at = all + (size_t)i * x->shape.entry_bytes;
        const void    *card;
        size_t         len;
        if (ct_cards_get(x->cards, x->job->local_ranks[i], &card, &len) == CTRAN_SUCCESS) {
            ct_wire_put32(at, x->job->local_ranks[i]);
            ct_wire_put32(at + 4, (uint32_t)len);
            memcpy(at + ENTRY_HEAD, card, len);
        }
    }
    return all;
}

static int unpack(const struct exchange *x, const unsigned char *table)
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
                     ? ct_cards_bring(x->cards, rank, at + ENTRY_HEAD, len)
                     : CTRAN_ERR_BOOTSTRAP;
        }
    }
    if (rc != CTRAN_SUCCESS || n != x->job->size) {
        ct_error(&x->job->p->log, "the hosts of job %s do not agree on who has which rank",
                 x->job->id);
        rc = CTRAN_ERR_BOOTSTRAP;
    }
    return rc;
}

static int gather(struct exchange *x)
{
    struct ct_addr at = listen_on(x->reach, x->nreach);
    size_t         block = (size_t)x->shape.per_node * x->shape.entry_bytes;
    unsigned char *cards = pack(x);
    if (cards == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    x->terms = (struct ct_oob_terms){.loop = x->loop,
                                     .store = x->store,
                                     .key = x->key,
                                     .shape = x->shape,
                                     .name = "cards",
                                     .algo = ct_oob_algo(NULL, x->nnodes, block),
                                     .limit_ms = left_ms(x),
                                     .reach = x->reach,
                                     .nreach = x->nreach};
    int rc = ct_oob_node_open(&x->node, &x->terms, x->index, &at, on_gathered, x);
    if (rc == CTRAN_SUCCESS) {
        ct_oob_node_fill(x->node, cards);
    }
    free(cards);
    while (rc == CTRAN_SUCCESS && !x->gathered) { /* ends: the agent has a deadline */
        (void)event_base_loop(x->loop->base, EVLOOP_ONCE);
    }
    return rc == CTRAN_SUCCESS ? x->status : rc;
}

/* Whoever is missing here is no loss: all that it needs is on its way. */
static void part(struct exchange *x)
{
    struct ct_store_request all = {
        .op = CT_STORE_BARRIER, .number = x->nnodes, .key = ct_bytes_of(DONE)};
    (void)ask(x, &all, left_ms(x), NULL, NULL, 0, NULL);
}

static int run(struct exchange *x, const struct ct_nodes_where *where)
{
    int rc = call_store(x, where);
    rc = rc == CTRAN_SUCCESS ? agree_on_shape(x) : rc;
    rc = rc == CTRAN_SUCCESS ? gather(x) : rc;
    rc = rc == CTRAN_SUCCESS ? unpack(x, ct_oob_node_table(x->node)) : rc;
    ct_cards_complete(x->cards, rc);
    if (rc == CTRAN_SUCCESS) {
        ct_info(&x->job->p->log,
                "%" PRIu32 " hosts have exchanged the addresses of %" PRIu32 " ranks by %s",
                x->nnodes, x->job->size, x->terms.algo->name);
        part(x);
    }
    if (x->node != NULL) {
        ct_oob_node_close(x->node);
    }
    if (x->store != NULL) {
        ct_store_close(x->store);
    }
    return rc;
}

int ct_nodes_exchange(const struct ct_job *job, struct ct_cards *cards,
                      const struct ct_nodes_where *where, const struct ct_auth_key *key,
                      struct ct_nodes_store *own, uint64_t end_ns)
{
    struct ct_loop  loop;
    struct exchange x = {.job = job, .cards = cards, .key = key, .end_ns = end_ns};
    x.nreach = find_reach(job, x.reach);
    int rc = x.nreach > 0 ? CTRAN_SUCCESS : CTRAN_ERR_BOOTSTRAP;
    if (rc == CTRAN_SUCCESS && own == NULL) {
        rc = ct_loop_init(&loop, &job->p->log);
    }
    if (rc != CTRAN_SUCCESS) {
        ct_cards_complete(cards, rc);
        return rc;
    }
    x.loop = own != NULL ? &own->loop : &loop;
    rc = run(&x, where);
    if (own != NULL) {
        linger(own);
    } else {
        ct_loop_fini(&loop);
    }
    return rc;
}
