/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_random - random epochs of windows against a sequential model, which every rank computes for
 * itself. A window has slots of eight elements of one predefined type; in each epoch a slot of a
 * target is put to, read, accumulated to by several ranks, or updated by one. All kinds of windows,
 * synchronisation, operators, types, and datatypes on both sides are drawn. WIN_EPOCHS says how
 * many epochs; WIN_SHARED=0, that ranks share no memory; WIN_DEVICE=1, that windows and buffers are
 * in memory of any kind, each rank's and each operation's of another one: a device's (device.h),
 * which the processor does not reach, among them.
 */
#include "device.h"
#include "win_types.h"

enum { MOST_RANKS = 8, SLOTS = 6, ELEMS = 8, SLOT_BYTES = ELEMS * WIDEST };
enum { WIN_BYTES = SLOTS * SLOT_BYTES, EPOCHS_A_WINDOW = 25 };

/* ---- layouts --------------------------------------------------------------------------------- */

/* How k elements of a side lie: in a row, every other one, or backwards. */
struct side {
    int shape, k;
};
enum { ROW, ROW_TYPE, EVERY_OTHER, BACKWARDS, SHAPES };

static int place_of(const struct side *s, int i)
{
    return s->shape == EVERY_OTHER ? 2 * i : s->shape == BACKWARDS ? s->k - 1 - i : i;
}

/* The datatype, to be freed unless it is predefined, and the count. */
static ctran_datatype_t type_of(const struct side *s, const struct type *t, ctran_count_t *count)
{
    ctran_datatype_t type = t->handle;
    ctran_count_t    displs[ELEMS];
    *count = 1;
    switch (s->shape) {
    case ROW_TYPE:
        OK(ctran_type_contiguous(s->k, t->handle, &type));
        break;
    case EVERY_OTHER:
        OK(ctran_type_vector(s->k, 1, 2, t->handle, &type));
        break;
    case BACKWARDS:
        for (int i = 0; i < s->k; i++) {
            displs[i] = s->k - 1 - i;
        }
        OK(ctran_type_create_indexed_block(s->k, 1, displs, t->handle, &type));
        break;
    default:
        *count = s->k;
        return type;
    }
    OK(ctran_type_commit(&type));
    return type;
}

static void free_type(const struct side *s, ctran_datatype_t type)
{
    if (s->shape != ROW) {
        OK(ctran_type_free(&type));
    }
}

/* ---- the plan of an epoch -------------------------------------------------------------------- */

enum act { IDLE, PUT, GET, ACC, GET_ACC, FETCH, SWAP, CHAIN, ACTS };

struct slot_plan {
    enum act    act;
    unsigned    origins; /* bits */
    struct side here, there, back;
    ctran_op_t  op;
    int         value, elem;
    bool        asks; /* for a request, where the epoch lets it */
};

enum sync { FENCE, PSCW, LOCK, LOCK_EXCLUSIVE, LOCK_ALL, SYNCS };

struct epoch {
    enum sync        sync;
    struct slot_plan slots[MOST_RANKS][SLOTS];
};

static const struct type *slot_types[MOST_RANKS][SLOTS];

static struct side draw_side(int k, uint64_t *rng)
{
    struct side s = {.k = k, .shape = rng_below(rng, SHAPES)};
    if (s.shape == EVERY_OTHER && k > ELEMS / 2) {
        s.shape = ROW;
    }
    return s;
}

static void draw_slot(struct slot_plan *s, const struct type *t, uint64_t *rng)
{
    const int  k = 1 + rng_below(rng, ELEMS);
    const bool is_plain = t->kind == PLAIN;
    s->act = (enum act)rng_below(rng, ACTS);
    s->origins = 1 + (unsigned)rng_below(rng, (1 << check_size) - 1);
    s->here = draw_side(k, rng);
    s->there = draw_side(k, rng);
    s->back = draw_side(k, rng);
    s->op = draw_op(t, rng);
    s->value = rng_below(rng, 100);
    s->elem = rng_below(rng, ELEMS);
    s->asks = rng_below(rng, 3) == 0;
    if (s->act == SWAP && t->kind != WHOLE && t->kind != BITS && t->kind != TRUTH) {
        s->act = FETCH;
    }
    if (s->act == GET_ACC || s->act == FETCH) {
        const int way = rng_below(rng, 4);
        s->op = way == 0 ? CTRAN_REPLACE : way == 1 ? CTRAN_NO_OP : s->op;
    }
    if ((s->act != GET && s->act != ACC) || (s->act == ACC && is_plain)) {
        s->origins &= -s->origins; /* one */
    }
}

