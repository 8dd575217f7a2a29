/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations: their checks, and how they are described. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/win.h"

/* A side of an operation as the program gives it. */
struct side {
    const void      *addr;
    ctran_count_t    count;
    ctran_datatype_t type;
};

/* A call: what it is about. */
struct op_call {
    const char      *name;
    enum ct_rma_kind kind;
    int              target;
    ctran_aint_t     disp;
    ctran_win_t      win;
    struct side      origin, result, there;
    ctran_op_t       op;
    const void      *compare;
    bool             wants, signals;
    ctran_request_t *request;
    bool             asks;
};

/* ---- epochs ---------------------------------------------------------------------------------- */

int ct_check_target_slowly(struct ct_win *win, const char *call, int rank)
{
    return ct_api_raise(win->comm, CTRAN_ERR_RANK, call,
                        "the rank is %d, the window has ranks 0 to %u", rank, win->n - 1);
}

int ct_win_wrong_epoch(struct ct_win *win, const char *call, const char *why)
{
    return ct_api_raise(win->comm, CTRAN_ERR_RMA_SYNC, call, "%s", why);
}

static CT_COLD int no_epoch(struct ct_win *win, const char *call, enum ct_win_access access)
{
    return ct_win_wrong_epoch(
        win, call,
        access == CT_ACCESS_START  ? "the target is not in the group of ctran_win_start"
        : access == CT_ACCESS_LOCK ? "the target is not locked: see ctran_win_lock"
                                   : "there is no access epoch: see ctran_win_fence, "
                                     "ctran_win_start, ctran_win_lock, ctran_win_lock_all");
}

static inline int check_epoch(struct ct_win *win, const char *call, const struct ct_win_peer *peer,
                              bool asks)
{
    const enum ct_win_access access =
        (enum ct_win_access)atomic_load_explicit(&win->access, memory_order_relaxed);
    bool fine = access == CT_ACCESS_LOCK_ALL;
    if (access == CT_ACCESS_FENCE) {
        fine = true;
        if (!atomic_load_explicit(&win->issued, memory_order_relaxed)) {
            atomic_store_explicit(&win->issued, true, memory_order_relaxed);
        }
    } else if (access == CT_ACCESS_LOCK) {
        fine = atomic_load_explicit(&peer->hold, memory_order_relaxed) != CT_HOLD_NONE;
    } else if (access == CT_ACCESS_START) {
        fine = peer->started;
    }
    if (CT_UNLIKELY(fine && asks && access <= CT_ACCESS_START)) {
        return ct_win_wrong_epoch(win, call,
                                  "requests are for passive target epochs: see ctran_win_lock");
    }
    return CT_LIKELY(fine) ? CTRAN_SUCCESS : no_epoch(win, call, access);
}

/* ---- the target's memory --------------------------------------------------------------------- */

static CT_COLD int out_of_range(struct ct_win *win, const char *call, const struct op_call *c,
                                const struct ct_win_peer *peer)
{
    return c->disp < 0 && win->flavor != CTRAN_WIN_FLAVOR_DYNAMIC
               ? ct_api_raise(win->comm, CTRAN_ERR_DISP, call, "target_disp is %td, must be >= 0",
                              c->disp)
               : ct_api_raise(win->comm, CTRAN_ERR_RMA_RANGE, call,
                              "%" PRId64 " elements from displacement %td on, in units of %td, are "
                              "not within the %" PRIu64 " bytes of rank %d",
                              c->there.count, c->disp, peer->disp_unit, peer->size_bytes,
                              c->target);
}

/* Whether all of the span, placed at byte `at`, is within size bytes. */
static bool is_within(const struct ct_span *span, int64_t at, uint64_t size)
{
    const struct ct_dtype *type = span->type;
    const int64_t          last = ((int64_t)span->count - 1) * type->extent_bytes;
    int64_t                first, end;
    if (__builtin_add_overflow(at, type->true_lb_bytes + (last < 0 ? last : 0), &first) ||
        __builtin_add_overflow(
            at, type->true_lb_bytes + type->true_extent_bytes + (last > 0 ? last : 0), &end)) {
        return false;
    }
    return first >= 0 && end >= first && (uint64_t)end <= size;
}

