/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of ft share. agree.c explains the agreement. */
#ifndef CT_FT_OWN_H
#define CT_FT_OWN_H

#include "ft/ft.h"

enum {
    CT_FT_RADIX = 4,     /* of the tree */
    CT_FT_MOST = 7168,   /* members of an agreement: its messages fit into any transport's slice */
    CT_FT_EARLY = 4096,  /* messages for communicators that are to come; then the oldest goes */
};

/* The steps of a ballot: each goes down the tree from the leader, and its answers come up. */
enum ct_ft_phase {
    CT_FT_PHASE_NONE,
    CT_FT_COLLECT, /* answers: what the members give, or what they have accepted */
    CT_FT_PROPOSE,     /* the value is accepted by all */
    CT_FT_DECIDE,      /* the value is the result */
    CT_FT_FORGET,      /* all have it: nobody will ask any more; no answers */
    CT_FT_PHASES
};

/* The ballot at which a decided value counts as accepted: no later one overrides it. */
#define CT_FT_DECIDED UINT64_MAX

/* What is agreed on, or a part of it; on the wire as it is. */
struct ct_ft_value {
    uint64_t accepted;  /* the ballot at which it was; 0: it is what members give */
    uint64_t proposal;  /* a number for a new communicator, of */
    uint32_t proposer;  /* this member */
    uint32_t flags[2];  /* the AND of each group's words */
    int32_t  error;     /* of a decision */
};

/* The same with sets of members, a bit each. */
struct ct_ft_view {
    struct ct_ft_value v;
    uint64_t          *failed; /* known to have failed, by one of them at least */
    uint64_t          *acked;  /* acknowledged by all of them */
};

struct ct_ft_key {
    uint64_t comm; /* its number */
    uint64_t seq;  /* of the agreement, from 1 on */
};

/* What the program waits for. */
struct ct_ft_req {
    struct ct_request  base;
    struct ct_process *p;
    struct ct_comm    *comm; /* held */
    int               *flag; /* agree */
    struct ct_comm    *made; /* shrink: void so far; NULL: agree */
    uint64_t           id;   /* its number; 0: it stays void */
};

/* An agreement. It lives from the first message or call about it until all members know its end. */
struct ct_ft_op {
    UT_hash_handle    hh;
    struct ct_ft_key  key;
    struct ct_comm   *comm; /* held */
    uint32_t          n, me, words;
    bool              contributed; /* this process has called: `mine` is valid */
    bool              answered;    /* this phase's answer has gone to the parent */
    enum ct_ft_phase  phase;       /* CT_FT_PHASE_NONE: no ballot has come */
    uint64_t          ballot;      /* the highest that has come: no lower one counts any more */
    uint32_t          nchildren, nanswers;
    struct ct_ft_req *req;   /* NULL: nobody waits */
    struct ct_ft_view mine;  /* what this process gives */
    struct ct_ft_view sum;   /* of the answers that have come */
    struct ct_ft_view value; /* what it has accepted, if value.v.accepted is not 0 */
    uint64_t         *excluded; /* members that are not in the ballot's tree */
    uint64_t          sets[];
};

/* A message for a communicator that this process has not opened yet. */
struct ct_ft_early {
    struct ct_list node;
    struct ct_ep  *from;
    ct_ep_handler  handler;
    size_t         hdr_len, len_bytes;
    uint64_t       comm;
    char           bytes[]; /* header, body */
};

struct ct_ft {
    struct ct_process  *p;
    struct ct_ft_op *ops CT_GUARDED_BY(ct_domain);   /* uthash by key */
    struct ct_list early CT_GUARDED_BY(ct_domain);   /* struct ct_ft_early */
    _Atomic uint32_t     nearly;                     /* of these; written in the domain */
    uint8_t              revoke, down, up, ask;      /* ids of messages */
};

/* ---- sets and members ------------------------------------------------------------------------ */

static inline bool ct_ft_has(const uint64_t *set, uint32_t i)
{
    return (set[i / 64] >> i % 64 & 1) != 0;
}

static inline void ct_ft_add(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << i % 64;
}

/* The members of a communicator in an order that all of them know alike: an inter-communicator's
 * first group, then the other one. failed.c */
uint32_t ct_ft_size(const struct ct_comm *comm);
uint32_t ct_ft_id_of(const struct ct_comm *comm, uint32_t member);
/* CTRAN_UNDEFINED: it is none. */
int ct_ft_member(const struct ct_comm *comm, uint32_t id);
/* Which of the two groups: 0 or 1; 0 without groups. */
uint32_t ct_ft_side(const struct ct_comm *comm, uint32_t member);
/* The sets, empty before, of members that are known to have failed, and that are acknowledged. */
void ct_ft_known(const struct ct_comm *comm, uint64_t *failed, uint64_t *acked) CT_IN_DOMAIN;

