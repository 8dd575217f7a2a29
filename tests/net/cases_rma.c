/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations: what they move, what they are atomic to, in which order they take effect,
 * and how they end. */
#define CT_FOLDER "test"
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "cases.h"

enum { BYTES = 3 << 20 };

static unsigned char byte_at(size_t at, unsigned salt)
{
    return (unsigned char)(at * 13 + at / 251 + salt);
}

static void fill(unsigned char *at, size_t len, unsigned salt)
{
    for (size_t i = 0; i < len; i++) {
        at[i] = byte_at(i, salt);
    }
}

static bool has(const unsigned char *at, size_t len, unsigned salt)
{
    for (size_t i = 0; i < len; i++) {
        if (at[i] != byte_at(i, salt)) {
            return false;
        }
    }
    return true;
}

static size_t most_payload(struct world *w, uint32_t to)
{
    ct_domain_enter(&w->p);
    const size_t most = ct_ep_max_payload(world_ep(w, to));
    ct_domain_leave(&w->p);
    return most;
}

/* Lengths around all limits: of words, lines, pages and messages. */
static void sizes(struct world *w)
{
    struct target  t = target_make(w, BYTES, ALL_RIGHTS, CT_EP_ANY_PEER, 0, 0);
    unsigned char *out = calloc(1, BYTES), *in = calloc(1, BYTES + 1);
    CHECK(w, out != NULL && in != NULL);
    world_meet(w);
    struct ct_ep_rkey *k = key_open(w, next_rank(w), 0);
    const size_t       most = most_payload(w, next_rank(w));
    const size_t       lens[] = {0,        1,        2,
                                 3,        7,        8,
                                 9,        15,       16,
                                 17,       63,       64,
                                 65,       255,      4095,
                                 4096,     4097,     most,
                                 most - 1, most + 1, 2 * most,
                                 1000,     8191,     3 * most + 5,
                                 65536,    65537,    (2 << 20) + 3};
    for (size_t i = 0; i < CT_ARRAY_LEN(lens); i++) {
        const size_t len = ct_min_size(lens[i], BYTES - 64), at = 1 + i;
        fill(out, len, (unsigned)i);
        EQUAL(w, do_put(w, k, at, out, len), CTRAN_SUCCESS);
        memset(in, 0xee, len + 1);
        EQUAL(w, do_get(w, k, at, in, len), CTRAN_SUCCESS);
        CHECK(w, has(in, len, (unsigned)i));
        EQUAL(w, in[len], 0xee);
        world_meet(w);
        CHECK(w, has(t.bytes + at, len, (unsigned)i));
        EQUAL(w, t.bytes[at - 1], 0);
        EQUAL(w, t.bytes[at + len], 0);
        memset(t.bytes, 0, at + len);
        world_meet(w);
    }
    key_close(w, k);
    target_drop(w, &t);
    free(out);
    free(in);
    world_meet(w);
}

/* Local memory in blocks, from a byte within on. */
static void strided(struct world *w)
{
    enum { BLOCK = 24, STRIDE = 40, BLOCKS = 5000, FROM = 100, LEN = BLOCK * BLOCKS - 2 * FROM };
    struct ct_piece    piece = {.len_bytes = BLOCK, .reps = BLOCKS, .stride_bytes = STRIDE};
    struct target      t = target_make(w, LEN, ALL_RIGHTS, CT_EP_ANY_PEER, 0, 0);
    unsigned char     *mem = calloc(BLOCKS, STRIDE), *flat = calloc(BLOCKS, BLOCK);
    struct ct_net_comp comp = {.pending = 0};
    CHECK(w, mem != NULL && flat != NULL);
    const struct ct_area area = ct_area_make(mem, &piece, 1, 1, 0);
    fill(flat, LEN, 5);
    world_meet(w);
    struct ct_ep_rkey *k = key_open(w, next_rank(w), 0);
    struct ct_ep_rma   op = {
          .net = {.op = CT_NET_OP_PUT, .comp = &comp, .area = &area, .pos = FROM, .len_bytes = LEN},
          .rkey = k};
    size_t pos = FROM;
    CHECK(w, ct_area_scatter_all(&area, &pos, flat, LEN));
    do_start(w, &op);
    EQUAL(w, world_wait(w, &comp), CTRAN_SUCCESS);
    world_meet(w);
    CHECK(w, has(t.bytes, LEN, 5));
    memset(mem, 0, (size_t)BLOCKS * STRIDE);
    op.net.op = CT_NET_OP_GET;
    do_start(w, &op);
    EQUAL(w, world_wait(w, &comp), CTRAN_SUCCESS);
    memset(flat, 0, LEN);
    pos = FROM;
    CHECK(w, ct_area_gather_all(&area, &pos, flat, LEN) && has(flat, LEN, 5));
    for (size_t i = 0; i < BLOCKS; i++) {
        EQUAL(w, mem[i * STRIDE + BLOCK], 0);
    }
    world_meet(w);
    key_close(w, k);
    target_drop(w, &t);
    free(mem);
    free(flat);
    world_meet(w);
}

