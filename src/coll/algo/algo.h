/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll/algo - collective algorithms as pure functions over blocks.
 *
 * An algorithm answers one question: in round r, what does rank i of n do? The answer is a few
 * steps on blocks. It touches no socket, no clock and no heap, knows no bytes and no datatypes, and
 * keeps nothing between calls. All other users call the same functions: the runner moves real data,
 * the prover in the tests executes all ranks symbolically, simulators compute times. To add one:
 * write a file with a struct ct_algo in it, and a line in table.c.
 *
 * Blocks. A collective's vector has nblk blocks, numbered alike on all ranks: its parts in rank
 * order where each rank has one (allgather, gather, reduce_scatter, scatter); as many as an
 * algorithm likes, up to n, for bcast, reduce and allreduce; else one whole. SEND and RECV are the
 * user's buffers seen as that vector: in allgather and gather a rank's SEND has its own block `me`
 * only, in reduce_scatter and scatter its RECV; at a rank where MPI gives no buffer (bcast: SEND
 * everywhere; scatter: SEND, reduce and gather: RECV but at the root; exscan: RECV at rank 0) an
 * algorithm must not touch it, though it may name blocks by it. TMP is scratch, tmp() blocks of
 * this rank.
 * Where a slice lies in TMP, the step's other slice says which blocks those are, and so how long;
 * both lie in TMP only where nblk is 1, and in alltoall.
 *
 * Alltoall has n vectors: block j of rank i's SEND is for rank j, where it becomes block i of RECV.
 * So there, and only there, a block has one number at its sender and another at its receiver. All
 * are of one length, unless env.uneven, so any may lie anywhere, in TMP and in RECV, on its way.
 *
 * Uneven (env.uneven: gatherv, scatterv, alltoallv). Only the rank that a block comes from and the
 * one that it goes to know how long it is. An algorithm that passes blocks on does not fit. In
 * allgatherv and reduce_scatter all ranks know all lengths: these are not uneven.
 *
 * In place (env.inplace): SEND and RECV are the same memory, block by block; what is to be sent is
 * already in RECV. An algorithm then makes no COPY from SEND to RECV. (reduce_scatter and alltoall
 * in place are the exceptions: see ct_coll, which gives them a RECV or SEND apart.) Steps may still
 * name SEND: it is the same block of RECV. bcast and barrier are never in place, reduce, gather and
 * scatter at the root alone; rounds() does not depend on inplace.
 *
 * Barrier. nblk is 1, no buffer exists, slices are empty (run 0, in TMP): a message of no bytes. No
 * other collective has empty slices.
 *
 * Neighbourhoods (CT_NEAR, neighbour.c). Block j of SEND is for the j-th destination in env.near,
 * block i of RECV from the i-th source there. Each rank has its own, and rounds of its own number.
 *
 * Steps. One of:
 *   TX     send src to peer                            (dst: names the blocks if src is TMP)
 *   RX     receive from peer into dst                  (src: names the blocks if dst is TMP)
 *   RX_OP  receive `in` from peer; dst = in op src, with CT_SWAP dst = src op in;
 *          with CT_ONTO the operand is dst itself (src: names the blocks if dst is TMP)
 *   COPY   dst = src
 *   OP     dst = dst op src, with CT_SWAP dst = src op dst
 * The two slices of a step have the same number of blocks, and where neither lies in TMP the same
 * blocks; dst and src of RX_OP may be the same. No step writes SEND, nor the root's RECV in bcast.
 * "a op b" puts a's contributions before b's: a non-commutative operator sees ranks in order when
 * the algorithm has the trait ORDERED and env.ordered asks for it; scan and exscan always are in
 * order.
 *
 * Rounds. COPY and OP steps of a round are done, in the order given, when the round starts, before
 * its transfers; all its TX and RX then run at once, so no transfer of a round may touch what
 * another of it writes. Round r starts when the receives of rounds <= r - rxlag have landed and the
 * sends of rounds <= r - txlag are drained (their source may be overwritten); rounds start in
 * order. A receive has landed when RX_OP's reduction is done, too. Lags are >= 1; 1 and 1 is
 * lockstep. A runner may wait for more than the lags ask. The k-th TX to a peer matches the k-th RX
 * from this rank there, per plan, chunk and lane.
 *
 * Chunks. The runner cuts every block into chunks and runs the rounds once for each, several at a
 * time; an algorithm knows nothing of it. Lanes are independent copies of the algorithm on their
 * own parts of the blocks (a bidirectional ring has two); all but such algorithms have one.
 *
 * Radix. Algorithms with the trait RADIX work in base env.radix: digits of ranks, children of a
 * tree. A larger radix means fewer rounds of more messages each. Other algorithms ignore it. The
 * selection sets the radix, equal on all ranks and CT_RADIX_DEFAULT by default, and asks fits():
 * the algorithm decides how large the radix may be, and 2 always fits.
 */
#ifndef CT_COLL_ALGO_ALGO_H
#define CT_COLL_ALGO_ALGO_H

#include <stdbool.h>
#include <stdint.h>

#include "coll/algo/levels.h"

enum ct_buf { CT_SEND, CT_RECV, CT_TMP };
enum ct_act { CT_TX, CT_RX, CT_RX_OP, CT_COPY, CT_OP };

enum {
    CT_SWAP = 1, /* the operands of RX_OP and OP change places */
    CT_ONTO = 2  /* RX_OP: src is dst */
};

/* Blocks at, at + 1, ... at + run - 1, and the same again reps - 1 times, `stride` further on each
 * time; all modulo nblk (SEND, RECV) or tmp() (TMP). reps is at least 1. The last time the last
 * `less` blocks of the run are left out; less < run. */
struct ct_slice {
    uint8_t  buf; /* enum ct_buf */
    uint32_t at, run, stride, reps, less;
};

