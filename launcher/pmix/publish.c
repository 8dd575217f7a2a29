/* SPDX-License-Identifier: BSD-3-Clause */
/* Publish and lookup for this node's ranks; see publish.h. Used by server.c. */
#include "config.h"
#include "launcher/pmix/publish.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/base.h"
#include "launcher/family/family.h"
#include "launcher/launcher.h"
#include "launcher/pmix/shift.h"

/* A request on its way: from libpmix's thread to the main one, to the head and back, and to
 * libpmix's thread again. */
struct ask {
    struct ct_pmix_ask   on; /* its body begins with the rank */
    uint32_t             rank;
    size_t               len; /* of the body */
    pmix_op_cbfunc_t     op_done;
    pmix_lookup_cbfunc_t lookup_done;
    void                *cbdata;
    pmix_status_t        status; /* the answer to a lookup */
    pmix_pdata_t        *values;
    size_t               nvalues;
    uint32_t             taken; /* bytes of the answer, if the head counts them */
};

/* Requests of a rank that are not answered, and their bytes. */
struct load {
    _Atomic uint32_t n;
    _Atomic size_t   bytes;
    _Atomic uint32_t taken; /* bytes of answers handed over and not reported to the head yet */
};

/* libpmix's callbacks have no argument for this file's state. */
static struct {
    const struct ct_jobdesc *desc;
    struct ct_conn          *conn;
    const char              *nspace;
    ct_pmix_post_fn          post;
    struct load             *loads; /* by local rank */
    struct ct_pmix_asks      asks;  /* main thread */
} the;

bool ct_pmix_publish_init(const struct ct_jobdesc *desc, struct ct_conn *conn, const char *nspace,
                          ct_pmix_post_fn post)
{
    the.desc = desc;
    the.conn = conn;
    the.nspace = nspace;
    the.post = post;
    the.loads = calloc(desc->nodes[desc->me].ranks, sizeof *the.loads);
    ct_pmix_asks_init(&the.asks, conn, desc->me);
    return the.loads != NULL;
}

/* ---- on libpmix's thread: directives --------------------------------------------------------- */

/* The directives of a call. */
struct directives {
    uint32_t range, persist, wait, timeout_ms;
    bool     waits;
};

static pmix_status_t read_range(const pmix_info_t *info, uint32_t *range)
{
    static const struct {
        pmix_data_range_t theirs;
        uint32_t          ours;
    } rows[] = {{PMIX_RANGE_PROC_LOCAL, CT_RANGE_PROCESS}, {PMIX_RANGE_LOCAL, CT_RANGE_NODE},
                {PMIX_RANGE_NAMESPACE, CT_RANGE_NSPACE},   {PMIX_RANGE_SESSION, CT_RANGE_SESSION},
                {PMIX_RANGE_UNDEF, CT_RANGE_SESSION},      {PMIX_RANGE_GLOBAL, CT_RANGE_GLOBAL}};
    if (info->value.type != PMIX_DATA_RANGE) {
        return PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        if (rows[i].theirs == info->value.data.range) {
            *range = rows[i].ours;
            return PMIX_SUCCESS;
        }
    }
    return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t read_persistence(const pmix_info_t *info, uint32_t *persist)
{
    static const struct {
        pmix_persistence_t theirs;
        uint32_t           ours;
    } rows[] = {{PMIX_PERSIST_FIRST_READ, CT_PERSIST_FIRST_READ},
                {PMIX_PERSIST_PROC, CT_PERSIST_PROCESS},
                {PMIX_PERSIST_APP, CT_PERSIST_APP},
                {PMIX_PERSIST_SESSION, CT_PERSIST_JOB},
                {PMIX_PERSIST_INDEF, CT_PERSIST_JOB}};
    if (info->value.type != PMIX_PERSIST) {
        return PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        if (rows[i].theirs == info->value.data.persist) {
            *persist = rows[i].ours;
            return PMIX_SUCCESS;
        }
    }
    return PMIX_ERR_BAD_PARAM;
}

/* Reads a number of any integer type. Returns false if it is too large. */
static pmix_status_t pmix_publish_read_number(const pmix_info_t *info, int64_t most, uint32_t *out)
{
    pmix_status_t rc = PMIX_SUCCESS;
    int64_t       n = -1;
    if (info->value.type == PMIX_BOOL || info->value.type == PMIX_UNDEF) {
        *out = 0;
        return PMIX_SUCCESS;
    }
    PMIX_VALUE_GET_NUMBER(rc, &info->value, n, int64_t);
    if (rc != PMIX_SUCCESS || n < 0 || n > most) {
        return PMIX_ERR_BAD_PARAM;
    }
    *out = (uint32_t)n;
    return PMIX_SUCCESS;
}

static pmix_status_t read_wait(const pmix_info_t *info, struct directives *d)
{
    d->waits = info->value.type != PMIX_BOOL || info->value.data.flag;
    return pmix_publish_read_number(info, CT_DATA_KEYS_MAX, &d->wait);
}

/* Names that begin like the standard's own are no data. */
static bool is_directive(const pmix_info_t *info)
{
    return PMIX_CHECK_RESERVED_KEY(info->key) || PMIX_CHECK_KEY(info, PMIX_USERID) ||
           PMIX_CHECK_KEY(info, PMIX_GRPID);
}

/* An unknown directive is refused if the caller insists on it. */
static pmix_status_t read_directives(const pmix_info_t *info, size_t n, struct directives *d)
{
    enum { MOST_SECONDS = INT32_MAX / 1000 };
    pmix_status_t rc = PMIX_SUCCESS;
    for (size_t i = 0; i < n && rc == PMIX_SUCCESS; i++) {
        uint32_t seconds = 0;
        if (PMIX_CHECK_KEY(&info[i], PMIX_RANGE)) {
            rc = read_range(&info[i], &d->range);
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_PERSISTENCE)) {
            rc = read_persistence(&info[i], &d->persist);
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_WAIT)) {
            rc = read_wait(&info[i], d);
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_TIMEOUT)) {
            rc = pmix_publish_read_number(&info[i], MOST_SECONDS, &seconds);
            d->timeout_ms = seconds * 1000;
        } else if (is_directive(&info[i]) && PMIX_INFO_IS_REQUIRED(&info[i])) {
            rc = PMIX_ERR_NOT_SUPPORTED;
        }
    }
    return rc;
}

