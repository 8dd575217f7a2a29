/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bottom - every public call that moves or reduces data is carried out twice on the same memory:
 * with a pointer to the data and a datatype of relative displacements, then with CTRAN_BOTTOM and
 * a datatype of absolute addresses. Both runs leave the same bytes in all of the memory.
 *
 * bottom_calls.def is the table of calls: a new call is one line there. A line names the call, a
 * shape (bottom_shapes.c: which blocks each buffer has) and the call's arguments. A case (struct
 * args) is one drawn call: bottom_case.c draws what all ranks know alike, then each rank draws for
 * itself how its memory is laid out and which of its buffers is absolute. bottom_ends.c makes the
 * buffers, bottom_run.c runs both forms and compares them.
 */
#ifndef CT_TESTS_FUNC_BOTTOM_H
#define CT_TESTS_FUNC_BOTTOM_H

#include "check.h"

enum { PEERS = 8 }; /* ranks at most */

/* ---- datatypes, bottom_types.c --------------------------------------------------------------- */

/* An element of a layout has PER scalars, but one of SINGLE has one. DENSE has no gaps. BYTE is a
 * scalar of one byte. */
enum { DENSE, LAYOUTS = 5, SINGLE = LAYOUTS, PER = 4, SCALARS = 5, BYTE = SCALARS - 1 };

/* Bytes of a scalar, and from an element to the next one. */
size_t scalar_bytes(int scalar);
size_t layout_extent(int layout, int scalar);
/* A committed type whose element at address a has its data at a + base. */
ctran_datatype_t layout_type(int layout, int scalar, ctran_aint_t base);
/* Fills memory with numbers of that scalar whose sums are exact. */
void scalars_fill(void *memory, size_t len, int scalar, uint64_t key);
/* to[i] = from[i] + to[i] for the scalars of count elements. */
void layout_add(int layout, int scalar, const char *from, char *to, ctran_count_t count);

/* ---- shapes, bottom_shapes.c ----------------------------------------------------------------- */

enum blocks { NOTHING, ONE, EACH /* one block for each peer */ };
enum amounts { EVEN, BY_SENDER, BY_RECEIVER, BY_PAIR, BY_PART /* of reduce_scatter */ };
enum place { NOWHERE, SEND_AT_ROOT, RECV_AT_ROOT, SEND_EVERYWHERE }; /* CTRAN_IN_PLACE */
enum { ON_WORLD = 1, ON_RING = 2, ON_GROUPS = 4 };                   /* teams */

/* What a kind of call does. */
struct shape {
    enum blocks  send, recv;
    enum amounts amounts;
    enum place   in_place;
    unsigned     teams;
    bool         displs;   /* blocks need not be adjacent */
    bool         one_type; /* both buffers have one datatype */
    bool         posted;   /* a receive on the ring is there before the call */
    bool         awaited;  /* a message on the ring was sent before the call */
};

extern const struct shape bcasts, reduces, allreduces, scans, scatters_blocks, scatters_parts,
    gathers, gathers_v, scatters, scatters_v, allgathers, allgathers_v, alltoalls, alltoalls_v,
    near_allgathers, near_allgathers_v, near_alltoalls, near_alltoalls_v, sends, receives,
    exchanges, replaces, dynamics, local, local_reduces;

/* ---- cases ----------------------------------------------------------------------------------- */

/* Who takes part: the ranks that this one exchanges blocks with, by their rank in the world. */
struct team {
    unsigned     kind; /* ON_WORLD, ON_RING or ON_GROUPS */
    ctran_comm_t comm;
    int          n, peers[PEERS];
    int          group_n, group_me; /* of the communicator's local group */
    bool         root_group;        /* of an inter-communicator: the root is in this group */
};

/* A buffer: its memory, and what the call is given for it. */
struct end {
    int              memory_kind, layout, scalar;
    char            *memory;
    size_t           bytes;
    char            *at; /* of the first element */
    int              n;  /* blocks */
    ctran_count_t    counts[PEERS], count /* of the first block */;
    ctran_aint_t     displs[PEERS]; /* in extents */
    ctran_aint_t     base;          /* of the datatype */
    void            *buf;
    ctran_datatype_t type;
    ctran_aint_t     bytes_displs[PEERS]; /* as the calls with a type for each block have them */
    ctran_datatype_t types[PEERS];
};

enum form { NOW, LATER, KEPT, ON_STREAM, BY_KERNEL /* on a stream, by kernels alone */ };

struct args;

/* A line of the table. */
struct row {
    const char         *name;
    const struct shape *shape;
    enum form           form;
    int                 starts; /* of a persistent request */
    int (*go)(struct args *a);
};

struct args {
    const struct row   *row;
    const struct shape *shape;
    const struct team  *team;
    struct end          send, recv;
    ctran_count_t       parts[PEERS]; /* of reduce_scatter: one for each rank of the group */
    ctran_op_t          op;
    ctran_comm_t        comm;
    int                 root, left, right;
    bool                at_root, in_place /* this rank's input is */;
    ctran_count_t       packed, position; /* bytes */
    ctran_request_t     request;
    ctran_stream_t      stream;
    uint64_t            common, own; /* generators: of all ranks, of this one */
};

/* Buffers lie in memory of other kinds than the host's, too. */
extern bool memory_varies;

extern const struct row bottom_rows[];
extern const size_t     bottom_nrows;

/* bottom_case.c: the next drawn case of a row; its buffers are made. */
void case_draw(struct args *a, const struct row *row, const struct team *team, uint64_t seed);
void case_free(struct args *a);

/* bottom_ends.c: makes the memory of an end, whose counts are set; frees it. */
void end_new(struct end *e, bool spaced);
void end_free(struct end *e);
/* Gives the call ordinary buffers, or those that this rank draws as absolute. */
void ends_name(struct args *a, bool absolute);
void ends_unname(struct args *a);
/* An operator on the named ends of the current case. */
ctran_op_t ends_op(const struct args *a, int commute);

/* bottom_run.c: runs a case in both forms and compares; true if the call changed its result. */
bool case_run(struct args *a);

/* bottom_kinds.c: one buffer in several kinds of memory, on a ring. */
void bottom_kinds(const struct team *ring);

/* bottom_hand.c: calls that take more than a line. */
int hand_mrecv(struct args *a);
int hand_imrecv(struct args *a);
int hand_partitioned(struct args *a);
int hand_enqueue(struct args *a);
int hand_dynamic(struct args *a);
/* bottom_win.c: through windows. */
int hand_put(struct args *a);
int hand_rput(struct args *a);
int hand_rget(struct args *a);
int hand_put_signal(struct args *a);
int hand_accumulate(struct args *a);
int hand_raccumulate(struct args *a);
int hand_get_accumulate(struct args *a);
int hand_rget_accumulate(struct args *a);

#endif