struct ct_step {
    uint8_t         act, flags; /* enum ct_act; CT_SWAP, CT_ONTO */
    uint32_t        peer;       /* TX, RX, RX_OP */
    struct ct_slice dst, src;
};

enum {
    CT_MAX_STEPS = 8, /* most steps a round */
    CT_RADIX_DEFAULT = 2,
    CT_LAG_FREE = UINT16_MAX /* a lag so long that rounds need not wait */
};

/* A rank's end of an edge of a graph: what it sends or receives in a neighbourhood. */
struct ct_edge {
    uint32_t peer, block; /* block: of SEND for a destination, of RECV from a source */
    uint32_t shift, nth;  /* equal at both ends of an edge, see ct_algo_order_edges */
    bool     in;          /* the peer is its source */
};

/* Sources and destinations include CTRAN_PROC_NULL, which has no edge. */
struct ct_neighbours {
    uint32_t              nsources, ndestinations, nedges;
    const struct ct_edge *edges; /* in the order of ct_algo_order_edges */
};

/* All that an algorithm may know. nblk is chosen by its nblk(). */
struct ct_env {
    uint32_t n, me;   /* ranks, and the one asked about */
    uint32_t root;    /* bcast, reduce, gather, scatter */
    uint32_t radix;   /* >= 2; for algorithms that have one */
    uint32_t nblk;    /* blocks of the vector */
    bool     inplace; /* SEND and RECV are the same memory */
    bool     ordered; /* the operator does not commute */
    bool     uneven;  /* a block's length is known to its sender and its receiver alone */

    const struct ct_neighbours *near; /* borrowed; NULL but in neighbourhoods */
    /* Which ranks stand together, the same on all; NULL: that is not known, or does not matter. */
    const struct ct_levels *levels;
};

/* Collectives, as bits, since one algorithm may serve several. */
enum ct_coll_kind {
    CT_BARRIER = 1 << 0,
    CT_BCAST = 1 << 1,
    CT_REDUCE = 1 << 2,
    CT_ALLREDUCE = 1 << 3,
    CT_ALLGATHER = 1 << 4,
    CT_REDUCE_SCATTER = 1 << 5,
    CT_GATHER = 1 << 6,
    CT_SCATTER = 1 << 7,
    CT_ALLTOALL = 1 << 8,
    CT_SCAN = 1 << 9,
    CT_EXSCAN = 1 << 10,
    CT_NEAR = 1 << 11, /* in neighbourhoods, where one algorithm does all; the table is without */
};

enum ct_trait {
    CT_ORDERED = 1 << 0, /* reduces in rank order where env.ordered asks for it */
    CT_SHIFT = 1 << 2,   /* equal on all ranks up to a rotation of ranks and blocks */
    /* TX sends nothing but what its rank put in, and a rank that sends begins to no later than it
     * begins to receive: so where ranks share memory they can read each other's input instead. */
    CT_ONE_SHOT = 1 << 3,
    /* CT_ONE_SHOT in the first half of the rounds; in the second half TX sends nothing but the
     * rank's block of RECV, which the first half has made. */
    CT_TWO_SHOT = 1 << 7,
    /* A rank sends once, all of its input or, if it has received before, the block of TMP in which
     * it has added up what came; so it may do that where the next one reads it. One block. In
     * round 0 pairs of ranks meet that are the same whatever the root. */
    CT_RELAY = 1 << 10,
    CT_BY_SHM = CT_ONE_SHOT | CT_TWO_SHOT | CT_RELAY,
    CT_RADIX = 1 << 4,   /* has a radix */
    CT_STRIDED = 1 << 5, /* some slice repeats: what it sends is not always one run of blocks */
    CT_PACED = 1 << 6, /* the lags are shorter than data needs, so that few transfers are at work */
    CT_BY_LEVEL = 1 << 9, /* fits only where env.levels are there */
    CT_BY_PLACE = 1 << 8, /* its blocks are numbered by place: block b is rank levels->rank[b]'s */
};

struct ct_algo {
    const char *name;
    uint32_t    colls;  /* enum ct_coll_kind bits; exactly one a table row */
    uint32_t    traits; /* enum ct_trait bits */
    uint16_t    lanes, rxlag, txlag;
    /* Whether it can serve this n, root, radix, ordered, uneven and levels: alike on all ranks. */
    bool (*fits)(const struct ct_env *env);
    /* Into how many blocks it wants the vector cut: see Blocks above. */
    uint32_t (*nblk)(const struct ct_env *env);
    uint32_t (*rounds)(const struct ct_env *env, unsigned lane);
    uint32_t (*tmp)(const struct ct_env *env); /* may differ from rank to rank */
    /* Writes the steps of round r, at most CT_MAX_STEPS, and returns their number. Rounds may
     * be empty; all ranks have the same number of rounds (but of CT_NEAR). */
    unsigned (*round)(const struct ct_env *env, unsigned lane, uint32_t r, struct ct_step *out);
};

/* The registry, in order of declaration, ended by NULL. */
extern const struct ct_algo *const ct_algo_table[];

/* The exchange with neighbours, and the order that it needs: of the edges of rank `me` of n, each
 * with peer, block and direction, those of a pair of ranks in the order in which they match. */
extern const struct ct_algo ct_algo_neighbour;
void ct_algo_order_edges(struct ct_edge *edges, uint32_t nedges, uint32_t n, uint32_t me);

/* By collective and name; NULL when there is none. */
const struct ct_algo *ct_algo_find(uint32_t coll, const char *name);

/* The name of a collective ("allreduce"), and the reverse; NULL and 0 when unknown. */
const char *ct_algo_coll_name(uint32_t coll);
uint32_t    ct_algo_coll_by_name(const char *name);

#endif