/* ---- on libpmix's thread: requests ----------------------------------------------------------- */

static struct load *load_of(uint32_t rank)
{
    return &the.loads[the.desc->ranks.local_of[rank]];
}

/* Only libpmix's thread adds requests, so the number can only have become smaller. */
static bool is_too_much(uint32_t rank, size_t len)
{
    struct load *load = load_of(rank);
    return atomic_load_explicit(&load->n, memory_order_relaxed) >= CT_DATA_ASKED_MAX ||
           atomic_load_explicit(&load->bytes, memory_order_relaxed) + len > CT_DATA_UNDER_WAY_MAX;
}

static void add_load(const struct ask *a)
{
    (void)atomic_fetch_add_explicit(&load_of(a->rank)->n, 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&load_of(a->rank)->bytes, a->len, memory_order_relaxed);
}

static void take_load(const struct ask *a)
{
    (void)atomic_fetch_sub_explicit(&load_of(a->rank)->n, 1, memory_order_relaxed);
    (void)atomic_fetch_sub_explicit(&load_of(a->rank)->bytes, a->len, memory_order_relaxed);
}

static bool pmix_publish_is_ours(const pmix_proc_t *proc)
{
    return PMIX_CHECK_NSPACE(proc->nspace, the.nspace) && proc->rank < ct_jobdesc_ranks(the.desc) &&
           the.desc->ranks.node_of[proc->rank] == the.desc->me;
}

static void pmix_publish_free_ask(struct ask *a)
{
    ct_pmix_ask_fini(&a->on);
    if (a->values != NULL) {
        PMIX_PDATA_FREE(a->values, a->nvalues);
    }
    free(a);
}

static pmix_status_t pmix_publish_begin(const pmix_proc_t *proc, enum ct_data_op op, uint32_t range,
                                        struct ask **out)
{
    if (!pmix_publish_is_ours(proc)) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (is_too_much(proc->rank, 0)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    struct ask *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return PMIX_ERR_NOMEM;
    }
    a->rank = proc->rank;
    a->on = (struct ct_pmix_ask){.type = CT_MSG_DATA_ASK, .body = evbuffer_new()};
    if (a->on.body == NULL) {
        pmix_publish_free_ask(a);
        return PMIX_ERR_NOMEM;
    }
    ct_pack_u32(a->on.body, a->rank);
    ct_pack_u32(a->on.body, op);
    ct_pack_u32(a->on.body, range);
    *out = a;
    return PMIX_SUCCESS;
}

static void pmix_publish_send_ask(void *arg)
{
    ct_pmix_ask_send(&the.asks, &((struct ask *)arg)->on);
}

/* Hands it to the main thread, or lets it be. */
static pmix_status_t pmix_publish_end(struct ask *a, pmix_status_t rc)
{
    a->len = evbuffer_get_length(a->on.body);
    if (rc == PMIX_SUCCESS && (a->len > CT_DATA_MESSAGE_MAX - 64 || is_too_much(a->rank, a->len))) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc == PMIX_SUCCESS) {
        add_load(a);
        rc = the.post(pmix_publish_send_ask, a);
        if (rc == PMIX_SUCCESS) {
            return rc;
        }
        take_load(a);
    }
    pmix_publish_free_ask(a);
    return rc;
}

