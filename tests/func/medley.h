/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of the program medley: communicators (medley_comms.c), numbers and operators
 * (medley_values.c), a call as a description of who sends what where (medley_plan.c), its buffers
 * and the model that says what is in them afterwards (medley_model.c), the call itself
 * (medley_call.c), and many of them under way (medley.c).
 *
 * The model is sequential: a rank knows every number that any rank puts in, and works out its own
 * result from the standard's definition of the call. Ranks are those of the world, everywhere.
 */
#ifndef CT_TESTS_FUNC_MEDLEY_H
#define CT_TESTS_FUNC_MEDLEY_H

#include "check.h"

enum { MOST_RANKS = 16, MOST_BLOCKS = 64, TO_ALL = -1, NOBODY = -2 };

/* ---- communicators --------------------------------------------------------------------------- */

enum shape { INTRA, INTER, CART, GRAPH };

struct team {
    ctran_comm_t comm; /* NULL where this rank is no member */
    const char  *name;
    enum shape   shape;
    int          me, n;  /* of the own group */
    int          npeers; /* of those that data come from: the remote group's */
    int          own[MOST_RANKS], peers[MOST_RANKS];
    int          nin, nout; /* neighbours */
    int          in[MOST_BLOCKS], out[MOST_BLOCKS];
    int          in_slot[MOST_BLOCKS], out_slot[MOST_BLOCKS]; /* which of several of one pair */
};

enum { MOST_TEAMS = 16 };
/* All ranks make the same ones; how many. */
int  teams_make(struct team *teams);
void teams_free(struct team *teams, int n);

/* ---- numbers --------------------------------------------------------------------------------- */

enum class {
    SIGNED,
    UNSIGNED,
    BITS,
    BOOLEAN,
    REAL,
    COMPLEX,
    REAL_PAIR,
    INT_PAIR,
    WORD, /* for the operators of our own */
};

struct kind {
    const char      *name;
    ctran_datatype_t type;
    enum class class;
    size_t size, value, index; /* bytes: of an element, of a pair's value, up to its index */
};

/* Any of them. */
struct number {
    uint64_t    i;
    long double re, im;
    int         index;
};

enum op { SUM, PROD, MAX, MIN, LAND, LOR, LXOR, BAND, BOR, BXOR, MAXLOC, MINLOC, COMPOSE, ADD };

extern const struct kind kinds[];
extern const int         kinds_n;

/* The number that a key stands for. Where `exact`, reductions of it have no rounding error. */
struct number number_draw(const struct kind *k, enum op op, bool exact, uint64_t key);
struct number number_get(const struct kind *k, const void *at);
void          number_put(const struct kind *k, struct number x, void *at);
bool     number_near(const struct kind *k, struct number a, struct number b, long double slack);
uint64_t number_mix(uint64_t hash, const struct kind *k, struct number x);
/* How much the sum or product of n numbers may be off by rounding; size: the sum, or product, of
 * the numbers' absolute values. */
long double number_slack(const struct kind *k, int n, long double size);
long double number_size(struct number x);
/* a of lower ranks than b. */
struct number number_combine(const struct kind *k, enum op op, struct number a, struct number b);

enum op     op_draw(uint64_t *rng, const struct kind *k);
const char *op_name(enum op op);

/* How `per` scalars lie in an element of a derived type that takes `extent` of them. */
struct layout {
    int per, extent, at[3];
};

enum { FLAT, LAYOUTS = 5, ALL_FIT = 6 }; /* the scalars of which all layouts make whole elements */

extern const struct layout layouts[LAYOUTS];

/* The caller's, to be freed by layout_free and ctran_op_free, but for predefined ones. */
ctran_datatype_t layout_type(const struct kind *k, int layout);
void             layout_free(int layout, ctran_datatype_t *type);
ctran_op_t       op_make(enum op op, int layout);
void             op_drop(enum op op, ctran_op_t *made);

/* ---- a call ---------------------------------------------------------------------------------- */

enum what {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    SCAN,
    EXSCAN,
    WHATS
};

enum form { BLOCKING, NONBLOCKING, PERSISTENT };

/* Scalars of one rank for one other, or for all, and where they lie. */
struct block {
    int    from, to, slot;
    size_t scalars;
    int    layout;
    size_t at; /* bytes */
};

struct side {
    int              n, layout;
    struct block     blocks[MOST_BLOCKS];
    size_t           bytes;
    unsigned char   *buf, *want; /* between canaries; want: as it should be at the end */
    ctran_count_t    counts[MOST_BLOCKS];
    ctran_aint_t     displs[MOST_BLOCKS];
    ctran_datatype_t types[MOST_BLOCKS];
};

struct call {
    int                number, turn;
    uint64_t           key;
    const struct team *team;
    enum what          what;
    enum form          form;
    const struct kind *kind;
    enum op            op;
    bool               exact, in_place;
    int                root;       /* as the call takes it */
    int                root_world; /* who it is */
    bool               at_root, gives, takes;
    size_t             most, each; /* scalars of a block: the most, and of calls without counts */
    bool               down;       /* blocks with counts lie backwards, */
    int                gap;        /* so many elements apart */
    size_t             first;      /* of the reduced vector, what comes to this rank */
    size_t             loose;      /* from here on recv may hold anything */
    struct side        send, recv;
    ctran_request_t    request;
    bool               keep; /* types and the operator, until call_drop */
    ctran_datatype_t   sendtype, recvtype;
    ctran_op_t         made;
};

bool        call_reduces(const struct call *c);
bool        call_has_counts(const struct call *c);
bool        call_rounds(const struct call *c);
const char *call_text(const struct call *c); /* until the next one */
/* "persistent,neighbours,counts": what kind of call it is; until the next one. */
const char *call_traits(const struct call *c);

/* Call `number` of this run; false where this rank takes no part. */
bool call_plan(struct call *c, const struct team *teams, int nteams, int number, bool steady);

/* Buffers: fills them for a turn, and compares: NULL, or what is wrong, until the next one. */
void        call_fill(struct call *c, int turn);
const char *call_judge(struct call *c, uint64_t *digest);
void        call_free(struct call *c);

/* Does it, begins it, or prepares it, by its form. */
void call_go(struct call *c);
/* Gives up what a call that keeps its types has kept. */
void call_drop(struct call *c);

#endif
