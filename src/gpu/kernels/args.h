/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of a kernel, shared by C (which fills them in, gpu/kernels.c) and CUDA (which reads
 * them, *.cu here), and the layout of a workspace.
 *
 * Each rank has a workspace in its device's memory that all ranks of the communicator map. It is
 * divided into channels; block b of a kernel uses channel b alone, so blocks of one launch never
 * wait for each other. In a channel each ordered pair of ranks has a stream of numbered items: item
 * s (from 1 on) goes through slot s mod CT_KERNEL_WINDOW at the receiver, and may be sent once the
 * receiver has said that it is through with item s - CT_KERNEL_WINDOW. The slots are in the
 * receiver's memory, so kernels write to peers and read only their own memory. The numbers live in
 * the workspace and are advanced by the kernels, so that a replayed graph goes on where it stopped;
 * they wrap at 2^32.
 *
 * An item is of one of two kinds, which share the numbers but not the slots:
 *   - a flagged one ("LL" with the field): each 8 bytes written hold 4 bytes of payload and the
 *     item's number, so that data tell themselves that they have arrived: lowest latency, half the
 *     bandwidth. The receiver says that it is through when its next kernel begins, or its next
 *     step.
 *   - a bulk one: plain bytes, then, after a fence, the number in the pair's `ready` word. A kernel
 *     of fewer blocks than there are channels has larger slots: those of several channels together.
 *     So it ends only when its peers are through with all that it sent, and leaves the slots empty.
 *     A kernel that hands out what it has reduced has a second stream for these results, since
 *     neither waits for the other: half of the slots, words of its own, and numbers from 1 on in
 *     each kernel.
 * A third kind, rows, has numbers of its own, in a part of the workspaces that no other kind uses:
 * every 32 bytes end with the item's number, in 4 bytes (ll32.cuh).
 * Which kind, how many blocks and how large the steps are must be the same on both sides of a pair:
 * they follow from sizes that both know and from the layout.
 *
 * Direct kernels (ct_move_direct, ct_bcast_direct, ct_reduce_direct_*) have no slots: the ranks'
 * own buffers are mapped by all, and a rank reads those of its peers, or writes to them. A rank
 * *opens* its memory to a peer, which *uses* it once that has been said, and says when it is
 * through. Both count in words of the pair (ct_kernel_pair), one for each way: of a pair there is
 * one such kernel at a time each way, in the same order on both sides. ct_bcast_direct has words of
 * channels, too: so its blocks are the same on all ranks, and no more than there are channels.
 */
#ifndef CT_GPU_KERNELS_ARGS_H
#define CT_GPU_KERNELS_ARGS_H

#include <stdint.h>

enum {
    CT_KERNEL_RANKS = 32,    /* at most this many in a communicator that uses kernels */
    CT_KERNEL_THREADS = 512, /* of a block at most, on a GPU; the emulation has one */
    CT_KERNEL_WINDOW = 4,    /* items on their way for one pair and channel */
    CT_KERNEL_BLOCKS = 128,  /* at most this many channels; */
    CT_KERNEL_CHANNELS = 64, /* of a communicator's workspace these: the fewer, the longer items */
    CT_KERNEL_LINE = 4096,   /* the control words begin on a page of their own */
    CT_KERNEL_HEAD = 16,     /* bytes of an item of ct_messages behind its data */
    CT_KERNEL_UNITS = 512,   /* bytes whose lines lie together, line_of; an item has a multiple */
    CT_KERNEL_WARP = 32,     /* threads whose rows are one after the other, */
    CT_KERNEL_WARP_LINES = 2048,  /* of so many bytes */
    CT_KERNEL_WARP_DATA = 1792,   /* and so much payload */
    CT_KERNEL_LL32_THREADS = 384, /* of a block that sends rows, at most */
    CT_KERNEL_SPREAD = 3,         /* peers of a call by rows, at most */
};

/* Types and operators as kernels know them; gpu/kernels.c translates. */
enum ct_kernel_type {
    CT_KERNEL_U8,
    CT_KERNEL_I8,
    CT_KERNEL_U16,
    CT_KERNEL_I16,
    CT_KERNEL_U32,
    CT_KERNEL_I32,
    CT_KERNEL_U64,
    CT_KERNEL_I64,
    CT_KERNEL_F16,
    CT_KERNEL_BF16,
    CT_KERNEL_E4M3, /* OCP 8-bit formats: no infinity, one NaN; and */
    CT_KERNEL_E5M2, /* as IEEE 754 would have it */
    CT_KERNEL_F32,
    CT_KERNEL_F64,
    CT_KERNEL_CF32,
    CT_KERNEL_CF64,
    CT_KERNEL_F32_INT, /* pairs for MINLOC and MAXLOC: struct ct_pair_* of dtype/dtype.h */
    CT_KERNEL_F64_INT,
    CT_KERNEL_SHORT_INT,
    CT_KERNEL_INT_INT,
    CT_KERNEL_LONG_INT,
    CT_KERNEL_TYPES
};