static int place(struct ct_win *win, const struct op_call *c, const struct ct_win_peer *peer,
                 const struct ct_span *there, uint64_t *at)
{
    int64_t bytes;
    if (CT_UNLIKELY(win->flavor == CTRAN_WIN_FLAVOR_DYNAMIC)) {
        *at = (uint64_t)c->disp; /* an address: the target knows it */
        return CTRAN_SUCCESS;
    }
    if (CT_UNLIKELY(c->disp < 0 || __builtin_mul_overflow(c->disp, peer->disp_unit, &bytes) ||
                    !is_within(there, bytes, peer->size_bytes))) {
        return out_of_range(win, c->name, c, peer);
    }
    *at = (uint64_t)bytes;
    return CTRAN_SUCCESS;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static int check_side(struct ct_win *win, const char *call, const struct side *side,
                      struct ct_span *span)
{
    return ct_check_span(win->comm, call, side->addr, side->count, side->type, span);
}

static CT_COLD int unlike(struct ct_win *win, const char *call, size_t a, size_t b)
{
    return ct_api_raise(win->comm, CTRAN_ERR_COUNT, call,
                        "one side has %zu bytes of data, the other one %zu", a, b);
}

/* The element type of an update, which all its sides have. */
static int check_elems(struct ct_win *win, const struct op_call *c, struct ct_rma_args *a,
                       const struct ct_span *origin, const struct ct_span *result)
{
    const struct ct_op *op;
    int                 rc = ct_check_op_handle(win->comm, c->name, c->op, &op);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    a->elem = ct_rma_elem(a->target_type);
    const struct ct_dtype *from =
        c->op != CTRAN_NO_OP || origin->bytes > 0 ? ct_rma_elem(origin->type) : a->elem;
    const struct ct_dtype *to = c->wants ? ct_rma_elem(result->type) : a->elem;
    if (a->elem == NULL || from == NULL || to == NULL || from->scalar != a->elem->scalar ||
        to->scalar != a->elem->scalar) {
        return ct_api_raise(win->comm, CTRAN_ERR_TYPE, c->name,
                            "the datatypes are not all of one predefined type");
    }
    if (op->user != NULL || ct_op_kernel(op, a->elem) == NULL) {
        return ct_api_raise(
            win->comm, CTRAN_ERR_OP, c->name, "%s is not for windows, or not for %s",
            op->user != NULL ? "an operator of the program" : op->name, a->elem->name);
    }
    return CTRAN_SUCCESS;
}

static const struct ct_dtype *only_derived(const struct ct_dtype *type)
{
    return type->scalar == CT_SCALAR_DERIVED ? type : NULL;
}

/* Updates: their operands may be left out where nothing is brought. */
static int check_update(struct ct_win *win, const struct op_call *c, const struct ct_span *there,
                        struct ct_rma_args *a)
{
    struct ct_span origin = {.type = there->type}, result = {.type = there->type};
    const bool     brings = c->op != CTRAN_NO_OP;
    int            rc = brings ? check_side(win, c->name, &c->origin, &origin) : CTRAN_SUCCESS;
    if (rc == CTRAN_SUCCESS && c->wants) {
        rc = check_side(win, c->name, &c->result, &result);
    }
    if (rc == CTRAN_SUCCESS && there->bytes + origin.bytes + result.bytes > 0) {
        rc = check_elems(win, c, a, &origin, &result);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if ((brings && origin.bytes != there->bytes) || (c->wants && result.bytes != there->bytes)) {
        return unlike(win, c->name,
                      brings && origin.bytes != there->bytes ? origin.bytes : result.bytes,
                      there->bytes);
    }
    if (brings) {
        ct_span_describe(win->p, &origin, &a->origin);
        a->origin_type = only_derived(origin.type);
    }
    if (c->wants) {
        ct_span_describe(win->p, &result, &a->result);
        a->result_type = only_derived(result.type);
    }
    return CTRAN_SUCCESS;
}

static int check_copy(struct ct_win *win, const struct op_call *c, const struct ct_span *there,
                      struct ct_rma_args *a)
{
    struct ct_span origin;
    int            rc = check_side(win, c->name, &c->origin, &origin);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    if (CT_UNLIKELY(origin.bytes != there->bytes)) {
        return unlike(win, c->name, origin.bytes, there->bytes);
    }
    ct_span_describe(win->p, &origin, &a->origin);
    a->origin_type = only_derived(origin.type);
    return CTRAN_SUCCESS;
}

/* The scalars that MPI-4.1 sec. 12.3.4 names: integers, logical ones and bytes. */
static bool may_be_compared(const struct ct_dtype *type)
{
    return type->scalar <= CT_SCALAR_U64 || type->scalar == CT_SCALAR_BOOL ||
           type->scalar == CT_SCALAR_BYTE;
}

/* Of an operand of compare_and_swap, a copy that the processor reads, or what is given, if it reads
 * that. NULL: it cannot be copied. */
static const void *operand(struct ct_win *win, const void *at, size_t size, char *copy)
{
    struct ct_area area = {.base = (void *)(uintptr_t)at, .len_bytes = size};
    ct_area_set_memory(&area, ct_memory_of(win->p, at));
    if (CT_LIKELY(area.pieces == NULL)) {
        return at;
    }
    return ct_area_gather_all(&area, &(size_t){0}, copy, size) ? copy : NULL;
}

static int check_swap(struct ct_win *win, const struct op_call *c, const struct ct_span *there,
                      struct ct_rma_args *a)
{
    const size_t size = there->bytes;
    if (!may_be_compared(there->type)) {
        return ct_api_raise(win->comm, CTRAN_ERR_TYPE, c->name,
                            "%s is neither an integer type, a logical type nor CTRAN_BYTE",
                            there->type->name);
    }
    if (c->origin.addr == NULL || c->result.addr == NULL || c->compare == NULL) {
        return ct_api_raise(win->comm, CTRAN_ERR_BUFFER, c->name, "a buffer is NULL");
    }
    a->elem = there->type;
    a->compare = operand(win, c->compare, size, a->brought[1]);
    a->origin = (struct ct_area){
        .base = (void *)(uintptr_t)operand(win, c->origin.addr, size, a->brought[0]),
        .len_bytes = size};
    a->result = (struct ct_area){.base = (void *)(uintptr_t)c->result.addr, .len_bytes = size};
    ct_area_set_memory(&a->result, ct_memory_of(win->p, c->result.addr));
    return a->compare != NULL && a->origin.base != NULL ? CTRAN_SUCCESS
                                                        : ct_api_unreachable(win->comm, c->name);
}

/* ---- carrying out ---------------------------------------------------------------------------- */

static int null_request(struct ct_win *win, const struct op_call *c)
{
    if (!c->asks) {
        return CTRAN_SUCCESS;
    }
    struct ct_request *req = ct_api_null_request(win->p);
    if (req == NULL) {
        return ct_api_raise(win->comm, CTRAN_ERR_NO_MEM, c->name, "for a request");
    }
    ct_api_adopt(req, win->comm, NULL);
    *c->request = req;
    return CTRAN_SUCCESS;
}

static int start(struct ct_win *win, const struct op_call *c, const struct ct_rma_args *a)
{
    struct ct_request *req = NULL;
    int                rc = ct_rma_start(win, a, &req);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return ct_api_raise(win->comm, rc, c->name, "%s",
                            rc == CTRAN_ERR_NO_MEM ? "for an operation"
                                                   : "a buffer could not be read or written");
    }
    if (CT_LIKELY(!c->asks)) {
        return CTRAN_SUCCESS;
    }
    if (req != NULL) {
        *c->request = req;
        return CTRAN_SUCCESS;
    }
    return null_request(win, c);
}

/* The usual case: a block of plain memory to or from mapped memory. False: it is none. */
static inline bool copy_at_once(const struct op_call *c, const struct ct_win_peer *peer,
                                const struct ct_span *there, const struct ct_rma_args *a)
{
    if (CT_UNLIKELY(peer->at == NULL || !there->type->contiguous || a->origin.pieces != NULL ||
                    c->asks || c->signals)) {
        return false;
    }
    char *at = peer->at + a->at + there->type->true_lb_bytes;
    ct_block_copy(c->kind == CT_RMA_PUT ? at : a->origin.base,
                  c->kind == CT_RMA_PUT ? a->origin.base : at, there->bytes);
    return true;
}

static inline __attribute__((always_inline)) int carry_out(const struct op_call *c)
{
    struct ct_win     *win;
    struct ct_span     there;
    struct ct_rma_args a;
    int                rc = ct_check_win(c->name, c->win, &win);
    if (CT_LIKELY(rc == CTRAN_SUCCESS) && CT_UNLIKELY(c->asks)) {
        rc = ct_check_out(win->comm, c->name, c->request, "request");
    }
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    if (CT_UNLIKELY(c->target == CTRAN_PROC_NULL)) {
        return null_request(win, c);
    }
    rc = ct_check_target(win, c->name, c->target);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    struct ct_win_peer *peer = &win->peers[c->target];
    rc = check_epoch(win, c->name, peer, c->asks);
    if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
        rc = ct_check_count(win->comm, c->name, c->there.count, c->there.type, &there);
    }
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    a.kind = c->kind;
    a.peer = peer;
    a.at = 0;
    a.target_count = there.count;
    a.target_type = there.type;
    a.origin_type = a.result_type = NULL;
    a.origin.len_bytes = a.result.len_bytes = 0;
    a.origin.pieces = a.result.pieces = NULL;
    a.op = c->op;
    a.signals = c->signals;
    a.asks = c->asks;
    rc = c->kind <= CT_RMA_GET   ? check_copy(win, c, &there, &a)
         : c->kind == CT_RMA_ACC ? check_update(win, c, &there, &a)
                                 : check_swap(win, c, &there, &a);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    if (CT_UNLIKELY(there.bytes == 0)) {
        rc = c->signals ? ct_api_pass(win->comm, ct_win_signal(win, peer), c->name) : CTRAN_SUCCESS;
        return rc == CTRAN_SUCCESS ? null_request(win, c) : rc;
    }
    rc = place(win, c, peer, &there, &a.at);
    if (CT_LIKELY(rc == CTRAN_SUCCESS && c->kind <= CT_RMA_GET &&
                  copy_at_once(c, peer, &there, &a))) {
        return CTRAN_SUCCESS;
    }
    return CT_LIKELY(rc == CTRAN_SUCCESS) ? start(win, c, &a) : rc;
}

