/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Updates of elements: accumulate, get_accumulate, fetch_and_op, compare_and_swap. Operands and
 * results are packed, as a message has them; elements in the target's memory lie where its
 * datatype says.
 *
 * There are two ways, of which each target has one (rma.h). Alone: the caller is the only one that
 * updates the target's memory, as its progress is, and kernels run over many elements at once.
 * Atomic: several processes do. A few elements of 1, 2, 4 or 8 bytes that are aligned to their size
 * are updated one by one by atomic instructions; their callers share the lock of updates in the
 * target's control block. What is long, or has no instruction, is updated alone: the caller has
 * that lock to itself. To share it costs a store to a line of the caller's own. In an epoch that
 * excludes all others (CTRAN_LOCK_EXCLUSIVE) a process of one thread needs nothing of this.
 */
#define CT_FOLDER "rma"
#include "rma/own.h"

const struct ct_dtype *ct_rma_scalar_type(unsigned scalar)
{
    static const ctran_datatype_t types[CT_SCALAR_COUNT] = {
        [CT_SCALAR_I8] = CTRAN_INT8_T,
        [CT_SCALAR_U8] = CTRAN_UINT8_T,
        [CT_SCALAR_I16] = CTRAN_INT16_T,
        [CT_SCALAR_U16] = CTRAN_UINT16_T,
        [CT_SCALAR_I32] = CTRAN_INT32_T,
        [CT_SCALAR_U32] = CTRAN_UINT32_T,
        [CT_SCALAR_I64] = CTRAN_INT64_T,
        [CT_SCALAR_U64] = CTRAN_UINT64_T,
        [CT_SCALAR_F16] = CTRAN_FLOAT16,
        [CT_SCALAR_BF16] = CTRAN_BFLOAT16,
        [CT_SCALAR_E4M3] = CTRAN_FLOAT8_E4M3,
        [CT_SCALAR_E5M2] = CTRAN_FLOAT8_E5M2,
        [CT_SCALAR_F32] = CTRAN_FLOAT,
        [CT_SCALAR_F64] = CTRAN_DOUBLE,
        [CT_SCALAR_LDBL] = CTRAN_LONG_DOUBLE,
        [CT_SCALAR_BOOL] = CTRAN_C_BOOL,
        [CT_SCALAR_BYTE] = CTRAN_BYTE,
        [CT_SCALAR_PACKED] = CTRAN_PACKED,
        [CT_SCALAR_WCHAR] = CTRAN_WCHAR,
        [CT_SCALAR_CF32] = CTRAN_C_FLOAT_COMPLEX,
        [CT_SCALAR_CF64] = CTRAN_C_DOUBLE_COMPLEX,
        [CT_SCALAR_CLDBL] = CTRAN_C_LONG_DOUBLE_COMPLEX,
        [CT_SCALAR_F32_INT] = CTRAN_FLOAT_INT,
        [CT_SCALAR_F64_INT] = CTRAN_DOUBLE_INT,
        [CT_SCALAR_LDBL_INT] = CTRAN_LONG_DOUBLE_INT,
        [CT_SCALAR_SHORT_INT] = CTRAN_SHORT_INT,
        [CT_SCALAR_INT_INT] = CTRAN_2INT,
        [CT_SCALAR_LONG_INT] = CTRAN_LONG_INT,
    };
    return scalar < CT_SCALAR_COUNT && types[scalar] != NULL ? ct_dtype_get(types[scalar]) : NULL;
}

/* Whether a type has elements of its i-th member. */
static bool has_member(const struct ct_dtype_contents *c, size_t i)
{
    /* The counts of a structure: how many members, their lengths, their places. */
    return c->types[i]->size_bytes > 0 &&
           (c->combiner != CTRAN_COMBINER_STRUCT || c->counts[1 + i] > 0);
}

const struct ct_dtype *ct_rma_elem(const struct ct_dtype *type)
{
    struct ct_dtype_contents c;
    const struct ct_dtype   *elem = NULL;
    if (type->scalar != CT_SCALAR_DERIVED) {
        return type;
    }
    ct_dtype_contents(type, &c);
    for (size_t i = 0; i < c.ntypes; i++) {
        if (!has_member(&c, i)) {
            continue;
        }
        const struct ct_dtype *of = ct_rma_elem(c.types[i]);
        if (of == NULL || (elem != NULL && of->scalar != elem->scalar)) {
            return NULL;
        }
        elem = of;
    }
    return elem;
}

