/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream - calls that are ordered on a CUDA stream. An operation is a set of messages between this
 * rank and others, or a reduction; the call puts it on the stream and returns. The host drives, the
 * stream waits, for words in pinned host memory that all ranks of a host share: tokens. But for
 * kernels the SMs do nothing.
 *
 * Three ways. On one host whose GPUs reach each other's memory, messages are copied by the copy
 * engines from user memory to user memory (exchange.c); once enqueued, the host has no part in
 * it. There, small collectives, reductions and small messages are done by kernels (kernel.c),
 * and what is longer, but shorter than what copy engines are best at, by kernels from user
 * memory to user memory (direct.c). Everywhere else the stream copies to pinned memory, says go,
 * and waits until the stream thread has had the operation done by the ordinary calls (staged.c).
 *
 * First comer offers, second comer copies. A message has two ends, a producer and a consumer. Each
 * end, as it enqueues, puts an offer (where its memory is) into a slot that both know: the k-th
 * message of this ordered pair of ranks in this communicator goes to slot k modulo the ring's
 * depth. One atomic addition decides who was first. The second knows both offers, and copies: a
 * consumer pulls, a producer pushes. So no end waits on the host for the other, and no address
 * is needed before both are there. What the streams do:
 *
 *     first comer                      second comer
 *     ready := 1
 *                                      wait ready >= 1;  ready := 0
 *                                      copy
 *                                      done := 1
 *     wait done >= 1;  done := 0
 *
 * A token is that pair of words. Which one a message uses the first comer says in its offer; it is
 * one of token[first][second][way][set][lane], where the way is whether the first comer produces,
 * the lane the place of the message among those of this operation with the same first comer, second
 * comer and way, and the set 0, or that of the captured graph which the first comer's end is in.
 *
 * One GPU that copies both ways does so one after the other, and links carry what is pushed faster
 * than what is pulled. So where a message is long, and in a capture, the first comer stays a
 * moment; if the second comes meanwhile both know both offers, and all is as if the consumer had
 * come first: "first" below is that role. But a consumer that would have left the message to a
 * kernel is second: it has no tokens.
 *
 * Why no token is ever used by two messages at once. Let F be first, S second, and m, m' two
 * messages with the same token, m before m' in the order of F.
 *
 * (1) F's operations of one communicator and one set run one after the other: in order of one
 *     stream; by a wait for the end of the last one where that is on another stream; by the graph's
 *     edges inside a capture; a launch of a graph begins after its previous one; and the launches
 *     of graphs with operations of one communicator are in an order that the program gives them.
 *     Since a lane occurs once in an operation, m and m' are in different ones, or different
 *     launches. So F's `done := 0` of m is before F's `ready := 1` of m'.
 * (2) S's ends of m and m' run in this order, too. They are the same way, so they are messages of
 *     one ordered pair and numbered alike on both sides, and (1) holds for S.
 *     Without the way in the index this fails: F sends and then receives, S sends and then
 *     receives, both of F's ends came first. That program waits for ever; with one token for
 *     both ways S's send would take the ready of F's send for that of F's receive.
 * (3) `ready` is set by F alone and cleared by S alone, `done` the reverse. The order is
 *     ready:=1 (F, m) -> wait, ready:=0, copy, done:=1 (S, m) -> wait, done:=0 (F, m) ->
 *     ready:=1 (F, m'): each arrow is order of a stream, or a wait that only the write at its
 *     tail can end, as the word was 0 before, by induction. So both words are 0 when m' begins,
 *     at F by (1), and at S by (2). Stream writes come after all before them in the stream is
 *     visible to the system, clears included.
 * (4) So a replay finds tokens as the first launch did, and needs no number that grows. Sets keep a
 *     graph's tokens apart from those of other graphs and of eager operations, which may be in
 *     flight when it is launched, as far as tokens go; kernels of both share their numbers, and
 *     need the order that the program keeps, (a). Two executable graphs of one capture would share
 *     a set: the driver refuses to instantiate a second one while the first is there, because the
 *     capture has a node that allocates memory (graph.c).
 *
 * Why slots are safe: a slot counts those who came, in all, and how often both offers have been
 * read. An end writes its offer for turn t once the slot was read t times, so nobody reads
 * there any more; who finds 2t comers is first, who finds 2t + 1 is second, and reads. tokens.h
 *
 * Why nothing waits in a circle. An operation first does all of its `ready := 1`, waits for done at
 * its very end, and has the messages to which it came second in between. In a collective these are
 * one row: all wait for ready, copy, done. That is safe since each rank sets its tokens ready as
 * soon as it reaches the collective, whatever the others do. Of sends and receives that need not
 * be so: the ready of one may come from an operation that its peer reaches only when another
 * message of this very operation is over, two ranks further on. So there each row of messages
 * of one peer and one way, which is in order at both ends anyway, has a stream of its own,
 * forked from the program's and joined to it. Then an operation ends once all ends of its
 * messages have been reached; and across operations that is so if the program enqueues the
 * operations of a communicator in the same order on all ranks, or sends and receives in one in
 * which synchronous messages would end.
 *
 * Small messages by kernel. They meet in slots, too; who comes first decides, by its own length,
 * and says so in its offer; the second follows. No token is used: the sender's kernel puts the
 * message, with its length, into the receiver's workspace, if there is room, and ends; the
 * receiver's waits for it there. Numbers in the workspaces say which message is which, so a replay
 * goes on where the last launch stopped. Why that is right:
 *
 * (a) The k-th message by kernel that F's streams send to S is the k-th that S's streams receive by
 *     kernel of F. What has met on the host runs in the order of (1) at both ends, launches of
 *     graphs in that which the program keeps, and both ends know which messages go by kernel. The
 *     messages have a part of the workspaces and numbers of their own: of other kernels the order
 *     need not be the same at both ends, since a root's broadcast waits for nobody.
 * (b) What ends if a send waits for its receive ends so, too. All that an operation's launch sends
 *     goes out before it waits for anything that comes. There is room for CT_KERNEL_WINDOW messages
 *     of each pair; so a launch waits for room only while an earlier message to that peer has not
 *     been received, and if sends waited for their receives the operation would not have begun by
 *     then. A receive waits for its send alone; what it took it acknowledges as its launch ends.
 * (c) For (b) a launch has at most one message of each row, as above. Who comes first gives one of
 *     a row to the kernel in an operation; but the second may find several, which came one by
 *     one. Then each row has its branch, and each message a launch there. The launches beside each
 *     other are of different rows, and touch no word in common.
 * (d) In a group some messages may be copied: the launch is one more row, beside theirs.
 *
 * Messages of middle length. Where both ends have met, and both say so in their offers, the
 * sender's kernel writes to the receiver's memory, which the receiver's opens to it
 * (gpu/kernels/direct.cuh). All such messages of an operation are one launch, at most one each
 * way with a peer; the sender turns to whoever opens first, and waits for nobody else meanwhile,
 * so that each message is a row by itself as above. Their numbers are right as (a) has it, in
 * words of their own. Collectives go so where all ranks gather (gathering.h): their kernels run
 * in the order of (1).
 *
 * A long broadcast among more than two ranks is a chain (chain.h): messages of each rank to the
 * next, of many pieces, whose tokens count: done those that have been pushed, or ready those that
 * may be pulled. The counter goes up from 0 and is left 0 by who waits for it, in the places of
 * done := 1 and done := 0, or ready := 1 and ready := 0, above; so (1) to (3) hold. A rank waits
 * there for the rank before it, and for the rank behind it to have come: the root waits for no
 * piece, so there is no circle.
 *
 * A long reduction is two operations: kernels combine, copy engines push (halves.h). In an
 * allreduce in place nothing is overwritten before it has been read: part p of every vector is read
 * by rank p's kernel alone; elsewhere it is written by p's push, behind that kernel, or by a pull
 * of q's, behind q's kernel and p's ready; and no kernel ends before all are through with its
 * rank's memory.
 *
 * Windows are one-sided: a put, a get, a wait for signals meet nobody (window.c has the protocol).
 * Each signal has a place with two words; the counts of both ends name the place. The rank that
 * waits for a word clears it, as above. The end of a communicator releases waits for such words.
 *
 * The end of a communicator: a peer dies, a deadline passes, ends do not fit. A word that all ranks
 * see says so and why; calls return that error from then on. The watchdog (watch.c) lets the
 * streams go, operation by operation, by CPU stores alone. It looks at the one operation that
 * this rank's stream is in: where the peer lives and has come, it will get there itself, as its
 * own watchdog sees to; nobody sets a token for it, since who is released early would copy into
 * memory that its peer still uses. Where the peer is dead, or has not come and now never may
 * (the slot is closed, by compare and swap), the watchdog sets the token in its place, once.
 * After two seconds it does so all the same. What was received is void. A graph with operations of
 * such a communicator must not be launched again; one that is running is let go at once, but for
 * its pushes to peers that live, which are after two seconds (ctran-gpu(7)).
 *
 * After an enqueue call has returned, nothing calls CUDA on its behalf: the driver may block in any
 * call while a stream waits.
 *
 * Threads: any may call. A communicator's calls take its context's lock; their order is that of
 * the calls.
 */
#ifndef CT_STREAM_STREAM_H
#define CT_STREAM_STREAM_H

#include "coll/coll.h"
#include "gpu/gpu.h"

struct ct_kernel_dynamic;

/* One end of a message. */
struct ct_stream_msg {
    uint32_t peer;
    bool     send;
    void    *buf;
    size_t   bytes;
    int      tag; /* of sends and receives; a receive may say CTRAN_ANY_TAG */
};

/* What a call does, besides its messages, to memory: for the way over the host. Buffers begin with
 * their elements, whatever the type's lower bound. */
struct ct_stream_reduction {
    enum ct_coll_kind    kind; /* CT_REDUCE, CT_ALLREDUCE, CT_REDUCE_SCATTER, CT_SCAN, CT_EXSCAN */
    const void          *send; /* NULL in place: no element lies there */
    void                *recv; /* NULL where there is no result */
    size_t               nsend, nrecv; /* elements; nrecv is 0 where recv is NULL */
    size_t               count;        /* as the collective is given it */
    const ctran_count_t *counts;       /* of reduce_scatter; copied; NULL: all have `count` */
    const struct ct_dtype *type;
    const struct ct_op    *op;
    uint32_t               root;
    ctran_op_t             handle; /* of op */
};

/* A call. All of it is the caller's again on return. */
struct ct_stream_call {
    const char                 *name;
    uint32_t                    kind; /* equal at both ends of a message: enum ct_coll_kind, or */
    const struct ct_stream_msg *msgs; /* CT_STREAM_P2P. Those to one peer are in the peer's order */
    size_t                      nmsgs;
    const struct ct_stream_reduction *reduction; /* in place of messages; or */
    const struct ct_kernel_dynamic   *dynamic;   /* all of it but comm, grain and item_bytes */
    bool even; /* a collective: its messages have the same length, and all ranks know which. One
                  without may have no messages on some ranks, which make it all the same */
};
enum {
    CT_STREAM_P2P = 1000,
    CT_STREAM_BARRIER,
    CT_STREAM_DYNAMIC,
    CT_STREAM_CHAIN,
    CT_STREAM_HALF
};

/* Puts it on the stream, or, in a group, on what the group's end puts there. The first of a
 * communicator is collective: it waits for one of each rank, and its stream's device is that of all
 * streams after it. Errors, logged with their cause: that by which the communicator's
 * stream-ordered work has ended; CTRAN_ERR_ARG: a stream of another device;
 * CTRAN_ERR_UNSUPPORTED_OPERATION, from the first: on all ranks if one cannot. */
int ct_stream_enqueue(struct ct_comm *comm, struct CUstream_st *stream,
                      const struct ct_stream_call *call);

/* A call about a window of which `comm` is the own communicator. */
enum ct_stream_rma_kind { CT_STREAM_PUT, CT_STREAM_GET, CT_STREAM_AWAIT };
struct ct_stream_rma {
    const char             *name;
    enum ct_stream_rma_kind kind;
    uint32_t                peer;
    void                   *here;  /* put, get: a GPU's or page-locked memory */
    CUdeviceptr             there; /* the peer's memory, as this rank's GPU reaches it */
    size_t                  bytes;
    bool                    signals; /* put */
    uint32_t                count;   /* await: signals, at most CT_STREAM_SIGNALS */
};
enum { CT_STREAM_SIGNALS = 64 };

/* Collective, before the first such call: CTRAN_ERR_UNSUPPORTED_OPERATION, logged, on all ranks if
 * one has no GPU, or two of them do not reach each other's memory. window.c */
int ct_stream_window_open(struct ct_comm *comm);
/* Puts it on the stream. Errors as of ct_stream_enqueue. */
int ct_stream_window_put(struct ct_comm *comm, struct CUstream_st *stream,
                         const struct ct_stream_rma *op);
/* Waits until what this rank has put on streams for the window is over. */
void ct_stream_window_settle(struct ct_comm *comm);

/* Whether a communicator has made its first. */
bool ct_stream_is_open(const struct ct_comm *comm);

/* See ctran_group_start; a thread's own. After an error *whose is the communicator of the first
 * failed call, held. */
void ct_stream_group_start(void);
int  ct_stream_group_end(struct ct_comm **whose);
/* Whether the calling thread has a group open. */
bool ct_stream_in_group(void);

/* Ends a communicator's stream-ordered work on all ranks, with this error. */
void ct_stream_abort(struct ct_comm *comm, int error);
/* The same inside the domain, where another thread may end the communicator meanwhile. */
void ct_stream_revoke(struct ct_comm *comm, int error);
/* The error by which it has ended; CTRAN_SUCCESS: it has not. Any thread. */
int ct_stream_error(const struct ct_comm *comm);

/* Before the barrier by which ranks see each other off: waits for what this process has put on
 * streams, and tells the peers that it puts there no more. A kernel of theirs may touch this
 * process's memory until they have come so far, too: so nothing is unmapped or freed before the
 * barrier, and behind it nobody has to be waited for. Waits as long as the streams do
 * (CTRAN_STREAM_TIMEOUT). */
void ct_stream_settle(struct ct_process *p);
/* The end of a cycle: waits for what is on streams, and frees. Without a barrier before, as at the
 * end of a session, a moment for the peers' kernels, too; after it what they may use is left. */
void ct_stream_fini(struct ct_process *p);

#endif