/* The most usual put and get, with all of its checks: elements of one type without gaps, between
 * plain memory and memory that is mapped. False: it is none, and nothing was done. A put of 8 bytes
 * takes a third of what the general way does. */
static inline __attribute__((always_inline)) bool
copy_quickly(bool is_put, const void *here, ctran_count_t count, ctran_datatype_t datatype,
             int target, ctran_aint_t disp, ctran_win_t handle)
{
    const struct ct_win   *win = ct_api_now() == CT_API_RUNNING ? ct_win_of(handle) : NULL;
    const struct ct_dtype *type = ct_dtype_get(datatype);
    size_t                 bytes, at;
    if (CT_UNLIKELY(win == NULL || (uint32_t)target >= win->n || type == NULL ||
                    !type->contiguous || !type->committed || type->true_lb_bytes != 0 ||
                    win->p->memory_of != NULL || here == NULL || here == CTRAN_IN_PLACE)) {
        return false;
    }
    const struct ct_win_peer *peer = &win->peers[target];
    const uint8_t             access = atomic_load_explicit(&win->access, memory_order_relaxed);
    const bool                held =
        access == CT_ACCESS_LOCK_ALL ||
        (access == CT_ACCESS_LOCK &&
         atomic_load_explicit(&peer->hold, memory_order_relaxed) != CT_HOLD_NONE) ||
        (access == CT_ACCESS_FENCE && atomic_load_explicit(&win->issued, memory_order_relaxed)) ||
        (access == CT_ACCESS_START && peer->started);
    if (CT_UNLIKELY(!held || peer->at == NULL || count <= 0 || disp < 0 ||
                    __builtin_mul_overflow((size_t)count, type->size_bytes, &bytes) ||
                    __builtin_mul_overflow((size_t)disp, (size_t)peer->disp_unit, &at) ||
                    at > peer->size_bytes || bytes > peer->size_bytes - at)) {
        return false;
    }
    char *there = peer->at + at;
    ct_block_copy(is_put ? there : (char *)(uintptr_t)here, is_put ? here : there, bytes);
    return true;
}