/* All ranks count on words of rank 0: the sum is right, each value is fetched once. */
static void atomics(struct world *w)
{
    enum { TURNS = 200, FIRST_WORD = 16 };
    struct target t = {.bytes = NULL};
    if (w->me == 0) {
        t = target_make(w, 65536, ALL_RIGHTS, CT_EP_ANY_PEER, 0, 0);
    }
    world_meet(w);
    struct ct_ep_rkey *k = key_open(w, 0, 0);
    for (uint32_t i = 0; i < TURNS; i++) {
        uint64_t was = UINT64_MAX;
        uint32_t half = UINT32_MAX;
        EQUAL(w, do_atomic(w, k, 0, CT_NET_ADD, 8, 1, 0, &was), CTRAN_SUCCESS);
        CHECK(w, was < (uint64_t)TURNS * w->n);
        EQUAL(w, atomic_fetch_add(&w->shared->words[FIRST_WORD + was], 1), 0);
        EQUAL(w, do_atomic(w, k, 12, CT_NET_ADD, 4, 3, 0, i % 2 ? &half : NULL), CTRAN_SUCCESS);
        EQUAL(w, i % 2 == 1 ? half % 3 : 0, 0);
        do { /* a sum by compare and swap */
            EQUAL(w, do_get(w, k, 16, &was, 8), CTRAN_SUCCESS);
            const uint64_t seen = was;
            EQUAL(w, do_atomic(w, k, 16, CT_NET_CSWAP, 8, seen + 2, seen, &was), CTRAN_SUCCESS);
            if (was == seen) {
                break;
            }
        } while (true);
    }
    EQUAL(w, do_atomic(w, k, 24, CT_NET_OR, 8, UINT64_C(1) << w->me, 0, NULL), CTRAN_SUCCESS);
    EQUAL(w, do_atomic(w, k, 32, CT_NET_XOR, 8, UINT64_C(1) << w->me, 0, NULL), CTRAN_SUCCESS);
    EQUAL(w, do_atomic(w, k, 3, CT_NET_ADD, 8, 1, 0, NULL), CTRAN_ERR_ARG);
    EQUAL(w, do_atomic(w, k, 8, CT_NET_ADD, 2, 1, 0, NULL), CTRAN_ERR_ARG);
    EQUAL(w, do_atomic(w, k, 8, CT_NET_ATOMICS, 8, 1, 0, NULL), CTRAN_ERR_ARG);
    world_meet(w);
    if (w->me == 0) {
        uint64_t words[6];
        uint64_t was = 0;
        memcpy(words, t.bytes, sizeof words);
        EQUAL(w, words[0], (long long)TURNS * w->n);
        EQUAL(w, words[1] >> 32, (long long)3 * TURNS * w->n);
        EQUAL(w, (uint32_t)words[1], 0);
        EQUAL(w, words[2], (long long)2 * TURNS * w->n);
        EQUAL(w, words[3], (1 << w->n) - 1);
        EQUAL(w, words[4], (1 << w->n) - 1);
        EQUAL(w, do_atomic(w, k, 24, CT_NET_AND, 8, 1, 0, &was), CTRAN_SUCCESS);
        EQUAL(w, was, (1 << w->n) - 1);
        EQUAL(w, do_atomic(w, k, 24, CT_NET_SWAP, 8, 99, 0, &was), CTRAN_SUCCESS);
        EQUAL(w, was, 1);
        EQUAL(w, do_get(w, k, 24, &was, 8), CTRAN_SUCCESS);
        EQUAL(w, was, 99);
    }
    world_meet(w);
    key_close(w, k);
    if (w->me == 0) {
        target_drop(w, &t);
    }
    world_meet(w);
}

