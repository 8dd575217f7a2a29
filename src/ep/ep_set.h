/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of ep share: the process's endpoints and transports. */
#ifndef CT_EP_EP_SET_H
#define CT_EP_EP_SET_H

#include "ep/ep.h"

enum { CT_EP_MAX_NETS = 8, CT_EP_MAX_ON_FAIL = 4, CT_EP_PAGE = 256 };

struct ct_ep_set {
    struct ct_process *p;
    struct ct_net_env  env;
    unsigned           nnets;
    struct ct_net     *nets[CT_EP_MAX_NETS]; /* best first */
    /* Endpoints by id, in pages made at first use: a process that talks to few holds few. */
    struct ct_ep ***pages;
    uint32_t        npages;
    struct ct_list  stalled; /* endpoints with pending messages */
    struct ct_list  failed;  /* endpoints whose failure has yet to be told */
    bool            in_progress;
    unsigned        turns; /* of progress */
    ct_ep_handler   handlers[CT_EP_TYPE_COUNT];
    ct_ep_on_fail   on_fail[CT_EP_MAX_ON_FAIL];
    unsigned        non_fail;
    ct_ep_on_look   on_look;
    struct ct_wake *wake; /* where this process sleeps: a transport's, or own_wake */
    struct ct_wake  own_wake;
    uint64_t        spin_ns;
    uint64_t        checked_ns; /* when peers were last looked after */
    void           *card;
    size_t          card_len;
};

/* A card is what a process publishes: who built it, and its address in each transport. */
int ct_ep_card_make(struct ct_ep_set *set);
/* Checks a card before any use: CTRAN_ERR_VERSION for another build, CTRAN_ERR_BOOTSTRAP for no
 * card at all; both logged. */
int ct_ep_card_check(const struct ct_ep_set *set, uint32_t id, const void *card, size_t len_bytes);
/* The address in transport `name`, NULL when it has none. */
const void *ct_ep_card_find(const void *card, size_t card_len, const char *name, size_t *len_bytes);

/* ep's card, checked; valid until the job is left. Errors are logged. */
int ct_ep_card_get(struct ct_ep *ep, const void **card, size_t *len_bytes);

/* Has the transports look whether the peers that matter still live, unless that was lately. */
void ct_ep_look_after(struct ct_ep_set *set);

/* Finds a transport that reaches ep and connects. On failure ep has failed. */
int ct_ep_connect(struct ct_ep *ep);

#endif