bool ct_rma_update_of(ctran_op_t op, const struct ct_dtype *elem, struct ct_rma_update *out)
{
    const struct ct_op *o = ct_op_get(op);
    if (o == NULL || o->user != NULL || ct_op_kernel(o, elem) == NULL) {
        return false;
    }
    const bool whole = elem->scalar >= CT_SCALAR_I8 && elem->scalar <= CT_SCALAR_U64;
    *out = (struct ct_rma_update){.elem = elem,
                                  .kernel = ct_op_kernel(o, elem),
                                  .reads = op == CTRAN_NO_OP,
                                  .adds = op == CTRAN_SUM && whole};
    return true;
}

size_t ct_rma_next_run(const struct ct_area *area, const struct ct_dtype *elem, size_t *pos,
                       size_t most, uintptr_t *at)
{
    enum { BLOCKS = 4 };
    struct iovec block[BLOCKS];
    unsigned     n;
    const bool   runs = elem->contiguous;
    const size_t most_bytes = (runs ? most : 1) * elem->size_bytes;
    const size_t bytes = ct_area_next(area, pos, most_bytes, block, runs ? 1 : BLOCKS, &n);
    *at = (uintptr_t)block[0].iov_base;
    return bytes / elem->size_bytes;
}

/* ---- alone ----------------------------------------------------------------------------------- */

enum { LONGEST = 32, BATCH_BYTES = 2048 };

static struct ct_area elements(const struct ct_dtype *elem, const void *at, size_t n)
{
    return ct_dtype_area(elem, (void *)(uintptr_t)at, n);
}

static void pack(const struct ct_dtype *elem, const void *at, void *packed, size_t n)
{
    const struct ct_area area = elements(elem, at, n);
    size_t               pos = 0;
    (void)ct_area_gather(&area, &pos, packed, area.len_bytes); /* plain memory: all of it */
}

static void unpack(const struct ct_dtype *elem, void *at, const void *packed, size_t n)
{
    const struct ct_area area = elements(elem, at, n);
    size_t               pos = 0;
    (void)ct_area_scatter(&area, &pos, packed, area.len_bytes);
}

static bool is_aligned(const void *at, size_t to)
{
    return (uintptr_t)at % to == 0;
}

/* By way of aligned copies, which have what the packed form lacks: gaps. */
static void update_copies(const struct ct_rma_update *u, char *at, const char *with, size_t n)
{
    const struct ct_dtype         *e = u->elem;
    CT_ALIGNED(CT_CACHE_LINE) char target[BATCH_BYTES], origin[BATCH_BYTES];
    const size_t                   most = BATCH_BYTES / (size_t)e->extent_bytes;
    for (size_t done = 0, some; done < n; done += some) {
        some = ct_min_size(most, n - done);
        char *from = at + done * (size_t)e->extent_bytes;
        memcpy(target, from, (some - 1) * (size_t)e->extent_bytes + (size_t)e->true_extent_bytes);
        unpack(e, origin, with + done * e->size_bytes, some);
        u->kernel(target, origin, target, some);
        memcpy(from, target, (some - 1) * (size_t)e->extent_bytes + (size_t)e->true_extent_bytes);
    }
}

void ct_rma_update_alone(const struct ct_rma_update *u, void *at, const void *with, void *old,
                         size_t n)
{
    if (old != NULL) {
        pack(u->elem, at, old, n);
    }
    if (u->reads || n == 0) {
        return;
    }
    if (u->elem->contiguous && is_aligned(at, u->elem->align_bytes) &&
        is_aligned(with, u->elem->align_bytes)) {
        u->kernel(at, with, at, n);
    } else {
        update_copies(u, at, with, n);
    }
}

void ct_rma_swap_alone(size_t size_bytes, void *at, const void *with, const void *compare,
                       void *old)
{
    char was[LONGEST];
    memcpy(was, at, size_bytes);
    if (memcmp(was, compare, size_bytes) == 0) {
        memcpy(at, with, size_bytes);
    }
    memcpy(old, was, size_bytes);
}

/* ---- atomic ---------------------------------------------------------------------------------- */

/* Nobody else updates the memory in an exclusive epoch, unless this rank has several threads. */
static bool has_epoch_alone(const struct ct_win_peer *peer)
{
    return !peer->unlocked && !peer->win->p->threaded &&
           atomic_load_explicit(&peer->hold, memory_order_relaxed) == CT_HOLD_EXCLUSIVE;
}