/* ---- notifications --------------------------------------------------------------------------- */

enum { NOTICES = 300, PART = 9000 };

static struct {
    struct world *w;
    struct target t;
    uint32_t      seen, foreign;
} told;

static void on_notice(struct ct_ep_region *region, struct ct_ep *from, uint32_t value)
{
    struct world *w = told.w;
    CHECK(w, region == told.t.region);
    EQUAL(w, from->id, (w->me + w->n - 1) % w->n);
    EQUAL(w, value, told.seen);
    CHECK(w, has(told.t.bytes + value % 4 * PART, PART, value));
    told.seen++;
}

/* Who is told of a put sees its data, each time once and with its value. */
static void notify(struct world *w)
{
    unsigned char packed[CT_EP_MAX_RKEY], *out = calloc(1, PART);
    CHECK(w, out != NULL);
    told.w = w;
    told.seen = 0;
    told.t = (struct target){.bytes = world_alloc(w, 8 * PART), .len_bytes = 4 * PART};
    const struct ct_ep_exposure what = {.base = told.t.bytes,
                                        .len_bytes = told.t.len_bytes,
                                        .access = CT_NET_REMOTE_WRITE,
                                        .peer = CT_EP_ANY_PEER,
                                        .notified = on_notice,
                                        .arg = &told};
    ct_domain_enter(&w->p);
    EQUAL(w, ct_ep_expose(&w->p, &what, &told.t.region), CTRAN_SUCCESS);
    CHECK(w, ct_ep_region_arg(told.t.region) == &told);
    world_give(w, 0, packed, ct_ep_region_pack(told.t.region, packed));
    ct_domain_leave(&w->p);
    world_meet(w);
    struct ct_ep_rkey   *k = key_open(w, next_rank(w), 0);
    struct ct_net_comp   comp = {.pending = 0};
    const struct ct_area area = {.base = out, .len_bytes = PART};
    for (uint32_t i = 0; i < NOTICES; i++) {
        struct ct_ep_rma op = {.net = {.op = CT_NET_OP_PUT,
                                       .offset = i % 4 * PART,
                                       .comp = &comp,
                                       .area = &area,
                                       .len_bytes = PART,
                                       .notify = true,
                                       .notice = i},
                               .rkey = k};
        fill(out, PART, i);
        do_start(w, &op);
        EQUAL(w, world_wait(w, &comp), CTRAN_SUCCESS);
        atomic_store(&w->shared->words[w->me], i + 1);
        while (told.seen <= i) { /* the next but three is in the same place */
            world_turn(w);
        }
    }
    struct ct_ep_rma bad = {.net = {.op = CT_NET_OP_PUT,
                                    .offset = 4 * PART,
                                    .comp = &comp,
                                    .area = &area,
                                    .len_bytes = 1,
                                    .notify = true},
                            .rkey = k};
    do_start(w, &bad);
    EQUAL(w, world_wait(w, &comp), CT_REFUSED);
    world_meet(w);
    EQUAL(w, told.seen, NOTICES);
    key_close(w, k);
    ct_domain_enter(&w->p);
    ct_ep_withdraw(told.t.region);
    ct_domain_leave(&w->p);
    free(out);
    world_meet(w);
}

/* ---- order and completion -------------------------------------------------------------------- */