static void draw_epoch(struct epoch *e, uint64_t *rng)
{
    e->sync = (enum sync)rng_below(rng, SYNCS);
    for (int t = 0; t < check_size; t++) {
        for (int s = 0; s < SLOTS; s++) {
            draw_slot(&e->slots[t][s], slot_types[t][s], rng);
        }
    }
}

/* Operand i of an origin. */
static int value_of(const struct slot_plan *p, int origin, int i)
{
    return (p->value + 5 * origin + 3 * i) % 11;
}

/* ---- the model ------------------------------------------------------------------------------- */

static char model[MOST_RANKS][WIN_BYTES];

struct element {
    char bytes[WIDEST] __attribute__((aligned(32)));
};

static char *model_at(int target, int slot, int place)
{
    return model[target] + slot * SLOT_BYTES + place * extent_of(slot_types[target][slot]);
}

static void apply(const struct type *t, ctran_op_t op, char *at, const struct element *with)
{
    struct element now;
    const size_t   extent = (size_t)extent_of(t);
    if (op == CTRAN_NO_OP) {
        return;
    }
    if (op == CTRAN_REPLACE) {
        memcpy(at, with, extent);
        return;
    }
    memcpy(&now, at, extent);
    OK(ctran_reduce_local(with, &now, 1, t->handle, op));
    memcpy(at, &now, extent);
}

/* ---- what an origin has under way ------------------------------------------------------------ */

struct buffers {
    struct element here[2 * ELEMS], back[2 * ELEMS], compare;
};

struct op {
    int             target, slot;
    struct element  wanted[ELEMS];
    struct buffers  b;  /* as the processor sees them, */
    struct buffers *at; /* and as operations are given them */
    int             kind;
    ctran_request_t req;
};

static struct op ops[MOST_RANKS * SLOTS];
static int       nops;

static char *elem_at(void *buf, const struct type *t, int place)
{
    return (char *)buf + place * extent_of(t);
}

/* What the model says before the epoch's own updates; and the updates. Of each slot all origins in
 * their order; the results of the caller are kept. */
static void model_slot(const struct slot_plan *p, int target, int slot, struct op *mine)
{
    const struct type *t = slot_types[target][slot];
    for (int o = 0; o < check_size; o++) {
        if ((p->origins >> o & 1) == 0 || p->act == IDLE) {
            continue;
        }
        const bool is_one = p->act == FETCH || p->act == SWAP;
        for (int i = 0; i < (is_one ? 1 : p->there.k); i++) {
            char          *at = model_at(target, slot, is_one ? p->elem : place_of(&p->there, i));
            struct element with;
            memset(&with, 0, sizeof with);
            store_value(t, &with, value_of(p, o, i));
            if (p->act == CHAIN) {
                apply(t, p->op, at, &with);
            }
            if (o == check_rank && mine != NULL) {
                memcpy(&mine->wanted[i], at, (size_t)extent_of(t));
            }
            if (p->act == PUT) {
                apply(t, CTRAN_REPLACE, at, &with);
            } else if (p->act == SWAP) {
                struct element other;
                memset(&other, 0, sizeof other);
                store_value(t, &other, value_of(p, o, 1));
                if (p->asks || is_same(t, at, (char *)&other)) {
                    apply(t, CTRAN_REPLACE, at, &with);
                }
            } else if (p->act != GET) {
                apply(t, p->op, at, &with);
            }
        }
    }
}

/* ---- the window ------------------------------------------------------------------------------ */