/* Those that have only some of the fields are as short as they look: compilers leave out the
 * others. */
#define THERE                                                                                      \
    .target = target_rank, .disp = target_disp, .there = {NULL, target_count, target_datatype},    \
    .win = win
#define HERE .origin = {origin_addr, origin_count, origin_datatype}

/* By themselves: what they fill in would be filled in before the usual way is tried. */
static __attribute__((noinline)) int
put_generally(const void *origin_addr, ctran_count_t origin_count, ctran_datatype_t origin_datatype,
              int target_rank, ctran_aint_t target_disp, ctran_count_t target_count,
              ctran_datatype_t target_datatype, ctran_win_t win)
{
    const struct op_call c = {.name = "ctran_put", .kind = CT_RMA_PUT, HERE, THERE};
    return carry_out(&c);
}

int ctran_put(const void *origin_addr, ctran_count_t origin_count, ctran_datatype_t origin_datatype,
              int target_rank, ctran_aint_t target_disp, ctran_count_t target_count,
              ctran_datatype_t target_datatype, ctran_win_t win)
{
    return CT_LIKELY(origin_datatype == target_datatype && origin_count == target_count &&
                     copy_quickly(true, origin_addr, origin_count, origin_datatype, target_rank,
                                  target_disp, win))
               ? CTRAN_SUCCESS
               : put_generally(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                               target_count, target_datatype, win);
}

