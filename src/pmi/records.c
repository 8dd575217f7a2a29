/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of records; see records.h. A head, and behind it a place for each rank. A place, and
 * the table as a whole, is a gate: a word that is 0 until what stands behind it may be read, and
 * those who sleep until then. Each sleeps at the gate that it waits for, so everybody is woken
 * once.
 *
 * Used by pmix.c, and by nodes.c where there are more nodes.
 */
#define CT_FOLDER "pmi"
#include "pmi/records.h"
#include "pmi/only.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACE_BYTES = 1024, LAYOUT = 3, GRACE_MS = 10000, LOOK_MS = 250 };

static const uint32_t MAGIC = 0x43545243; /* "CRTC" */

struct gate {
    _Atomic uint32_t open; /* what it was opened with */
    struct ct_wake   wake;
};

/* Others may have written it: of another build, nothing behind the digest is known. */
struct head {
    uint32_t           magic, layout;
    char               version[16], digest[CT_DIGEST_LEN];
    uint32_t           size, nlocal;
    struct ct_auth_key key;
    bool               has_key;
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint32_t ncards;
    CT_ALIGNED(CT_CACHE_LINE) struct gate here; /* the records of this node's ranks are there */
    CT_ALIGNED(CT_CACHE_LINE) struct gate all;  /* those of all: opened with one of these */
    struct ct_log_once once;
    CT_ALIGNED(CT_CACHE_LINE) struct ct_calibration_shared calibration;
};

enum { THERE = 1, FAILED };

struct place {
    struct gate   gate; /* opened with the record's length */
    unsigned char record[PLACE_BYTES - sizeof(struct gate)];
};

_Static_assert(sizeof(struct place) == PLACE_BYTES, "no padding");

struct ct_records {
    const struct ct_job  *job;
    struct ct_job_events *events; /* NULL: there is none to heed */
    struct head          *head;
    struct place         *places; /* by rank */
    size_t                len_bytes;
    bool                  ended;      /* a rank has, before it had a record: */
    uint32_t              ended_rank; /* this one */
    int                   fd; /* locked: the name stays as long as it is open; -1: it has gone */
    char                  path[256];
};

/* ---- gates ----------------------------------------------------------------------------------- */

static void open_gate(struct gate *g, uint32_t with)
{
    atomic_store_explicit(&g->open, with, memory_order_seq_cst);
    ct_wake_signal(&g->wake);
}

static bool is_open(const struct gate *g)
{
    return atomic_load_explicit(&g->open, memory_order_seq_cst) != 0;
}

/* For how long one sleeps at most before it looks whether a rank has ended that has no record. */
static uint64_t look_again_ns(uint64_t now, uint64_t end_ns)
{
    uint64_t next = now + LOOK_MS * (uint64_t)CT_NS_PER_MS;
    return (next < end_ns ? next : end_ns) - now;
}

static bool has_ended(struct ct_records *c)
{
    c->ended = c->ended || ct_only_is_vain(&c->ended_rank);
    return c->ended;
}

/* All ranks read the word, so no announcement is taken back. `only`: the rank whose record it is
 * for, or UINT32_MAX for all. */
static bool records_await(struct ct_records *c, struct gate *g, uint32_t only, uint64_t end_ns)
{
    while (!is_open(g)) {
        uint64_t now = ct_clock_ns();
        if (now >= end_ns || (c->ended && (only == UINT32_MAX || only == c->ended_rank))) {
            return false;
        }
        ct_wake_announce(&g->wake);
        if (!is_open(g)) {
            ct_wake_sleep(&g->wake, look_again_ns(now, end_ns));
        }
        (void)(!is_open(g) && has_ended(c));
    }
    return true;
}

static bool is_vain(const struct ct_records *c)
{
    return c->events != NULL && atomic_load_explicit(&c->events->no_start, memory_order_seq_cst);
}

/* Like await, but ends as well when an event comes; the event is signalled at the gate, where all
 * look again. */