static struct {
    ctran_win_t  win;
    int          flavor;
    char        *base;
    ctran_aint_t unit, units[MOST_RANKS], bases[MOST_RANKS];
    int          kind; /* of base */
    bool         own;  /* base is the program's */
} w;

static bool has_devices(void)
{
    static int has = -1;
    if (has < 0) {
        const char *text = getenv("WIN_DEVICE");
        has = text != NULL && strcmp(text, "0") != 0;
        if (has) {
            mem_start();
        }
    }
    return has;
}

/* Not alike on all ranks. */
static int draw_kind(void)
{
    static uint64_t own_rng;
    if (own_rng == 0) {
        own_rng = rng_of(100 + (unsigned)check_rank);
    }
    return has_devices() ? rng_below(&own_rng, mem_kinds) : HOST;
}

static ctran_aint_t disp_of(int target, int slot, int place)
{
    const ctran_aint_t byte =
        slot * SLOT_BYTES + place * (ctran_aint_t)extent_of(slot_types[target][slot]);
    return w.flavor == CTRAN_WIN_FLAVOR_DYNAMIC ? w.bases[target] + byte : byte / w.units[target];
}

/* The unit divides all places of elements that are used alone. */
static void win_open(uint64_t *rng)
{
    static const int flavors[] = {CTRAN_WIN_FLAVOR_CREATE, CTRAN_WIN_FLAVOR_ALLOCATE,
                                  CTRAN_WIN_FLAVOR_DYNAMIC, CTRAN_WIN_FLAVOR_SHARED};
    const char      *shared = getenv("WIN_SHARED");
    const int        n = shared != NULL && strcmp(shared, "0") == 0 ? 3 : 4;
    ctran_info_t     info;
    OK(ctran_info_create(&info));
    w.flavor = flavors[rng_below(rng, n)];
    if (rng_below(rng, 2)) {
        OK(ctran_info_set(info, "alloc_shared_noncontig", "true"));
    }
    const ctran_aint_t size = WIN_BYTES + 64 * (check_rank % 3);
    w.unit = 1;
    w.own = w.flavor == CTRAN_WIN_FLAVOR_CREATE || w.flavor == CTRAN_WIN_FLAVOR_DYNAMIC;
    w.kind = w.own || w.flavor == CTRAN_WIN_FLAVOR_ALLOCATE ? draw_kind() : HOST;
    if (w.own) {
        w.base = w.kind == HOST ? aligned_alloc(64, 2 * WIN_BYTES) : mem_new(w.kind, 2 * WIN_BYTES);
        EXPECT(w.base != NULL);
    } else if (w.kind != HOST) {
        w.kind = mem_is_real() ? DEVICE : HOST;
        OK(ctran_info_set(info, "ctran_device_memory", w.kind == DEVICE ? "true" : "false"));
    }
    if (w.flavor == CTRAN_WIN_FLAVOR_CREATE) {
        OK(ctran_win_create(w.base, size, w.unit, info, CTRAN_COMM_WORLD, &w.win));
    } else if (w.flavor == CTRAN_WIN_FLAVOR_ALLOCATE) {
        OK(ctran_win_allocate(size, w.unit, info, CTRAN_COMM_WORLD, &w.base, &w.win));
    } else if (w.flavor == CTRAN_WIN_FLAVOR_SHARED) {
        OK(ctran_win_allocate_shared(size, w.unit, info, CTRAN_COMM_WORLD, &w.base, &w.win));
    } else {
        OK(ctran_win_create_dynamic(info, CTRAN_COMM_WORLD, &w.win));
        OK(ctran_win_attach(w.win, w.base, WIN_BYTES));
    }
    OK(ctran_info_free(&info));
    ctran_aint_t at;
    OK(ctran_get_address(w.base, &at));
    OK(ctran_allgather(&at, sizeof at, CTRAN_BYTE, w.bases, sizeof at, CTRAN_BYTE,
                       CTRAN_COMM_WORLD));
    OK(ctran_allgather(&w.unit, sizeof w.unit, CTRAN_BYTE, w.units, sizeof w.unit, CTRAN_BYTE,
                       CTRAN_COMM_WORLD));
}