static __attribute__((noinline)) int
get_generally(void *origin_addr, ctran_count_t origin_count, ctran_datatype_t origin_datatype,
              int target_rank, ctran_aint_t target_disp, ctran_count_t target_count,
              ctran_datatype_t target_datatype, ctran_win_t win)
{
    const struct op_call c = {.name = "ctran_get", .kind = CT_RMA_GET, HERE, THERE};
    return carry_out(&c);
}

int ctran_get(void *origin_addr, ctran_count_t origin_count, ctran_datatype_t origin_datatype,
              int target_rank, ctran_aint_t target_disp, ctran_count_t target_count,
              ctran_datatype_t target_datatype, ctran_win_t win)
{
    return CT_LIKELY(origin_datatype == target_datatype && origin_count == target_count &&
                     copy_quickly(false, origin_addr, origin_count, origin_datatype, target_rank,
                                  target_disp, win))
               ? CTRAN_SUCCESS
               : get_generally(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                               target_count, target_datatype, win);
}

int ctran_put_signal(const void *origin_addr, ctran_count_t origin_count,
                     ctran_datatype_t origin_datatype, int target_rank, ctran_aint_t target_disp,
                     ctran_count_t target_count, ctran_datatype_t target_datatype, ctran_win_t win)
{
    const struct op_call c = {
        .name = "ctran_put_signal", .kind = CT_RMA_PUT, HERE, THERE, .signals = true};
    return carry_out(&c);
}

int ctran_rput(const void *origin_addr, ctran_count_t origin_count,
               ctran_datatype_t origin_datatype, int target_rank, ctran_aint_t target_disp,
               ctran_count_t target_count, ctran_datatype_t target_datatype, ctran_win_t win,
               ctran_request_t *request)
{
    const struct op_call c = {
        .name = "ctran_rput", .kind = CT_RMA_PUT, HERE, THERE, .request = request, .asks = true};
    return carry_out(&c);
}

int ctran_rget(void *origin_addr, ctran_count_t origin_count, ctran_datatype_t origin_datatype,
               int target_rank, ctran_aint_t target_disp, ctran_count_t target_count,
               ctran_datatype_t target_datatype, ctran_win_t win, ctran_request_t *request)
{
    const struct op_call c = {
        .name = "ctran_rget", .kind = CT_RMA_GET, HERE, THERE, .request = request, .asks = true};
    return carry_out(&c);
}

int ctran_accumulate(const void *origin_addr, ctran_count_t origin_count,
                     ctran_datatype_t origin_datatype, int target_rank, ctran_aint_t target_disp,
                     ctran_count_t target_count, ctran_datatype_t target_datatype, ctran_op_t op,
                     ctran_win_t win)
{
    const struct op_call c = {
        .name = "ctran_accumulate", .kind = CT_RMA_ACC, HERE, THERE, .op = op};
    return carry_out(&c);
}

