/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of ranks; see event.h. Used by server.c. */
#include "config.h"
#include "launcher/pmix/event.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "launcher/launcher.h"

/* An attribute that libpmix adds to an event for itself; none of its headers names it. */
static const char INTERNAL[] = "pmix.srvr.internal.notify";

/* One on its way to the head and back; on.node is that of the line of those that wait for room on
 * that way, first. */
struct ask {
    struct ct_pmix_ask on;
    size_t             bytes; /* that it counts for */
};

/* libpmix's callbacks have no argument for this file's state. */
static struct {
    const struct ct_jobdesc *desc;
    const char              *nspace;
    struct ct_conn          *conn;
    ct_pmix_post_fn          post;
    bool                     warned; /* libpmix's thread */
    struct ct_pmix_asks      asks;   /* main thread, as the next three */
    struct ct_list           waiting;
    size_t                   sent_bytes; /* of those that are on their way */
    size_t                   window;     /* the bound for these; a single event may exceed it */
    _Atomic size_t           under_way;  /* bytes of all */
} the;

void ct_pmix_event_init(const struct ct_jobdesc *desc, struct ct_conn *conn, const char *nspace,
                        ct_pmix_post_fn post)
{
    the.desc = desc;
    the.nspace = nspace;
    the.conn = conn;
    the.post = post;
    the.window = CT_EVENTS_WINDOW / desc->nnodes;
    ct_list_init(&the.waiting);
    ct_pmix_asks_init(&the.asks, conn, desc->me);
}

/* ---- on libpmix's thread --------------------------------------------------------------------- */

static void pmix_event_free_ask(struct ask *a)
{
    (void)atomic_fetch_sub_explicit(&the.under_way, a->bytes, memory_order_relaxed);
    ct_pmix_ask_fini(&a->on);
    free(a);
}

static void send_waiting(void)
{
    while (!ct_list_empty(&the.waiting)) {
        struct ask *a = CT_LIST_ENTRY(the.waiting.next, struct ask, on.node);
        if (the.sent_bytes > 0 && the.sent_bytes + a->bytes > the.window) {
            return;
        }
        ct_list_remove(&a->on.node);
        the.sent_bytes += a->bytes;
        ct_pmix_ask_send(&the.asks, &a->on);
    }
}

static void pmix_event_send_ask(void *arg)
{
    ct_list_append(&the.waiting, &((struct ask *)arg)->on.node);
    send_waiting();
}

static bool pmix_event_is_ours(const pmix_proc_t *proc)
{
    return PMIX_CHECK_NSPACE(proc->nspace, the.nspace) && proc->rank < ct_jobdesc_ranks(the.desc) &&
           the.desc->ranks.node_of[proc->rank] == the.desc->me;
}

static pmix_status_t pmix_event_pack(pmix_data_buffer_t *b, const void *what, size_t n,
                                     pmix_data_type_t type)
{
    return PMIx_Data_pack(NULL, b, (void *)(uintptr_t)what, (int32_t)n, type);
}

/* Packs the infos of an event, without those that are only for this libpmix. */
static pmix_status_t add_info(struct evbuffer *body, const pmix_info_t *info, size_t ninfo)
{
    pmix_data_buffer_t b;
    size_t             n = 0;
    for (size_t i = 0; i < ninfo; i++) {
        n += !PMIX_CHECK_KEY(&info[i], INTERNAL);
    }
    PMIX_DATA_BUFFER_CONSTRUCT(&b);
    pmix_status_t rc = pmix_event_pack(&b, &n, 1, PMIX_SIZE);
    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (!PMIX_CHECK_KEY(&info[i], INTERNAL)) {
            rc = pmix_event_pack(&b, &info[i], 1, PMIX_INFO);
        }
        rc = rc == PMIX_SUCCESS && b.bytes_used > CT_EVENT_MAX ? PMIX_ERR_OUT_OF_RESOURCE : rc;
    }
    if (rc == PMIX_SUCCESS) {
        evbuffer_add(body, b.base_ptr, b.bytes_used);
    }
    PMIX_DATA_BUFFER_DESTRUCT(&b);
    return rc;
}

static pmix_status_t write_down(struct ask *a, pmix_status_t code, pmix_rank_t rank,
                                pmix_data_range_t range, const pmix_info_t *info, size_t ninfo)
{
    struct evbuffer *body = a->on.body;
    if (body == NULL) {
        return PMIX_ERR_NOMEM;
    }
    ct_pack_u32(body, rank);
    ct_pack_u32(body, (uint32_t)code);
    ct_pack_u32(body, range);
    return add_info(body, info, ninfo);
}

/* Hands it to the main thread, unless there are too many: a rank need not wait for the answer. */
static pmix_status_t pmix_event_pass_on(struct ask *a)
{
    a->bytes = sizeof *a + evbuffer_get_length(a->on.body);
    size_t before = atomic_fetch_add_explicit(&the.under_way, a->bytes, memory_order_relaxed);
    bool   fits = before + a->bytes <= CT_EVENTS_UNDER_WAY_MAX;
    return fits ? the.post(pmix_event_send_ask, a) : PMIX_ERR_OUT_OF_RESOURCE;
}

static void send_warning(void *arg)
{
    char *text = arg;
    ct_conn_send_text(the.conn, CT_MSG_WARNING, the.desc->me, text);
    free(text);
}