static void win_close(void)
{
    OK(ctran_win_free(&w.win));
    EXPECT(w.win == CTRAN_WIN_NULL);
    if (w.own) {
        mem_free(w.kind, w.base);
    }
}

/* All types in turn, and what the model and the memory begin with. */
static void fill(uint64_t *rng)
{
    memset(model, 0, sizeof model);
    for (int t = 0; t < check_size; t++) {
        for (int s = 0; s < SLOTS; s++) {
            slot_types[t][s] = &types[rng_below(rng, TYPES)];
            for (int i = 0; i < ELEMS; i++) {
                store_value(slot_types[t][s], model_at(t, s, i), rng_below(rng, 7));
            }
        }
    }
    mem_put(w.kind, w.base, model[check_rank], WIN_BYTES);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
}

/* ---- operations ------------------------------------------------------------------------------ */

static void fill_operands(struct op *op, const struct slot_plan *p)
{
    const struct type *t = slot_types[op->target][op->slot];
    memset(&op->b, 0, sizeof op->b);
    for (int i = 0; i < p->here.k; i++) {
        store_value(t, elem_at(op->b.here, t, place_of(&p->here, i)), value_of(p, check_rank, i));
    }
    store_value(t, &op->b.compare, value_of(p, check_rank, 1));
}

/* Puts the buffers where the operation finds them. Called when all of the model is known. */
static void place_buffers(struct op *op, const struct slot_plan *p)
{
    const struct type *t = slot_types[op->target][op->slot];
    if (p->act == FETCH || p->act == SWAP) {
        store_value(t, op->b.here, value_of(p, check_rank, 0));
    }
    if (p->act == SWAP && p->asks) { /* it shall be found */
        memcpy(&op->b.compare, &op->wanted[0], sizeof op->b.compare);
    }
    op->kind = draw_kind();
    op->at = op->kind == HOST ? &op->b : mem_new(op->kind, sizeof *op->at);
    if (op->kind != HOST) {
        mem_put(op->kind, op->at, &op->b, sizeof *op->at);
    }
}

static void take_buffers_back(struct op *op)
{
    if (op->kind != HOST) {
        mem_get(op->kind, &op->b, op->at, sizeof *op->at);
        mem_free(op->kind, op->at);
    }
}

static void start_one(struct op *op, const struct slot_plan *p)
{
    const struct type *t = slot_types[op->target][op->slot];
    const ctran_aint_t at = disp_of(op->target, op->slot, p->elem);
    op->req = CTRAN_REQUEST_NULL;
    if (p->act == FETCH) {
        OK(ctran_fetch_and_op(op->at->here, op->at->back, t->handle, op->target, at, p->op, w.win));
        return;
    }
    OK(ctran_compare_and_swap(op->at->here, &op->at->compare, op->at->back, t->handle, op->target,
                              at, w.win));
}

static void start_many(struct op *op, const struct slot_plan *p, bool asks)
{
    const struct type     *t = slot_types[op->target][op->slot];
    const ctran_aint_t     at = disp_of(op->target, op->slot, 0);
    ctran_count_t          nh, nt, nb;
    const ctran_datatype_t here = type_of(&p->here, t, &nh), there = type_of(&p->there, t, &nt),
                           back = type_of(&p->back, t, &nb);
    op->req = CTRAN_REQUEST_NULL;
    switch (p->act) {
    case PUT:
        OK(asks ? ctran_rput(op->at->here, nh, here, op->target, at, nt, there, w.win, &op->req)
                : ctran_put(op->at->here, nh, here, op->target, at, nt, there, w.win));
        break;
    case GET:
        OK(asks ? ctran_rget(op->at->back, nb, back, op->target, at, nt, there, w.win, &op->req)
                : ctran_get(op->at->back, nb, back, op->target, at, nt, there, w.win));
        break;
    case CHAIN:
        OK(ctran_accumulate(op->at->here, nh, here, op->target, at, nt, there, p->op, w.win));
        OK(ctran_get_accumulate(op->at->here, nh, here, op->at->back, nb, back, op->target, at, nt,
                                there, p->op, w.win));
        break;
    case ACC:
        OK(asks
               ? ctran_raccumulate(op->at->here, nh, here, op->target, at, nt, there, p->op, w.win,
                                   &op->req)
               : ctran_accumulate(op->at->here, nh, here, op->target, at, nt, there, p->op, w.win));
        break;
    default:
        OK(asks ? ctran_rget_accumulate(op->at->here, nh, here, op->at->back, nb, back, op->target,
                                        at, nt, there, p->op, w.win, &op->req)
                : ctran_get_accumulate(op->at->here, nh, here, op->at->back, nb, back, op->target,
                                       at, nt, there, p->op, w.win));
    }
    free_type(&p->here, here);
    free_type(&p->there, there);
    free_type(&p->back, back);
}