/* One element: a load, an addition, or a loop of compare and swap. */
#define UPDATE(T)                                                                                  \
    do {                                                                                           \
        T *word = at, was, now;                                                                    \
        if (u->adds) {                                                                             \
            memcpy(&now, with, sizeof now);                                                        \
            was = __atomic_fetch_add(word, now, __ATOMIC_SEQ_CST);                                 \
        } else {                                                                                   \
            was = __atomic_load_n(word, __ATOMIC_SEQ_CST);                                         \
            do {                                                                                   \
                if (u->reads) {                                                                    \
                    break;                                                                         \
                }                                                                                  \
                u->kernel(&now, with, &was, 1);                                                    \
            } while (!__atomic_compare_exchange_n(word, &was, now, true, __ATOMIC_SEQ_CST,         \
                                                  __ATOMIC_SEQ_CST));                              \
        }                                                                                          \
        memcpy(old, &was, sizeof was);                                                             \
    } while (0)

static bool has_instruction(const struct ct_dtype *elem, const void *at)
{
    const size_t size = elem->size_bytes;
    return elem->contiguous && size <= sizeof(uint64_t) && (size & (size - 1)) == 0 &&
           is_aligned(at, size);
}

/* `with` is aligned as the type is. */
static void update_one(const struct ct_rma_update *u, void *at, const void *with, void *old)
{
    switch (u->elem->size_bytes) {
    case 1:
        UPDATE(uint8_t);
        return;
    case 2:
        UPDATE(uint16_t);
        return;
    case 4:
        UPDATE(uint32_t);
        return;
    default:
        UPDATE(uint64_t);
    }
}

static void update_each(const struct ct_rma_update *u, char *at, const char *with, char *old,
                        size_t n)
{
    const size_t size = u->elem->size_bytes;
    for (size_t i = 0; i < n; i++) {
        uint64_t in = 0, was; /* aligned */
        if (!u->reads) {
            memcpy(&in, with + i * size, size);
        }
        update_one(u, at + i * size, &in, old != NULL ? old + i * size : (void *)&was);
    }
}

void ct_rma_update_atomic(const struct ct_rma_update *u, struct ct_win_peer *peer, void *at,
                          const void *with, void *old, size_t n)
{
    enum { FEW = 8 };
    if (has_epoch_alone(peer)) {
        ct_rma_update_alone(u, at, with, old, n);
    } else if (n <= FEW && has_instruction(u->elem, at)) {
        (void)ct_win_share(peer, CT_LOCK_UPDATE); /* never given up */
        update_each(u, at, with, old, n);
        ct_win_unshare(peer, CT_LOCK_UPDATE);
    } else {
        (void)ct_win_take(peer, CT_LOCK_UPDATE);
        ct_rma_update_alone(u, at, with, old, n);
        ct_win_leave(peer, CT_LOCK_UPDATE);
    }
}

#define SWAP_ONCE(T)                                                                               \
    do {                                                                                           \
        T was, now;                                                                                \
        memcpy(&was, compare, sizeof was);                                                         \
        memcpy(&now, with, sizeof now);                                                            \
        (void)__atomic_compare_exchange_n((T *)at, &was, now, false, __ATOMIC_SEQ_CST,             \
                                          __ATOMIC_SEQ_CST);                                       \
        memcpy(old, &was, sizeof was);                                                             \
    } while (0)

static void swap_once(size_t size_bytes, void *at, const void *with, const void *compare, void *old)
{
    switch (size_bytes) {
    case 1:
        SWAP_ONCE(uint8_t);
        return;
    case 2:
        SWAP_ONCE(uint16_t);
        return;
    case 4:
        SWAP_ONCE(uint32_t);
        return;
    default:
        SWAP_ONCE(uint64_t);
    }
}

void ct_rma_swap_atomic(struct ct_win_peer *peer, size_t size_bytes, void *at, const void *with,
                        const void *compare, void *old)
{
    if (has_epoch_alone(peer)) {
        ct_rma_swap_alone(size_bytes, at, with, compare, old);
    } else if (is_aligned(at, size_bytes)) {
        (void)ct_win_share(peer, CT_LOCK_UPDATE); /* never given up */
        swap_once(size_bytes, at, with, compare, old);
        ct_win_unshare(peer, CT_LOCK_UPDATE);
    } else {
        (void)ct_win_take(peer, CT_LOCK_UPDATE);
        ct_rma_swap_alone(size_bytes, at, with, compare, old);
        ct_win_leave(peer, CT_LOCK_UPDATE);
    }
}
