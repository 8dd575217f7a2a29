/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned messages: their arguments. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/api.h"

static void release(struct ct_process *p, struct ct_request *base)
{
    struct ct_comm        *comm = base->owner;
    const struct ct_dtype *type = base->type;
    (void)p;
    ct_part_destroy(base);
    ct_api_disown(comm, type);
}

/* The two ends find each other by rank and tag: there are no wildcards. */
static int check_wildcards(struct ct_comm *comm, const char *call, int peer, int tag)
{
    if (peer == CTRAN_ANY_SOURCE) {
        return ct_api_raise(comm, CTRAN_ERR_RANK, call,
                            "rank is CTRAN_ANY_SOURCE: partitioned receives name their sender");
    }
    if (tag == CTRAN_ANY_TAG) {
        return ct_api_raise(comm, CTRAN_ERR_TAG, call,
                            "tag is CTRAN_ANY_TAG: partitioned receives name their tag");
    }
    return CTRAN_SUCCESS;
}

/* partitions * count elements. */
static int check_count(struct ct_comm *comm, const char *call, int partitions, ctran_count_t count,
                       ctran_count_t *all)
{
    if (partitions < 0) {
        return ct_api_raise(comm, CTRAN_ERR_COUNT, call, "partitions is %d, must be >= 0",
                            partitions);
    }
    if (count < 0) {
        return ct_api_raise(comm, CTRAN_ERR_COUNT, call, "count is %" PRId64 ", must be >= 0",
                            count);
    }
    if (__builtin_mul_overflow(count, partitions, all)) {
        return ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                            "%d partitions of %" PRId64 " elements are more than memory can hold",
                            partitions, count);
    }
    return CTRAN_SUCCESS;
}

static int init(const char *call, const void *buf, int partitions, ctran_count_t count,
                ctran_datatype_t datatype, int peer, int tag, ctran_comm_t handle,
                ctran_info_t info, bool is_recv, ctran_request_t *request)
{
    struct ct_transfer t;
    struct ct_comm    *comm;
    ctran_count_t      all = 0;
    int                rc = ct_check_comm_for(call, handle, &comm, request, "request");
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_info(comm, call, info, &(struct ct_info *){NULL});
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_wildcards(comm, call, peer, tag);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_count(comm, call, partitions, count, &all);
    }
    if (rc == CTRAN_SUCCESS) {
        enum ct_transfer_mode mode = is_recv ? CT_TRANSFER_RECV : CT_TRANSFER_SEND;
        rc = ct_check_transfer(call, buf, all, datatype, peer, tag, handle, mode, &t);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_request *base =
        ct_part_create(comm->p, &(struct ct_part_args){.ep = t.null ? NULL : t.ep,
                                                       .key = t.key,
                                                       .is_recv = is_recv,
                                                       .area = t.area,
                                                       .partitions = (uint32_t)partitions});
    if (base == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_NO_MEM, call, "for a request of %d partitions",
                            partitions);
    }
    ct_api_adopt(base, comm, t.type);
    base->release = release;
    *request = base;
    return CTRAN_SUCCESS;
}

int ctran_psend_init(const void *buf, int partitions, ctran_count_t count,
                     ctran_datatype_t datatype, int dest, int tag, ctran_comm_t comm,
                     ctran_info_t info, ctran_request_t *request)
{
    return init("ctran_psend_init", buf, partitions, count, datatype, dest, tag, comm, info, false,
                request);
}

int ctran_precv_init(void *buf, int partitions, ctran_count_t count, ctran_datatype_t datatype,
                     int source, int tag, ctran_comm_t comm, ctran_info_t info,
                     ctran_request_t *request)
{
    return init("ctran_precv_init", buf, partitions, count, datatype, source, tag, comm, info, true,
                request);
}

/* ---- partitions of a started request --------------------------------------------------------- */

static struct ct_comm *owner(struct ct_request *base)
{
    return base->owner;
}

/* The partitioned send, or receive, behind a handle. */
static int check_part(const char *call, ctran_request_t request, bool is_recv,
                      struct ct_part **part)
{
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    bool valid = (uintptr_t)request >= 0x1000 &&
                 (uintptr_t)request % _Alignof(struct ct_request) == 0 &&
                 request->magic == CT_REQUEST_MAGIC;
    *part = valid && request != CTRAN_REQUEST_NULL ? ct_part_of(request) : NULL;
    if (*part != NULL && ct_part_is_recv(*part) == is_recv) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(ct_comm_self(p), CTRAN_ERR_REQUEST, call, "it is no partitioned %s",
                        is_recv ? "receive, as ctran_precv_init makes"
                                : "send, as ctran_psend_init makes");
}