static void start(const struct epoch *e, int target)
{
    const bool passive = e->sync >= LOCK;
    for (int i = 0; i < nops; i++) {
        struct op              *op = &ops[i];
        const struct slot_plan *p = &e->slots[op->target][op->slot];
        if (op->target != target) {
            continue;
        }
        if (p->act == FETCH || p->act == SWAP) {
            start_one(op, p);
        } else {
            start_many(op, p, passive && p->asks);
        }
    }
}

static void end_requests(int target)
{
    for (int i = 0; i < nops; i++) {
        if (ops[i].target == target) {
            OK(ctran_wait(&ops[i].req, CTRAN_STATUS_IGNORE));
        }
    }
}

/* ---- epochs ---------------------------------------------------------------------------------- */

static bool has_ops(const struct epoch *e, int origin, int target)
{
    for (int s = 0; s < SLOTS; s++) {
        if (e->slots[target][s].act != IDLE && (e->slots[target][s].origins >> origin & 1) != 0) {
            return true;
        }
    }
    return false;
}

static ctran_group_t group_of(const struct epoch *e, bool targets)
{
    int           ranks[MOST_RANKS], n = 0;
    ctran_group_t all, group;
    for (int r = 0; r < check_size; r++) {
        if (targets ? has_ops(e, check_rank, r) : has_ops(e, r, check_rank)) {
            ranks[n++] = r;
        }
    }
    OK(ctran_win_get_group(w.win, &all));
    OK(ctran_group_incl(all, n, ranks, &group));
    OK(ctran_group_free(&all));
    return group;
}

static void run_pscw(const struct epoch *e)
{
    ctran_group_t to = group_of(e, true), from = group_of(e, false);
    OK(ctran_win_post(from, 0, w.win));
    OK(ctran_win_start(to, 0, w.win));
    for (int t = 0; t < check_size; t++) {
        start(e, t);
    }
    OK(ctran_win_complete(w.win));
    for (int over = 0; !over && e->slots[0][0].asks;) {
        OK(ctran_win_test(w.win, &over));
        if (over) {
            goto freed;
        }
    }
    OK(ctran_win_wait(w.win));
freed:
    OK(ctran_group_free(&to));
    OK(ctran_group_free(&from));
}

static void run_locks(const struct epoch *e)
{
    const int type = e->sync == LOCK ? CTRAN_LOCK_SHARED : CTRAN_LOCK_EXCLUSIVE;
    for (int t = 0; t < check_size; t++) {
        if (has_ops(e, check_rank, t)) {
            OK(ctran_win_lock(type, t, 0, w.win));
            start(e, t);
            end_requests(t);
            OK(ctran_win_unlock(t, w.win));
        }
    }
}

static void run_lock_all(const struct epoch *e)
{
    OK(ctran_win_lock_all(0, w.win));
    for (int t = 0; t < check_size; t++) {
        start(e, t);
    }
    OK(e->slots[0][0].asks ? ctran_win_flush_all(w.win) : ctran_win_flush_local(0, w.win));
    for (int t = 0; t < check_size; t++) {
        end_requests(t);
    }
    OK(ctran_win_unlock_all(w.win));
}