static pmix_status_t add_key(struct evbuffer *body, const char *key)
{
    size_t len = strnlen(key, CT_DATA_KEY_MAX + 1);
    if (len == 0 || len > CT_DATA_KEY_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    ct_pack_text(body, key);
    return PMIX_SUCCESS;
}

static pmix_status_t add_keys(struct evbuffer *body, char **keys)
{
    pmix_status_t rc = PMIX_SUCCESS;
    uint32_t      n = 0;
    while (keys != NULL && keys[n] != NULL) {
        if (n++ == CT_DATA_KEYS_MAX) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    ct_pack_u32(body, n);
    for (uint32_t i = 0; i < n && rc == PMIX_SUCCESS; i++) {
        rc = add_key(body, keys[i]);
    }
    return rc;
}

/* A value as libpmix writes it down. */
static pmix_status_t add_value(struct evbuffer *body, const pmix_value_t *value)
{
    pmix_data_buffer_t b;
    PMIX_DATA_BUFFER_CONSTRUCT(&b);
    pmix_status_t rc = PMIx_Data_pack(NULL, &b, (void *)(uintptr_t)value, 1, PMIX_VALUE);
    if (rc == PMIX_SUCCESS && b.bytes_used > CT_DATA_MESSAGE_MAX) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc == PMIX_SUCCESS) {
        ct_pack_bytes(body, b.base_ptr, b.bytes_used);
    }
    PMIX_DATA_BUFFER_DESTRUCT(&b);
    return rc;
}

pmix_status_t ct_pmix_publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                              pmix_op_cbfunc_t done, void *cbdata)
{
    struct directives d = {.range = CT_RANGE_SESSION, .persist = CT_PERSIST_APP};
    struct ask       *a;
    size_t            n = 0;
    pmix_status_t     rc = read_directives(info, ninfo, &d);
    for (size_t i = 0; i < ninfo; i++) {
        n += !is_directive(&info[i]);
    }
    if (rc == PMIX_SUCCESS && (n == 0 || n > CT_DATA_KEYS_MAX)) {
        rc = n == 0 ? PMIX_ERR_BAD_PARAM : PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = rc == PMIX_SUCCESS ? pmix_publish_begin(proc, CT_DATA_PUBLISH, d.range, &a) : rc;
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    a->op_done = done;
    a->cbdata = cbdata;
    ct_pack_u32(a->on.body, d.persist);
    ct_pack_u32(a->on.body, (uint32_t)n);
    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (!is_directive(&info[i])) {
            rc = add_key(a->on.body, info[i].key);
            rc = rc == PMIX_SUCCESS ? add_value(a->on.body, &info[i].value) : rc;
        }
    }
    return pmix_publish_end(a, rc);
}

pmix_status_t ct_pmix_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                             size_t ninfo, pmix_lookup_cbfunc_t done, void *cbdata)
{
    struct directives d = {.range = CT_RANGE_SESSION};
    struct ask       *a;
    pmix_status_t     rc = read_directives(info, ninfo, &d);
    if (rc == PMIX_SUCCESS && (keys == NULL || keys[0] == NULL)) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    rc = rc == PMIX_SUCCESS ? pmix_publish_begin(proc, CT_DATA_LOOKUP, d.range, &a) : rc;
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    a->lookup_done = done;
    a->cbdata = cbdata;
    ct_pack_u32(a->on.body, d.waits && d.wait == 0 ? UINT32_MAX : d.wait); /* 0: for all */
    ct_pack_u32(a->on.body, d.timeout_ms);
    return pmix_publish_end(a, add_keys(a->on.body, keys));
}

pmix_status_t ct_pmix_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t done, void *cbdata)
{
    struct directives d = {.range = CT_RANGE_ANY};
    struct ask       *a;
    pmix_status_t     rc = read_directives(info, ninfo, &d);
    rc = rc == PMIX_SUCCESS ? pmix_publish_begin(proc, CT_DATA_UNPUBLISH, d.range, &a) : rc;
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    a->op_done = done;
    a->cbdata = cbdata;
    return pmix_publish_end(a, add_keys(a->on.body, keys));
}

/* ---- answers --------------------------------------------------------------------------------- */

static pmix_status_t pmix_publish_in_their_words(uint32_t status)
{
    static const pmix_status_t words[] = {
        [CT_DATA_OK] = PMIX_SUCCESS,
        [CT_DATA_PARTIAL] = PMIX_ERR_PARTIAL_SUCCESS,
        [CT_DATA_NOT_FOUND] = PMIX_ERR_NOT_FOUND,
        [CT_DATA_DUPLICATE] = PMIX_ERR_DUPLICATE_KEY,
        [CT_DATA_FULL] = PMIX_ERR_OUT_OF_RESOURCE,
        [CT_DATA_TIMEOUT] = PMIX_ERR_TIMEOUT,
    };
    return status < CT_ARRAY_LEN(words) ? words[status] : PMIX_ERROR;
}