int ctran_raccumulate(const void *origin_addr, ctran_count_t origin_count,
                      ctran_datatype_t origin_datatype, int target_rank, ctran_aint_t target_disp,
                      ctran_count_t target_count, ctran_datatype_t target_datatype, ctran_op_t op,
                      ctran_win_t win, ctran_request_t *request)
{
    const struct op_call c = {.name = "ctran_raccumulate",
                              .kind = CT_RMA_ACC,
                              HERE,
                              THERE,
                              .op = op,
                              .request = request,
                              .asks = true};
    return carry_out(&c);
}

int ctran_get_accumulate(const void *origin_addr, ctran_count_t origin_count,
                         ctran_datatype_t origin_datatype, void *result_addr,
                         ctran_count_t result_count, ctran_datatype_t result_datatype,
                         int target_rank, ctran_aint_t target_disp, ctran_count_t target_count,
                         ctran_datatype_t target_datatype, ctran_op_t op, ctran_win_t win)
{
    const struct op_call c = {.name = "ctran_get_accumulate",
                              .kind = CT_RMA_ACC,
                              HERE,
                              THERE,
                              .result = {result_addr, result_count, result_datatype},
                              .wants = true,
                              .op = op};
    return carry_out(&c);
}

int ctran_rget_accumulate(const void *origin_addr, ctran_count_t origin_count,
                          ctran_datatype_t origin_datatype, void *result_addr,
                          ctran_count_t result_count, ctran_datatype_t result_datatype,
                          int target_rank, ctran_aint_t target_disp, ctran_count_t target_count,
                          ctran_datatype_t target_datatype, ctran_op_t op, ctran_win_t win,
                          ctran_request_t *request)
{
    const struct op_call c = {.name = "ctran_rget_accumulate",
                              .kind = CT_RMA_ACC,
                              HERE,
                              THERE,
                              .result = {result_addr, result_count, result_datatype},
                              .wants = true,
                              .op = op,
                              .request = request,
                              .asks = true};
    return carry_out(&c);
}

/* One element of a predefined type, or of one that operators take for a predefined one, which
 * stands for it from then on. */
static int check_predefined(const char *call, ctran_win_t handle, ctran_datatype_t *datatype)
{
    struct ct_win         *win;
    const struct ct_dtype *type;
    int                    rc = ct_check_win(call, handle, &win);
    rc = rc == CTRAN_SUCCESS ? ct_check_type(win->comm, call, *datatype, &type) : rc;
    if (CT_LIKELY(rc != CTRAN_SUCCESS || type->scalar != CT_SCALAR_DERIVED)) {
        return rc;
    }
    if (type->like == NULL) {
        return ct_api_raise(win->comm, CTRAN_ERR_TYPE, call, "%s is not a predefined datatype",
                            type->name);
    }
    *datatype = ct_dtype_handle(type->like);
    return rc;
}

int ctran_fetch_and_op(const void *origin_addr, void *result_addr, ctran_datatype_t datatype,
                       int target_rank, ctran_aint_t target_disp, ctran_op_t op, ctran_win_t win)
{
    static const char call[] = "ctran_fetch_and_op";
    const int         rc = check_predefined(call, win, &datatype);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    const struct op_call c = {.name = call,
                              .kind = CT_RMA_ACC,
                              .origin = {origin_addr, 1, datatype},
                              .result = {result_addr, 1, datatype},
                              .there = {NULL, 1, datatype},
                              .target = target_rank,
                              .disp = target_disp,
                              .win = win,
                              .wants = true,
                              .op = op};
    return carry_out(&c);
}

int ctran_compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                           ctran_datatype_t datatype, int target_rank, ctran_aint_t target_disp,
                           ctran_win_t win)
{
    static const char call[] = "ctran_compare_and_swap";
    const int         rc = check_predefined(call, win, &datatype);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    const struct op_call c = {.name = call,
                              .kind = CT_RMA_CAS,
                              .origin = {origin_addr, 1, datatype},
                              .result = {result_addr, 1, datatype},
                              .there = {NULL, 1, datatype},
                              .compare = compare_addr,
                              .target = target_rank,
                              .disp = target_disp,
                              .win = win};
    return carry_out(&c);
}