static void run_epoch(const struct epoch *e)
{
    switch (e->sync) {
    case FENCE:
        OK(ctran_win_fence(0, w.win));
        for (int t = 0; t < check_size; t++) {
            start(e, t);
        }
        OK(ctran_win_fence(CTRAN_MODE_NOSUCCEED, w.win));
        return;
    case PSCW:
        run_pscw(e);
        break;
    case LOCK_ALL:
        run_lock_all(e);
        break;
    default:
        run_locks(e);
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
}

/* The operations of this rank, their operands, and what the model makes of all. */
static void prepare(const struct epoch *e)
{
    nops = 0;
    for (int t = 0; t < check_size; t++) {
        for (int s = 0; s < SLOTS; s++) {
            const struct slot_plan *p = &e->slots[t][s];
            struct op              *mine = NULL;
            if (p->act != IDLE && (p->origins >> check_rank & 1) != 0) {
                mine = &ops[nops++];
                mine->target = t;
                mine->slot = s;
                fill_operands(mine, p);
            }
            model_slot(p, t, s, mine);
        }
    }
    for (int i = 0; i < nops; i++) {
        place_buffers(&ops[i], &e->slots[ops[i].target][ops[i].slot]);
    }
}

static void check_results(const struct epoch *e, int number)
{
    for (int i = 0; i < nops; i++) {
        struct op              *op = &ops[i];
        const struct slot_plan *p = &e->slots[op->target][op->slot];
        const struct type      *t = slot_types[op->target][op->slot];
        const bool              is_one = p->act == FETCH || p->act == SWAP;
        take_buffers_back(op);
        if (p->act == PUT || p->act == ACC) {
            continue;
        }
        for (int k = 0; k < (is_one ? 1 : p->back.k); k++) {
            const char *found = elem_at(op->b.back, t, is_one ? 0 : place_of(&p->back, k));
            if (!is_same(t, found, (const char *)&op->wanted[k])) {
                check_fail(
                    __FILE__, __LINE__,
                    "epoch %d, sync %d, flavor %d: result %d of act %d, type %d, op %d, from "
                    "rank %d is wrong",
                    number, e->sync, w.flavor, k, p->act, (int)(t - types), (int)(intptr_t)p->op,
                    op->target);
            }
        }
    }
}

static void check_memory(const struct epoch *e, int number)
{
    static char now[WIN_BYTES];
    mem_get(w.kind, now, w.base, WIN_BYTES);
    for (int s = 0; s < SLOTS; s++) {
        const struct type *t = slot_types[check_rank][s];
        for (int i = 0; i < ELEMS; i++) {
            const char *found = now + s * SLOT_BYTES + i * extent_of(t);
            if (!is_same(t, found, model_at(check_rank, s, i))) {
                const struct slot_plan *p = &e->slots[check_rank][s];
                check_fail(__FILE__, __LINE__,
                           "epoch %d, sync %d, flavor %d: element %d of slot %d is wrong after act "
                           "%d, type %d, op %d, shape %d, origins %#x",
                           number, e->sync, w.flavor, i, s, p->act, (int)(t - types),
                           (int)(intptr_t)p->op, p->there.shape, p->origins);
            }
        }
    }
}

static void epochs(void)
{
    const char         *text = getenv("WIN_EPOCHS");
    const int           n = text != NULL ? atoi(text) : check_quick() ? 50 : 400;
    uint64_t            rng = rng_of(1);
    static struct epoch e;
    EXPECT(check_size <= MOST_RANKS);
    for (int i = 0; i < n; i++) {
        if (i % EPOCHS_A_WINDOW == 0) {
            win_open(&rng);
            fill(&rng);
        }
        draw_epoch(&e, &rng);
        prepare(&e);
        run_epoch(&e);
        check_results(&e, i);
        check_memory(&e, i);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        if (i % EPOCHS_A_WINDOW == EPOCHS_A_WINDOW - 1 || i == n - 1) {
            win_close();
        }
    }
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {{"epochs", epochs}};
    check_start(argc, argv);
    check_run(subjects, LEN(subjects));
    return check_end();
}