/* A value as libpmix wrote it down. */
static pmix_status_t read_value(const void *bytes, size_t len, pmix_value_t *out)
{
    int32_t            one = 1;
    pmix_data_buffer_t b;
    pmix_byte_object_t raw = {.bytes = malloc(len + 1), .size = len};
    if (raw.bytes == NULL) {
        return PMIX_ERR_NOMEM;
    }
    memcpy(raw.bytes, bytes, len);
    PMIX_DATA_BUFFER_CONSTRUCT(&b);
    pmix_status_t rc = PMIx_Data_load(&b, &raw); /* then the bytes are the buffer's */
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Data_unpack(NULL, &b, out, &one, PMIX_VALUE);
    } else {
        free(raw.bytes);
    }
    PMIX_DATA_BUFFER_DESTRUCT(&b);
    return rc;
}

static pmix_status_t pmix_publish_take_value(struct ct_unpack *in, pmix_pdata_t *out)
{
    size_t      len;
    const char *key = ct_unpack_text(in); /* the macros read their arguments twice */
    const char *nspace = ct_unpack_text(in);
    pmix_rank_t rank = ct_unpack_u32(in);
    PMIX_LOAD_KEY(out->key, key);
    PMIX_LOAD_PROCID(&out->proc, *nspace != '\0' ? nspace : the.nspace, rank);
    const void *bytes = ct_unpack_bytes(in, &len);
    return in->bad ? PMIX_ERR_UNPACK_FAILURE : read_value(bytes, len, &out->value);
}

/* A value that cannot be read fails this lookup, not the job: a rank has published it. */
static void take_values(struct ask *a, struct ct_unpack *in)
{
    uint32_t n = ct_unpack_u32(in);
    in->bad |= n > CT_DATA_KEYS_MAX;
    if (!in->bad && n > 0) {
        PMIX_PDATA_CREATE(a->values, n);
        a->nvalues = a->values != NULL ? n : 0;
    }
    pmix_status_t rc = in->bad                      ? PMIX_ERR_UNPACK_FAILURE
                       : n > 0 && a->values == NULL ? PMIX_ERR_NOMEM
                                                    : PMIX_SUCCESS;
    for (uint32_t i = 0; i < n && rc == PMIX_SUCCESS; i++) {
        rc = pmix_publish_take_value(in, &a->values[i]);
    }
    a->status = rc != PMIX_SUCCESS ? rc : a->status;
}

/* The head may answer more of its lookups. */
static void send_taken(void *arg)
{
    uint32_t rank =
        ct_jobdesc_rank(the.desc, the.desc->me, (uint32_t)((struct load *)arg - the.loads));
    uint32_t len = atomic_exchange_explicit(&load_of(rank)->taken, 0, memory_order_relaxed);
    if (len > 0) {
        struct evbuffer *message = evbuffer_new();
        ct_pack_u32(message, rank);
        ct_pack_u32(message, len);
        ct_conn_send(the.conn, CT_MSG_DATA_TAKEN, message);
        evbuffer_free(message);
    }
}

/* On libpmix's thread. */
static void answer_lookup(pmix_status_t shifted, void *arg)
{
    struct ask *a = arg;
    bool        none = a->status != PMIX_SUCCESS && a->status != PMIX_ERR_PARTIAL_SUCCESS;
    (void)shifted;
    a->lookup_done(a->status, none ? NULL : a->values, none ? 0 : a->nvalues, a->cbdata);
    take_load(a);
    if (a->taken > 0) {
        struct load *load = load_of(a->rank);
        (void)atomic_fetch_add_explicit(&load->taken, a->taken, memory_order_relaxed);
        (void)the.post(send_taken, load); /* without memory, with the next */
    }
    pmix_publish_free_ask(a);
}

void ct_pmix_publish_take(struct ct_unpack *in)
{
    struct ct_pmix_ask *on = ct_pmix_ask_take(&the.asks, CT_MSG_DATA_ASK, in, NULL);
    uint32_t            status = ct_unpack_u32(in);
    if (on == NULL || in->bad) {
        in->bad = true;
        return;
    }
    struct ask *a = CT_CONTAINER_OF(on, struct ask, on);
    if (a->lookup_done != NULL) {
        size_t len = in->left > 4 ? in->left - 4 : 0; /* after the number of values */
        a->taken = len > CT_DATA_SMALL ? (uint32_t)len : 0;
        a->status = pmix_publish_in_their_words(status);
        take_values(a, in);
        ct_pmix_shift(answer_lookup, a);
        return;
    }
    take_load(a);
    a->op_done(pmix_publish_in_their_words(status), a->cbdata);
    pmix_publish_free_ask(a);
}
