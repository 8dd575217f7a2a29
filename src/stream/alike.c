/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel takes what its peers send for what it expects: where the ranks' calls differ it would
 * wait for ever, or give a wrong result. So each collective call is numbered and leaves its word in
 * memory that the ranks share. All compare with who came first, so one rank at least sees that two
 * calls differ before its own is on a stream; since the others' kernels need that one's part, the
 * end of the communicator's work reaches them before they could be through. A root's broadcast,
 * which needs nobody, is the exception: its own buffer is not written.
 *
 * Of calls by counts a rank knows its own lengths alone, and may have nothing to move: then it
 * makes the call all the same, as far as here, so that all ranks number alike. Of these the kind is
 * compared.
 *
 * It costs an atomic operation on one line for each rank and call, on the host; the GPUs have no
 * part in it. Replays of graphs are not looked at, their captures are.
 */
#define CT_FOLDER "stream"
#include "stream/alike.h"

#include <inttypes.h>

#include "gpu/kernels.h"

/* A word, from its lowest bit on: 1; kind; captured; root; operator and type of the kernel, 0:
 * none; a digest of the length; the number. */
enum {
    KIND_AT = 1,
    CAPTURED_AT = 7,
    ROOT_AT = 8,
    OP_AT = 12,
    TYPE_AT = 17,
    BYTES_AT = 23,
    BYTES_BITS = CT_CALL_NUMBER_AT - BYTES_AT,
};
_Static_assert(CT_TOKEN_RANKS <= 1 << (OP_AT - ROOT_AT), "a root fits");
_Static_assert(CT_KERNEL_OPS < 1 << (TYPE_AT - OP_AT), "an operator fits");
_Static_assert(CT_KERNEL_TYPES < 1 << (BYTES_AT - TYPE_AT), "a type fits");

static uint64_t mix(uint64_t digest, uint64_t value)
{
    return (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15) ^ digest >> 29;
}

static bool is_by_counts(const struct ct_stream_call *call)
{
    return call->reduction == NULL && call->dynamic == NULL && !call->even;
}

static uint64_t kind_of(const struct ct_stream_call *call)
{
    enum { COUNTS = 20, OWN = 40 }; /* kinds of coll are a bit each */
    const uint32_t kind = call->kind;
    return kind >= CT_STREAM_P2P && kind <= CT_STREAM_DYNAMIC
               ? OWN + kind - CT_STREAM_P2P
               : (uint64_t)__builtin_ctz(kind) + (is_by_counts(call) ? COUNTS : 0);
}

static uint64_t of_reduction(const struct ct_stream_reduction *r, uint32_t n, uint64_t *bytes)
{
    struct ct_kernel_reduction k;
    uint64_t                   word = (uint64_t)r->root << ROOT_AT;
    const uint32_t             parts = r->kind == CT_REDUCE_SCATTER ? n : 1;
    *bytes = parts;
    for (uint32_t p = 0; p < parts; p++) {
        const uint64_t count = r->counts != NULL ? (uint64_t)r->counts[p] : r->count;
        *bytes = mix(*bytes, count * r->type->size_bytes);
    }
    if (ct_kernel_reduction_of(r->handle, r->type, &k)) {
        word |= (uint64_t)(k.op + 1) << OP_AT | (uint64_t)(k.type + 1) << TYPE_AT;
    }
    return word;
}

/* Of those with a root: it sends all, or receives all. */
static uint64_t root_of(const struct ct_stream_call *call, uint32_t me)
{
    if (call->kind != CT_BCAST && call->kind != CT_SCATTER && call->kind != CT_GATHER) {
        return 0;
    }
    for (size_t i = 0; i < call->nmsgs; i++) {
        if (call->msgs[i].send == (call->kind != CT_GATHER)) {
            return me;
        }
    }
    return call->msgs[0].peer;
}

static uint64_t word_of(const struct ct_stream_context *c, const struct ct_stream_call *call,
                        bool captured)
{
    uint64_t bytes = 0, word = 1 | kind_of(call) << KIND_AT | (uint64_t)captured << CAPTURED_AT;
    if (call->reduction != NULL) {
        word |= of_reduction(call->reduction, c->tokens.n, &bytes);
    } else if (call->dynamic != NULL) {
        bytes = mix(1, call->dynamic->elem_bytes);
    } else if (call->even) {
        bytes = mix(1, call->msgs[0].bytes);
        word |= root_of(call, c->tokens.me) << ROOT_AT;
    }
    return word | bytes >> (64 - BYTES_BITS) << BYTES_AT;
}

int ct_stream_compare(struct ct_stream_context *c, const struct ct_stream_call *call, bool captured)
{
    const bool all_come = call->kind != CT_STREAM_P2P && !(call->even && call->nmsgs == 0);
    if (!all_come || c->common.base == NULL || c->tokens.n < 2) {
        return CTRAN_SUCCESS;
    }
    const uint64_t mine = word_of(c, call, captured);
    const uint64_t differs = ct_call_come(&c->tokens, ++c->calls, mine);
    if (differs == 0) {
        return CTRAN_SUCCESS;
    }
    const uint64_t below = differs & ((UINT64_C(1) << BYTES_AT) - 1);
    const char    *what = below == 0                            ? "length"
                          : (below & ((1u << CAPTURED_AT) - 1)) ? "kind"
                          : (below >> CAPTURED_AT & 1)          ? "kind: one is captured"
                          : (below & ((1u << OP_AT) - 1))       ? "root"
                                                                : "operator or type";
    ct_error(&c->p->log,
             "%s: another rank has another stream-ordered call at this place in its order (of "
             "another %s): all ranks of a communicator make the same collective calls, captured or "
             "not",
             call->name, what);
    return below == 0 ? CTRAN_ERR_TRUNCATE : CTRAN_ERR_OTHER;
}