static bool await_heeding(struct ct_records *c, struct gate *g, uint64_t end_ns)
{
    if (c->events == NULL) {
        return records_await(c, g, UINT32_MAX, end_ns);
    }
    struct ct_wake *before = ct_job_events_set_wake(c->events, &g->wake);
    uint64_t        now = ct_clock_ns();
    while (!is_open(g) && !is_vain(c) && now < end_ns) {
        ct_wake_announce(&g->wake);
        if (!is_open(g) && !is_vain(c)) {
            ct_wake_sleep(&g->wake, end_ns - now);
        }
        now = ct_clock_ns();
    }
    (void)ct_job_events_set_wake(c->events, before);
    if (before != NULL) {
        ct_wake_signal(before); /* a thread may sleep there, and events came meanwhile */
    }
    return is_open(g);
}

void ct_records_heed(struct ct_records *c, struct ct_job_events *events)
{
    c->events = events;
}

static uint64_t records_deadline(const struct ct_records *c)
{
    return ct_clock_ns() + (uint64_t)c->job->p->cfg.bootstrap_timeout * CT_NS_PER_MS;
}

/* ---- the file -------------------------------------------------------------------------------- */

static size_t records_head_bytes(void)
{
    return ct_round_up(sizeof(struct head), PLACE_BYTES);
}

static int records_unusable(const struct ct_records *c, const char *what)
{
    const int why = errno;
    ct_error(&c->job->p->log,
             "cannot %s the table of addresses that the ranks of %s share, %s: %s; CTRAN_SHM_DIR "
             "has to be a folder with %zu free bytes that all of them may write",
             what, c->job->host, c->path, strerror(why), c->len_bytes);
    return why == ENOSPC || why == ENOMEM ? CTRAN_ERR_NO_MEM : CTRAN_ERR_SYSTEM;
}

static int records_find_or_make(struct ct_records *c)
{
    static const char *const       words[] = {[CT_SHMFILE_MAKE] = "make",
                                              [CT_SHMFILE_OPEN] = "open",
                                              [CT_SHMFILE_TRUST] = "trust",
                                              [CT_SHMFILE_LOCK] = "lock"};
    struct head                    h = {.magic = MAGIC, .layout = LAYOUT};
    const struct ct_shmfile_common file = {.dir = c->job->p->cfg.shm_dir,
                                           .path = c->path,
                                           .len_bytes = c->len_bytes,
                                           .head = &h,
                                           .head_bytes = sizeof h,
                                           .nap_ns = (1 + c->job->rank % 8) * (CT_NS_PER_MS / 4),
                                           .end_ns = records_deadline(c)};
    enum ct_shmfile_step           step;
    h.size = c->job->size;
    h.nlocal = c->job->nlocal;
    snprintf(h.version, sizeof h.version, "%s", ct_version_string());
    memcpy(h.digest, ct_version_digest(), CT_DIGEST_LEN);
    c->fd = ct_shmfile_share(&file, &step);
    return c->fd >= 0 ? CTRAN_SUCCESS : records_unusable(c, words[step]);
}

static int records_check(const struct ct_records *c)
{
    const struct ct_job *job = c->job;
    struct head          h;
    struct stat          st;
    if (pread(c->fd, &h, sizeof h, 0) != (ssize_t)sizeof h || h.magic != MAGIC) {
        ct_error(&job->p->log, "%s is no table of addresses of ctran: remove it", c->path);
        return CTRAN_ERR_BOOTSTRAP;
    }
    if (h.layout != LAYOUT || memcmp(h.digest, ct_version_digest(), CT_DIGEST_LEN) != 0) {
        ct_error(&job->p->log,
                 "another rank of %s runs ctran %.15s build %.16s, this rank runs %s build %.16s: "
                 "use one build for the whole job",
                 job->host, h.version, h.digest, ct_version_string(), ct_version_digest());
        return CTRAN_ERR_VERSION;
    }
    if (h.size != job->size || h.nlocal != job->nlocal || fstat(c->fd, &st) != 0 ||
        (uint64_t)st.st_size != c->len_bytes) {
        ct_error(&job->p->log,
                 "another rank of %s knows of %" PRIu32 " ranks, %" PRIu32 " of them there, this "
                 "one of %" PRIu32 " and %" PRIu32 ": is CTRAN_NODE_RANKS the same for all?",
                 job->host, h.size, h.nlocal, job->size, job->nlocal);
        return CTRAN_ERR_BOOTSTRAP;
    }
    return CTRAN_SUCCESS;
}