/* warned once: a rank may go on telling too much */
static void pmix_event_warn(pmix_rank_t rank, pmix_status_t why)
{
    char *text;
    if (the.warned ||
        asprintf(&text,
                 "an event of rank %u does not reach other hosts: %s; at most %d KiB are passed "
                 "on, and %d MiB of a host's at a time",
                 rank, PMIx_Error_string(why), CT_EVENT_MAX >> 10,
                 CT_EVENTS_UNDER_WAY_MAX >> 20) < 0) {
        return;
    }
    the.warned = true;
    if (the.post(send_warning, text) != PMIX_SUCCESS) {
        free(text);
    }
}

/* libpmix 4.2.2 answers the rank before the host does, keeps errors to itself, and is spoilt by a
 * call of `done` afterwards. So this succeeds in any case. */
pmix_status_t ct_pmix_event_notify(pmix_status_t code, const pmix_proc_t *source,
                                   pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                                   pmix_op_cbfunc_t done, void *cbdata)
{
    (void)done, (void)cbdata;
    if (the.desc->nnodes == 1 || range == PMIX_RANGE_LOCAL || range == PMIX_RANGE_PROC_LOCAL ||
        range == PMIX_RANGE_RM || !pmix_event_is_ours(source)) {
        return PMIX_OPERATION_SUCCEEDED; /* libpmix has told all ranks that may know */
    }
    struct ask   *a = calloc(1, sizeof *a);
    pmix_status_t rc = a != NULL ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    if (rc == PMIX_SUCCESS) {
        *a = (struct ask){.on = {.type = CT_MSG_EVENT, .body = evbuffer_new()}};
        rc = write_down(a, code, source->rank, range, info, ninfo);
        rc = rc == PMIX_SUCCESS ? pmix_event_pass_on(a) : rc;
    }
    if (rc != PMIX_SUCCESS) {
        pmix_event_warn(source->rank, rc);
        if (a != NULL) {
            pmix_event_free_ask(a);
        }
    }
    return PMIX_OPERATION_SUCCEEDED;
}

/* ---- on the main thread ---------------------------------------------------------------------- */

/* Unpacks what libpmix packed on another node. The caller frees *info. */
static pmix_status_t read_info(const struct ct_unpack *in, pmix_info_t **info, size_t *ninfo)
{
    enum { LEAST_BYTES = 2 }; /* of one: its key and its type */
    int32_t            one = 1;
    size_t             n = 0;
    pmix_data_buffer_t b;
    pmix_byte_object_t raw = {.bytes = malloc(in->left + 1), .size = in->left};
    if (raw.bytes == NULL) {
        return PMIX_ERR_NOMEM;
    }
    memcpy(raw.bytes, in->at, in->left);
    PMIX_DATA_BUFFER_CONSTRUCT(&b);
    pmix_status_t rc = PMIx_Data_load(&b, &raw); /* then the bytes are the buffer's */
    if (rc != PMIX_SUCCESS) {
        free(raw.bytes);
        return rc;
    }
    rc = PMIx_Data_unpack(NULL, &b, &n, &one, PMIX_SIZE);
    rc = rc == PMIX_SUCCESS && n > in->left / LEAST_BYTES ? PMIX_ERR_UNPACK_FAILURE : rc;
    if (rc == PMIX_SUCCESS && n > 0) {
        PMIX_INFO_CREATE(*info, n);
        rc = *info != NULL ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    }
    *ninfo = rc == PMIX_SUCCESS ? n : 0;
    for (size_t i = 0; i < *ninfo && rc == PMIX_SUCCESS; i++) {
        one = 1;
        rc = PMIx_Data_unpack(NULL, &b, &(*info)[i], &one, PMIX_INFO);
    }
    PMIX_DATA_BUFFER_DESTRUCT(&b);
    return rc;
}

/* An event that cannot be read is lost, not the job: a rank has sent it. */
static void pmix_event_tell(struct ct_unpack *in)
{
    pmix_proc_t  source;
    pmix_info_t *info = NULL;
    size_t       ninfo = 0;
    pmix_rank_t  rank = ct_unpack_u32(in); /* the macro reads its arguments twice */
    int32_t      code = (int32_t)ct_unpack_u32(in);
    uint32_t     range = ct_unpack_u32(in);
    if (in->bad) {
        return;
    }
    PMIX_LOAD_PROCID(&source, the.nspace, rank);
    if (read_info(in, &info, &ninfo) == PMIX_SUCCESS) {
        (void)PMIx_Notify_event(code, &source, (pmix_data_range_t)range, info, ninfo, NULL, NULL);
    }
    if (info != NULL) {
        PMIX_INFO_FREE(info, ninfo);
    }
}

void ct_pmix_event_take(struct ct_unpack *in)
{
    (void)ct_unpack_u32(in);
    (void)ct_unpack_u32(in); /* its number there */
    pmix_event_tell(in);
}

void ct_pmix_event_passed(struct ct_unpack *in)
{
    struct ct_pmix_ask *on = ct_pmix_ask_take(&the.asks, CT_MSG_EVENT, in, NULL);
    if (on == NULL) {
        in->bad = true;
        return;
    }
    struct ask *a = CT_CONTAINER_OF(on, struct ask, on);
    the.sent_bytes -= a->bytes;
    pmix_event_free_ask(a);
    send_waiting();
}