/* Data, a fence, a flag: who sees the flag sees the data. The parts are put without waiting. */
static void litmus(struct world *w)
{
    enum { TURNS = 200, DATA = 50000, PARTS = 4, FLAG = PARTS * DATA / 64 * 64 + 64, LAST = 8 };
    struct target      t = target_make(w, FLAG + 64, ALL_RIGHTS, CT_EP_ANY_PEER, 0, 0);
    unsigned char     *out = calloc(PARTS, DATA);
    struct ct_net_comp comp = {.pending = 0}, flag_comp = {.pending = 0};
    CHECK(w, out != NULL);
    world_meet(w);
    struct ct_ep_rkey *k = key_open(w, next_rank(w), 0);
    for (uint32_t turn = 1; turn <= TURNS; turn++) {
        struct ct_ep_rma     parts[PARTS], flag;
        struct ct_area       areas[PARTS];
        uint64_t             word = turn;
        const struct ct_area flag_area = {.base = &word, .len_bytes = 8};
        memset(out, (int)turn, (size_t)PARTS * DATA);
        for (uint32_t i = 0; i < PARTS; i++) {
            areas[i] = (struct ct_area){.base = out + i * DATA, .len_bytes = DATA};
            parts[i] = (struct ct_ep_rma){.net = {.op = CT_NET_OP_PUT,
                                                  .offset = (uint64_t)i * DATA,
                                                  .comp = &comp,
                                                  .area = &areas[i],
                                                  .len_bytes = DATA},
                                          .rkey = k};
            do_start(w, &parts[i]);
        }
        do_fence(w, next_rank(w));
        flag = (struct ct_ep_rma){.net = {.op = CT_NET_OP_PUT,
                                          .offset = FLAG,
                                          .comp = &flag_comp,
                                          .area = &flag_area,
                                          .len_bytes = 8},
                                  .rkey = k};
        if (turn % 2 == 0) { /* or by an atomic, which may go another way */
            flag.net.op = CT_NET_OP_ATOMIC;
            flag.net.atomic = CT_NET_SWAP;
            flag.net.size_bytes = 8;
            flag.net.operand = turn;
        }
        do_start(w, &flag);
        while (__atomic_load_n((uint64_t *)(void *)(t.bytes + FLAG), __ATOMIC_ACQUIRE) != turn) {
            world_turn(w);
        }
        for (size_t i = 0; i < (size_t)PARTS * DATA; i += i < LAST ? 1 : 499) {
            EQUAL(w, t.bytes[i], (unsigned char)turn);
        }
        EQUAL(w, t.bytes[PARTS * DATA - 1], (unsigned char)turn);
        EQUAL(w, world_wait(w, &comp), CTRAN_SUCCESS);
        EQUAL(w, world_wait(w, &flag_comp), CTRAN_SUCCESS);
        world_meet(w);
    }
    key_close(w, k);
    target_drop(w, &t);
    free(out);
    world_meet(w);
}

enum { PUTS = 50, PUT_BYTES = 3000 };

/* Starts puts for which nobody waits here. */
static void start_puts(struct world *w, struct ct_ep_rma *ops, struct ct_ep_rkey *k,
                       const struct ct_area *area, struct ct_net_comp *comp)
{
    for (uint32_t i = 0; i < PUTS; i++) {
        ops[i] = (struct ct_ep_rma){.net = {.op = CT_NET_OP_PUT,
                                            .offset = (uint64_t)i * PUT_BYTES,
                                            .comp = comp,
                                            .area = area,
                                            .len_bytes = PUT_BYTES},
                                    .rkey = k};
        do_start(w, &ops[i]);
    }
}

static void check_puts(struct world *w, const struct target *t, uint32_t turn)
{
    for (size_t i = 0; i < (size_t)PUTS * PUT_BYTES; i += 977) {
        EQUAL(w, t->bytes[i], (unsigned char)turn);
    }
    EQUAL(w, t->bytes[PUTS * PUT_BYTES - 1], (unsigned char)turn);
}

/* After a flush the data is there, although nobody has waited for the puts: until the target has
 * looked, the origin does not drive transfers. */
static void flush(struct world *w)
{
    enum { TURNS = 50, FLUSHED, LOOKED };
    _Atomic uint32_t  *words = w->shared->words;
    struct target      t = target_make(w, PUTS * PUT_BYTES, ALL_RIGHTS, CT_EP_ANY_PEER, 0, 0);
    unsigned char     *out = calloc(1, PUT_BYTES);
    struct ct_ep_rma  *ops = calloc(PUTS, sizeof *ops);
    struct ct_net_comp comp = {.pending = 0};
    CHECK(w, out != NULL && ops != NULL);
    world_meet(w);
    struct ct_ep_rkey   *k = key_open(w, next_rank(w), 0);
    const struct ct_area area = {.base = out, .len_bytes = PUT_BYTES};
    for (uint32_t turn = 1; turn <= TURNS; turn++) {
        const bool is_origin = turn % w->n == w->me;
        memset(out, (int)turn, PUT_BYTES);
        if (is_origin) {
            start_puts(w, ops, k, &area, &comp);
            EQUAL(w, do_flush(w, next_rank(w)), CTRAN_SUCCESS);
            atomic_store(&words[FLUSHED], turn);
        }
        while (!is_origin && atomic_load(&words[FLUSHED]) != turn) {
            world_turn(w);
        }
        if (!is_origin || w->n == 1) {
            check_puts(w, &t, turn);
            atomic_store(&words[LOOKED], turn);
        }
        while (atomic_load(&words[LOOKED]) != turn) {
            sched_yield();
        }
        EQUAL(w, world_wait(w, &comp), CTRAN_SUCCESS);
        world_meet(w);
    }
    key_close(w, k);
    target_drop(w, &t);
    free(ops);
    free(out);
    world_meet(w);
}