enum ct_kernel_op {
    CT_KERNEL_SUM,
    CT_KERNEL_PROD,
    CT_KERNEL_MIN,
    CT_KERNEL_MAX,
    CT_KERNEL_BAND,
    CT_KERNEL_BOR,
    CT_KERNEL_BXOR,
    CT_KERNEL_LAND,
    CT_KERNEL_LOR,
    CT_KERNEL_LXOR,
    CT_KERNEL_MINLOC,
    CT_KERNEL_MAXLOC,
    CT_KERNEL_OPS
};

/* The control words of a channel and a peer in a rank's workspace: one load brings the first 4. */
struct ct_kernel_words {
    uint32_t sent;  /* items to the peer so far; written by the rank itself */
    uint32_t got;   /* items from the peer that it is through with; by the rank itself */
    uint32_t acked; /* items to the peer that the peer is through with; by the peer */
    uint32_t ready; /* the last bulk item from the peer; by the peer. In channel 0, of the rank
                       itself: blocks of the running kernel that are through */
    /* The same of results; and `ready` of the pieces of a ct_bcast_direct. 0 between kernels. */
    uint32_t result_acked, result_ready;
    uint32_t pad[2]; /* 0 */
};

/* Of direct kernels, for a peer, in a rank's workspace. Each word has one writer. */
struct ct_kernel_pair {
    uint32_t ready; /* how often the peer has opened its memory to the rank; by the peer */
    uint32_t done;  /* how often it was through with the rank's; by the peer */
    uint32_t
        opened;    /* how often the rank has opened its own to the peer, in kernels that are over */
    uint32_t used; /* how often the rank was through with the peer's */
    uint32_t through; /* blocks of the running kernel that are through with the peer's */
    uint32_t pad[3];  /* 0 */
};

/* Offsets in a workspace, the same on all ranks. ct_kernel_layout_make */
struct ct_kernel_layout {
    uint32_t channels;
    uint32_t flagged_bytes; /* payload of a flagged item; its slot is twice that */
    uint32_t bulk_bytes;    /* of a bulk item and its slot */
    uint32_t pad;           /* 0 */
    uint64_t pairs_at;      /* a ct_kernel_pair for each rank; the control words are at 0 */
    uint64_t flagged_at, bulk_at;
};

/* The fields that all launches of a communicator share, except `finishes`. */
struct ct_kernel_comm {
    uint32_t                rank, size;
    struct ct_kernel_layout layout;
    const uint32_t *abort; /* nonzero: every wait ends. In pinned memory, as the device sees it */
    uint32_t *finished;    /* there, too: a kernel that is over with all it does to memory writes */
    uint32_t  finishes;    /* this; finished NULL: nothing */
    uint32_t  pad;         /* 0 */
    /* There, too: peers, a bit each, that after an abort are not waited for though they may use
     * this rank's memory. NULL: all. */
    const uint32_t *let_go;
    void           *workspace[CT_KERNEL_RANKS]; /* of each rank, as this device sees them */
};

/* What is sent to a peer and received from it; for the rank itself, what is copied. */
struct ct_kernel_move {
    const void *src;
    void       *dst;
    uint64_t    send_bytes, recv_bytes;
};

/* The kernels that move (ct_move_*) take `to` and `from`: masks of peers, never the rank itself.
 * Those that reduce (ct_reduce_*): each rank has a part of the whole for which it collects the
 * contributions and which it then distributes; move[p].src is this rank's contribution to the part
 * of p, move[p].dst where the finished part of p is wanted, and both have send_bytes and
 * recv_bytes. `to` and `from` say whose parts it contributes to, and who contributes to its own
 * (itself included: then move[rank].src counts); result_to and result_from who gets the finished
 * parts. The contributions are combined in the order of ranks. All ranks agree on part_bytes, which
 * is no less than any part. */
struct ct_kernel_args {
    struct ct_kernel_comm comm;
    uint32_t              op; /* enum ct_kernel_op */
    uint32_t              to, from, result_to, result_from;
    uint32_t              item_bytes; /* of a step: of a bulk item, or of a flagged one */
    uint64_t              each_bytes; /* of every move or part, this much for each block */
    uint64_t              own_bytes;  /* of this rank's part */
    uint64_t              part_bytes; /* of the longest part */
    struct ct_kernel_move move[CT_KERNEL_RANKS];
};

/* ct_move_ll32, ct_reduce_ll32_*: what a rank gets of those in `from`, and its own if that counts,
 * is combined, goes to own_dst and to all in result_to; what comes of those in result_from goes to
 * its peer's dst. The lengths of a pair are the same on both sides, steps and lanes on all ranks.
 * ct_move_short, ct_reduce_short_* and ct_messages_short: the same as of flagged items in one step
 * (short.cuh), or as ct_messages, among few ranks, with all addresses worked out: they are of block
 * 0, and those of block b are b times so many bytes behind. Peers are in the order in which they
 * are sent to; of reductions, in that of ranks. All are multiples of a word. What is needed first
 * comes first. */