static int records_map(struct ct_records *c)
{
    void *at = mmap(NULL, c->len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
    if (at == MAP_FAILED) {
        return records_unusable(c, "map");
    }
    c->head = at;
    c->places = (struct place *)((char *)at + records_head_bytes());
    return CTRAN_SUCCESS;
}

/* ---- open and close -------------------------------------------------------------------------- */

/* Behind the places there is the shared allgather, then the placement. */
static size_t placement_at(const struct ct_job *job)
{
    return ct_round_up(records_head_bytes() + (size_t)job->size * PLACE_BYTES +
                           ct_shm_allgather_bytes(job->nlocal),
                       CT_CACHE_LINE);
}

int ct_records_open(struct ct_records **records, const struct ct_job *job, uint64_t tag)
{
    struct ct_records *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    c->job = job;
    c->fd = -1;
    c->len_bytes = placement_at(job) + job->nlocal * sizeof(struct ct_placement_core);
    int n = snprintf(c->path, sizeof c->path, "%s/" CT_SHMFILE_PREFIX "%s-records-%016" PRIx64,
                     job->p->cfg.shm_dir, job->id, tag * 1099511628211u ^ job->local_group);
    int rc = CTRAN_ERR_CONFIG;
    if (n >= (int)sizeof c->path) {
        ct_error(&job->p->log, "CTRAN_SHM_DIR=\"%s\" is too long", job->p->cfg.shm_dir);
    } else if ((rc = records_find_or_make(c)) == CTRAN_SUCCESS &&
               (rc = records_check(c)) == CTRAN_SUCCESS) {
        rc = records_map(c);
    }
    if (rc != CTRAN_SUCCESS) {
        ct_records_close(c);
        return rc;
    }
    *records = c;
    return CTRAN_SUCCESS;
}

void ct_records_close(struct ct_records *c)
{
    if (c->fd >= 0) {
        (void)ct_shmfile_remove_left(c->fd, c->path); /* there is nobody else, or they keep it */
        close(c->fd);
    }
    if (c->head != NULL) {
        munmap(c->head, c->len_bytes);
    }
    free(c);
}

/* ---- records
 * ----------------------------------------------------------------------------------- */

int ct_records_put(struct ct_records *c, const void *record, size_t len_bytes)
{
    struct place *mine = &c->places[c->job->rank];
    if (len_bytes == 0 || len_bytes > sizeof mine->record) {
        ct_error(&c->job->p->log, "this rank's address has %zu bytes, and may have %zu", len_bytes,
                 sizeof mine->record);
        return CTRAN_ERR_BOOTSTRAP;
    }
    bool again = is_open(&mine->gate); /* an earlier attempt to join has failed */
    memcpy(mine->record, record, len_bytes);
    open_gate(&mine->gate, (uint32_t)len_bytes);
    if (again) {
        return CTRAN_SUCCESS;
    }
    uint32_t n = atomic_fetch_add_explicit(&c->head->ncards, 1, memory_order_seq_cst) + 1;
    if (n == c->job->nlocal) {
        (void)unlink(c->path); /* nobody has to find it any more */
        open_gate(&c->head->here, THERE);
        if (n == c->job->size) {
            open_gate(&c->head->all, THERE);
        }
    }
    return CTRAN_SUCCESS;
}

int ct_records_bring(struct ct_records *c, uint32_t rank, const void *record, size_t len_bytes)
{
    struct place *place = rank < c->job->size ? &c->places[rank] : NULL;
    if (place == NULL || is_open(&place->gate) || len_bytes == 0 ||
        len_bytes > sizeof place->record) {
        return CTRAN_ERR_BOOTSTRAP;
    }
    memcpy(place->record, record, len_bytes);
    open_gate(&place->gate, (uint32_t)len_bytes);
    return CTRAN_SUCCESS;
}

void ct_records_complete(struct ct_records *c, int status)
{
    open_gate(&c->head->all, status == CTRAN_SUCCESS ? THERE : FAILED);
}

void *ct_records_allgather(const struct ct_records *c)
{
    return c->places + c->job->size;
}

struct ct_placement_core *ct_records_placement(const struct ct_records *c)
{
    return (struct ct_placement_core *)((char *)c->head + placement_at(c->job));
}

struct ct_calibration_shared *ct_records_calibration(const struct ct_records *c)
{
    return &c->head->calibration;
}

struct ct_log_once *ct_records_log_once(const struct ct_records *c)
{
    return &c->head->once;
}

bool ct_records_blame(const struct ct_records *c)
{
    const struct ct_job *job = c->job;
    uint32_t             missing = 0, first = 0;
    if (c->ended) {
        ct_only_tell(&job->p->log, job->id, c->ended_rank);
        return true;
    }
    for (uint32_t i = job->nlocal; i-- > 0;) {
        if (!is_open(&c->places[job->local_ranks[i]].gate)) {
            missing++;
            first = job->local_ranks[i];
        }
    }
    if (missing > 0) {
        ct_error(&job->p->log,
                 "the ranks of job %s did not all start: %" PRIu32 " of %" PRIu32
                 " on host %s have not called ctran_init within %" PRId64
                 " ms (CTRAN_BOOTSTRAP_TIMEOUT), the first of them rank %" PRIu32,
                 job->id, missing, job->nlocal, job->host, job->p->cfg.bootstrap_timeout, first);
    }
    return missing > 0;
}

int ct_records_meet_here(struct ct_records *c)
{
    if (!await_heeding(c, &c->head->here, records_deadline(c))) {
        if (is_vain(c)) {
            return CTRAN_ERR_PENDING;
        }
        (void)ct_records_blame(c);
        return CTRAN_ERR_BOOTSTRAP;
    }
    return CTRAN_SUCCESS;
}

/* What is missing elsewhere the first rank of the node knows better, and has a moment to say. */
int ct_records_meet(struct ct_records *c)
{
    const struct ct_job *job = c->job;
    struct head         *h = c->head;
    uint64_t             end_ns = records_deadline(c);
    if (!await_heeding(c, &h->all, end_ns) &&
        !(!c->ended && is_open(&h->here) &&
          await_heeding(c, &h->all, end_ns + GRACE_MS * CT_NS_PER_MS))) {
        if (is_vain(c)) {
            return CTRAN_ERR_PENDING;
        }
        if (!ct_records_blame(c)) {
            ct_error(&job->p->log,
                     "rank %" PRIu32 " did not bring the addresses of the other hosts' ranks to "
                     "host %s within %" PRId64 " ms (CTRAN_BOOTSTRAP_TIMEOUT)",
                     job->local_ranks[0], job->host, job->p->cfg.bootstrap_timeout);
        }
        return CTRAN_ERR_BOOTSTRAP;
    }
    if (c->fd >= 0) {
        close(c->fd);
        c->fd = -1;
    }
    /* Whoever has failed said why. */
    return atomic_load_explicit(&c->head->all.open, memory_order_relaxed) == THERE
               ? CTRAN_SUCCESS
               : CTRAN_ERR_BOOTSTRAP;
}

int ct_records_get(struct ct_records *c, uint32_t rank, const void **record, size_t *len_bytes)
{
    struct place *place = &c->places[rank];
    if (!is_open(&place->gate) && !records_await(c, &place->gate, rank, records_deadline(c))) {
        if (c->ended) {
            ct_only_tell(&c->job->p->log, c->job->id, rank);
            return CTRAN_ERR_BOOTSTRAP;
        }
        ct_error(&c->job->p->log,
                 "rank %" PRIu32 " of job %s, on host %s, has not called ctran_init within "
                 "%" PRId64 " ms (CTRAN_BOOTSTRAP_TIMEOUT)",
                 rank, c->job->id, c->job->host, c->job->p->cfg.bootstrap_timeout);
        return CTRAN_ERR_BOOTSTRAP;
    }
    *record = place->record;
    *len_bytes = ct_min_size(atomic_load_explicit(&place->gate.open, memory_order_relaxed),
                             sizeof place->record);
    return CTRAN_SUCCESS;
}

void ct_records_put_key(struct ct_records *c, const struct ct_auth_key *key)
{
    c->head->key = *key;
    c->head->has_key = true;
}

int ct_records_get_key(struct ct_records *c, struct ct_auth_key *key)
{
    const void *record;
    size_t      len;
    int         rc = ct_records_get(c, 0, &record, &len);
    if (rc == CTRAN_SUCCESS && !c->head->has_key) {
        ct_error(&c->job->p->log,
                 "rank 0 has made no key for job %s: is it of a build without "
                 "libsodium?",
                 c->job->id);
        rc = CTRAN_ERR_BOOTSTRAP;
    }
    if (rc == CTRAN_SUCCESS) {
        *key = c->head->key;
    }
    return rc;
}