static unsigned dones;

static void on_done(struct ct_net_comp *comp)
{
    (void)comp;
    dones++;
}

/* More operations at once than any window holds, of all kinds; completion is told once. */
static void crowd(struct world *w)
{
    enum { OPS = 900, LEN = 700 };
    struct target      t = target_make(w, OPS * LEN, ALL_RIGHTS, CT_EP_ANY_PEER, 0, 0);
    struct target      sum = target_make(w, 64, ALL_RIGHTS, CT_EP_ANY_PEER, 0, 1);
    unsigned char     *out = calloc(OPS, LEN), *in = calloc(OPS, LEN);
    struct ct_ep_rma  *ops = calloc(OPS, sizeof *ops);
    struct ct_area    *areas = calloc(OPS, sizeof *areas);
    struct ct_net_comp comp = {.pending = 0};
    CHECK(w, out != NULL && in != NULL && ops != NULL && areas != NULL);
    fill(out, (size_t)OPS * LEN, w->me);
    world_meet(w);
    struct ct_ep_rkey *k = key_open(w, next_rank(w), 0), *ks = key_open(w, next_rank(w), 1);
    for (unsigned round = 0; round < 2; round++) {
        unsigned before = dones;
        comp.pending = 1; /* so that it does not end before all are started */
        comp.done = on_done;
        for (size_t i = 0; i < OPS; i++) {
            areas[i] =
                (struct ct_area){.base = (round == 0 ? out : in) + i * LEN, .len_bytes = LEN};
            ops[i] = (struct ct_ep_rma){.net = {.op = round == 0 ? CT_NET_OP_PUT : CT_NET_OP_GET,
                                                .offset = i * LEN,
                                                .comp = &comp,
                                                .area = &areas[i],
                                                .len_bytes = LEN},
                                        .rkey = k};
            if (i % 10 == 9) {
                ops[i].rkey = ks;
                ops[i].net.op = CT_NET_OP_ATOMIC;
                ops[i].net.offset = 8;
                ops[i].net.size_bytes = 8;
                ops[i].net.atomic = CT_NET_ADD;
                ops[i].net.operand = 1;
            }
            do_start(w, &ops[i]);
        }
        const bool over = --comp.pending == 0;
        EQUAL(w, world_wait(w, &comp), CTRAN_SUCCESS);
        EQUAL(w, dones - before, over ? 0 : 1);
        world_meet(w);
    }
    for (size_t i = 0; i < OPS; i++) {
        for (size_t b = 0; b < LEN && i % 10 != 9; b += 23) {
            EQUAL(w, in[i * LEN + b], out[i * LEN + b]);
        }
    }
    uint64_t total;
    memcpy(&total, sum.bytes + 8, sizeof total);
    EQUAL(w, total, 2 * OPS / 10);
    key_close(w, k);
    key_close(w, ks);
    target_drop(w, &t);
    target_drop(w, &sum);
    free(out);
    free(in);
    free(ops);
    free(areas);
    world_meet(w);
}

/* Where memory is mapped, load and store see and change the owner's, and so do operations; the
 * mapping stays when the region is withdrawn. Shared memory has to be mapped. */