enum { CT_KERNEL_SHORT = 7 /* peers at most */ };
struct ct_kernel_short_peer {
    struct ct_kernel_words *words;  /* the rank's own, of the peer */
    const void             *src;    /* what goes to it, */
    char                   *out;    /* and in what slots there */
    const char             *in;     /* the slots of what comes from it, */
    struct ct_kernel_words *theirs; /* the words that say to it that this is done with, */
    void                   *dst;    /* and where it goes; not of reductions */
    uint32_t                send_bytes, recv_bytes;
    uint32_t                send_extent, recv_extent; /* what both know: no less than that */
};
struct ct_kernel_short {
    uint32_t        words_bytes, slots_bytes, each_bytes; /* of a block; the last, of all buffers */
    uint32_t        turn_bytes;                           /* of a slot */
    uint8_t         peers, to, from; /* as many; masks of them that are sent to, and that send */
    uint8_t         below;           /* of a reduction: so many are below the rank, and first */
    uint8_t         own;             /* what is the rank's own counts, too */
    uint8_t         vectors;         /* all buffers begin at multiples of 16 bytes */
    uint8_t         op;              /* enum ct_kernel_op */
    uint8_t         result_to, result_from; /* of rows: masks, as of ct_kernel_args */
    uint8_t         spread; /* 0: all threads have all peers. Else 2^spread have each, and so many
                               what is the rank's own; not of rows, where it is always `lanes` */
    uint16_t        steps, lanes; /* of rows: of a block; threads that have the same peer, also of
                                     those that the emulation does one after the other */
    uint32_t        own_bytes, finishes;
    const void     *own_src;
    void           *own_dst; /* of a reduction: where all goes */
    uint32_t       *finished, *through;
    const uint32_t *abort;
    uint32_t        units_bytes; /* of a slot: of which units may be */
    struct ct_kernel_short_peer peer[CT_KERNEL_SHORT];
};

/* ct_messages: sends and receives, at most one each way with a peer, in a part of the workspace of
 * their own, so that their order and that of other kernels need not agree. extent: what both ends
 * know of the length, no less than it; the rest is told by the items. */
struct ct_kernel_end {
    void    *buf;
    uint64_t bytes; /* of the message; of a receive's buffer */
    uint64_t extent;
};
struct ct_kernel_messages {
    struct ct_kernel_comm comm;
    uint32_t              to, from;   /* masks of peers */
    uint32_t              each_bytes; /* of every message, this much for each block */
    uint32_t              pad;        /* 0 */
    struct ct_kernel_end  send[CT_KERNEL_RANKS], recv[CT_KERNEL_RANKS];
};

/* Direct kernels: `open` and `use` are masks of peers, those to whom this rank opens its memory and
 * those whose memory it uses. ct_move_direct copies move[p], from its own memory to p's, for each p
 * of `use`, and move[rank] if it has bytes: `together`, when all have opened theirs; else in the
 * order in which they do.
 * ct_bcast_direct copies so, too: the root to each peer its part, a peer its part to all others,
 * as it comes from the root. No part is longer than own_bytes; blocks and sizes are alike on all
 * ranks.
 * ct_reduce_direct_* combines own_bytes of all ranks, of rank p at move[p].src, in the order of
 * ranks, to all move[p].dst but NULLs. All addresses are as this device sees them. */
struct ct_kernel_reach {
    const void *src;
    void       *dst;
    uint64_t    bytes;
};
struct ct_kernel_direct {
    struct ct_kernel_comm comm;
    uint32_t              open, use;
    uint32_t              op;         /* enum ct_kernel_op */
    uint32_t              root;       /* of ct_bcast_direct */
    uint32_t              together;   /* of ct_move_direct */
    uint32_t              item_bytes; /* of a piece of ct_bcast_direct, at most */
    uint64_t              each_bytes; /* of every move, or of own_bytes, this much for each block */
    uint64_t              own_bytes;
    struct ct_kernel_reach move[CT_KERNEL_RANKS];
};

/* ct_alltoallv_dynamic: counts, displacements and indices are elements, in device memory, and are
 * read when the kernel runs. With send_indices, counts and displacements are places in that list,
 * which names elements of `send`; one that is not there is sent as zeros. What does not fit into
 * recv_bytes is dropped; recv_counts tells what was sent. */
struct ct_kernel_dynamic {
    struct ct_kernel_comm comm;
    const void           *send;
    void                 *recv;
    uint64_t              elem_bytes, send_bytes, recv_bytes; /* of an element, of the buffers */
    const int64_t        *send_counts;
    const int64_t        *send_displs;  /* NULL: one after the other, in the order of ranks */
    const int64_t        *send_indices; /* NULL: none */
    uint64_t              indices;      /* as many */
    int64_t              *recv_counts;
    const int64_t        *recv_displs; /* NULL: one after the other, in the order of ranks */
    uint32_t              grain;       /* bytes below which what goes to a peer is not divided */
    uint32_t              item_bytes;  /* of a bulk item */
};

#endif