/* ---- early messages: revoke.c ---------------------------------------------------------------- */

/* The communicator of a message, held. NULL: the message was kept for later, or is too late. */
struct ct_comm *ct_ft_comm_for(struct ct_ep *from, uint64_t id, ct_ep_handler handler,
                               const void *hdr, size_t hdr_len, const void *body,
                               size_t len_bytes) CT_IN_DOMAIN;
void ct_ft_revoke_register(struct ct_process *p);
/* A member of revoked communicators has failed: its neighbours are told by others. */
void ct_ft_revoke_fail(struct ct_ep *ep) CT_IN_DOMAIN;

/* Reads a header of exactly this length; false: the peer has failed by sending another. */
bool ct_ft_unpack(struct ct_ep *from, const void *hdr, size_t hdr_len, void *wire,
                  size_t len) CT_IN_DOMAIN;

/* ---- agreement: agree.c ---------------------------------------------------------------------- */

/* Gives this process's part in the communicator's next agreement. CTRAN_ERR_NO_MEM and
 * CTRAN_ERR_UNSUPPORTED_OPERATION (too many members): it has no part, and req is the caller's. */
int ct_ft_op_begin(struct ct_comm *comm, struct ct_ft_req *req, uint32_t word,
                   uint64_t proposal) CT_EXCLUDES(ct_domain);
/* What the decision means for the request. shrink.c; in the domain. */
int ct_ft_shrunk(struct ct_ft_req *req, const struct ct_ft_op *op) CT_IN_DOMAIN;

/* The leader's part: agree_lead.c. The first member that lives. Whether this process is to lead: it
 * has given its part, and no member before it lives. */
uint32_t ct_ft_leader(const struct ct_ft_op *op) CT_IN_DOMAIN;
bool     ct_ft_is_to_lead(const struct ct_ft_op *op) CT_IN_DOMAIN;
static inline bool ct_ft_leads(const struct ct_ft_op *op)
{
    return op->ballot != 0 && op->ballot >> 32 == op->me;
}
/* Opens a ballot of this process's, over the tree of those that live now: sets all that
 * ct_ft_phase_begin needs. */
void ct_ft_ballot_open(struct ct_ft_op *op) CT_IN_DOMAIN;
/* All answers are there: what comes next. */
void ct_ft_phase_next(struct ct_ft_op *op) CT_IN_DOMAIN;
/* Adds an answer, or this process's own, to the sum. */
void ct_ft_merge(struct ct_ft_op *op, const struct ct_ft_view *part);

/* ---- messages: agree_msg.c ------------------------------------------------------------------- */

struct ct_ft_hdr {
    struct ct_ft_key key;
    uint64_t         ballot;
    uint32_t         phase, n;
};

void ct_ft_agree_register(struct ct_process *p);
/* To the children; returns how many there are. */
uint32_t ct_ft_send_down(struct ct_ft_op *op) CT_IN_DOMAIN;
void     ct_ft_send_up(struct ct_ft_op *op) CT_IN_DOMAIN;
/* Asks the leader whether it still keeps the agreement; it answers if it does not. */
void ct_ft_send_ask(struct ct_ft_op *op) CT_IN_DOMAIN;
/* A message of the process's own, with a copy of hdr and body; body may be NULL. */
void ct_ft_send(struct ct_ep *to, uint8_t id, const void *hdr, size_t hdr_len, const void *body,
                size_t len_bytes) CT_IN_DOMAIN;

/* What arrives. op may be gone afterwards. */
void ct_ft_on_down(struct ct_ft_op *op, const struct ct_ft_hdr *hdr, const struct ct_ft_value *v,
                   const uint64_t *excluded, const uint64_t *failed) CT_IN_DOMAIN;
void ct_ft_on_up(struct ct_ft_op *op, const struct ct_ft_hdr *hdr,
                 const struct ct_ft_view *part) CT_IN_DOMAIN;
void ct_ft_on_forget(struct ct_ft_op *op, const struct ct_ft_hdr *hdr) CT_IN_DOMAIN;
struct ct_ft_op *ct_ft_op_find(struct ct_process *p, const struct ct_ft_key *key) CT_IN_DOMAIN;
/* The record of an agreement that a message is about, made if need be. NULL: there is none any
 * more, or no memory. */
struct ct_ft_op *ct_ft_op_for(struct ct_comm *comm, const struct ct_ft_key *key) CT_IN_DOMAIN;
void ct_ft_agree_fail(struct ct_ep *ep) CT_IN_DOMAIN;

#endif