static void map(struct world *w)
{
    struct target t = target_make(w, 1 << 20, ALL_RIGHTS, CT_EP_ANY_PEER, 6, 0);
    world_meet(w);
    struct ct_ep_rkey *k = key_open(w, next_rank(w), 0);
    struct ct_net_cost cost = {.lat_ns = 0};
    unsigned char      one = 0;
    ct_domain_enter(&w->p);
    unsigned char *at = ct_ep_map(k);
    for (int op = CT_NET_OP_GET; op <= CT_NET_OP_ATOMIC; op++) {
        ct_ep_query(k, (enum ct_net_op)op, &cost);
        CHECK(w, cost.lat_ns > 0 && cost.bytes_per_us > 0 && cost.max_bytes > 0);
        CHECK(w, at == NULL || (cost.flags & CT_NET_TARGET_CPU) == 0);
    }
    ct_domain_leave(&w->p);
    CHECK(w, at != NULL || w->args->memory != WORLD_SHARED);
    world_meet(w);
    if (at != NULL) {
        EQUAL(w, at[(1 << 20) - 1], 6);
        at[5] = 50;
        world_meet(w);
        EQUAL(w, t.bytes[5], 50);
        EQUAL(w, do_get(w, k, 5, &one, 1), CTRAN_SUCCESS);
        EQUAL(w, one, 50);
        world_meet(w);
        target_drop(w, &t);
        world_meet(w);
        at[5] = 51; /* no fault */
    } else {
        target_drop(w, &t);
    }
    key_close(w, k);
    world_meet(w);
}

/* Rank 1 dies while others use its memory: all operations with it end, those with others go on. */
static void death(struct world *w)
{
    enum { OPS = 60, LEN = 20000 };
    struct target t = target_make(w, OPS * LEN, ALL_RIGHTS, CT_EP_ANY_PEER, 1, 0);
    world_meet(w);
    struct ct_ep_rkey *k = key_open(w, 1, 0), *other = key_open(w, 2, 0);
    unsigned char     *buf = calloc(OPS, LEN);
    struct ct_ep_rma  *ops = calloc(OPS, sizeof *ops);
    struct ct_net_comp comp = {.pending = 0}, flushed = {.pending = 0};
    int                status = CTRAN_SUCCESS;
    CHECK(w, buf != NULL && ops != NULL);
    const struct ct_area area = {.base = buf, .len_bytes = (size_t)OPS * LEN};
    world_meet(w);
    for (unsigned round = 0; status == CTRAN_SUCCESS; round++) {
        if (w->me == 1 && round == 3) {
            (void)raise(SIGKILL);
        }
        for (size_t i = 0; i < OPS && w->me != 1; i++) {
            ops[i] = (struct ct_ep_rma){.net = {.op = i % 2 == 0 ? CT_NET_OP_PUT : CT_NET_OP_GET,
                                                .offset = i * LEN,
                                                .comp = &comp,
                                                .area = &area,
                                                .pos = i * LEN,
                                                .len_bytes = LEN},
                                        .rkey = k};
            do_start(w, &ops[i]);
        }
        if (w->me != 1) {
            flushed.pending++;
            ct_domain_enter(&w->p);
            (void)ct_ep_fence(world_ep(w, 1));
            ct_ep_flush(world_ep(w, 1), &flushed);
            ct_domain_leave(&w->p);
        }
        status = world_wait(w, &comp);
        (void)world_wait(w, &flushed);
        world_turn(w);
    }
    EQUAL(w, status, CTRAN_ERR_PROC_FAILED);
    EQUAL(w, do_put(w, k, 0, buf, 8), CTRAN_ERR_PROC_FAILED);
    EQUAL(w, do_flush(w, 1), CTRAN_ERR_PROC_FAILED);
    memset(buf, 0, 8);
    EQUAL(w, do_get(w, other, 0, buf, 8), CTRAN_SUCCESS);
    EQUAL(w, buf[0], 1);
    atomic_fetch_add(&w->shared->words[0], 1);
    while (atomic_load(&w->shared->words[0]) != w->n - 1) {
        world_turn(w);
    }
    key_close(w, k);
    key_close(w, other);
    target_drop(w, &t);
    free(buf);
    free(ops);
}

const struct world_case cases_rma[] = {
    {"sizes", 2, 0, sizes},   {"strided", 2, 0, strided}, {"atomics", 4, 0, atomics},
    {"notify", 3, 0, notify}, {"litmus", 2, 0, litmus},   {"flush", 2, 0, flush},
    {"crowd", 2, 0, crowd},   {"map", 3, 0, map},         {"dead target", 3, 1 << 1, death},
    {NULL, 0, 0, NULL},
};