static int check_index(const char *call, ctran_request_t request, const struct ct_part *part,
                       int partition)
{
    if (partition >= 0 && (uint32_t)partition < ct_part_count(part)) {
        return CTRAN_SUCCESS;
    }
    if (ct_part_count(part) == 0) {
        return ct_api_raise(owner(request), CTRAN_ERR_ARG, call,
                            "partition is %d, the request has none", partition);
    }
    return ct_api_raise(owner(request), CTRAN_ERR_ARG, call,
                        "partition is %d, the request has 0 to %u", partition,
                        ct_part_count(part) - 1);
}

static int check_send(const char *call, ctran_request_t request, struct ct_part **part)
{
    int rc = check_part(call, request, false, part);
    if (rc == CTRAN_SUCCESS && request->inactive) {
        rc = ct_api_raise(owner(request), CTRAN_ERR_REQUEST, call,
                          "the request has not been started: ctran_start comes first");
    }
    return rc;
}

static int ready(const char *call, ctran_request_t request, struct ct_part *part, int first,
                 const int *list, uint32_t n)
{
    uint32_t which;
    if (ct_part_ready(part, (uint32_t)first, list, n, &which) == CTRAN_SUCCESS) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(owner(request), CTRAN_ERR_ARG, call,
                        "partition %u was marked ready before, since the request was started",
                        which);
}

int ctran_pready(int partition, ctran_request_t request)
{
    static const char call[] = "ctran_pready";
    struct ct_part   *part;
    int               rc = check_send(call, request, &part);
    if (rc == CTRAN_SUCCESS) {
        rc = check_index(call, request, part, partition);
    }
    return rc == CTRAN_SUCCESS ? ready(call, request, part, partition, NULL, 1) : rc;
}

int ctran_pready_range(int partition_low, int partition_high, ctran_request_t request)
{
    static const char call[] = "ctran_pready_range";
    struct ct_part   *part;
    int               rc = check_send(call, request, &part);
    if (rc == CTRAN_SUCCESS) {
        rc = check_index(call, request, part, partition_low);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_index(call, request, part, partition_high);
    }
    if (rc == CTRAN_SUCCESS && partition_low > partition_high) {
        rc = ct_api_raise(owner(request), CTRAN_ERR_ARG, call,
                          "the range is from %d to %d: the lower comes first", partition_low,
                          partition_high);
    }
    return rc == CTRAN_SUCCESS ? ready(call, request, part, partition_low, NULL,
                                       (uint32_t)(partition_high - partition_low) + 1)
                               : rc;
}

int ctran_pready_list(int length, const int array_of_partitions[], ctran_request_t request)
{
    static const char call[] = "ctran_pready_list";
    struct ct_part   *part;
    int               rc = check_send(call, request, &part);
    if (rc == CTRAN_SUCCESS && (length < 0 || (length > 0 && array_of_partitions == NULL))) {
        rc = ct_api_raise(owner(request), CTRAN_ERR_ARG, call,
                          length < 0 ? "length is %d, must be >= 0" : "the array of %d is NULL",
                          length);
    }
    for (int i = 0; i < length && rc == CTRAN_SUCCESS; i++) {
        rc = check_index(call, request, part, array_of_partitions[i]);
    }
    return rc == CTRAN_SUCCESS
               ? ready(call, request, part, 0, array_of_partitions, (uint32_t)length)
               : rc;
}

int ctran_parrived(ctran_request_t request, int partition, int *flag)
{
    static const char call[] = "ctran_parrived";
    struct ct_part   *part;
    if (request == CTRAN_REQUEST_NULL && ct_api_enter(call) != NULL) {
        *flag = 1;
        return CTRAN_SUCCESS;
    }
    int rc = check_part(call, request, true, &part);
    if (rc == CTRAN_SUCCESS) {
        rc = check_index(call, request, part, partition);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    *flag = request->inactive || ct_part_arrived(part, (uint32_t)partition);
    if (*flag) {
        return CTRAN_SUCCESS;
    }
    ct_domain_poll_once(owner(request)->p);
    *flag = ct_part_arrived(part, (uint32_t)partition);
    /* It will not come any more: nobody shall wait for it. */
    bool failed = !*flag && ct_request_is_done(request) && request->error != CTRAN_SUCCESS;
    return failed ? ct_api_pass(owner(request), request->error, call) : CTRAN_SUCCESS;
}
