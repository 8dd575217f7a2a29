/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Announced messages that a turn of progress has found receives for are read together, as many as
 * have come from one peer: a read by the kernel costs as much besides the copy as 8 KiB take, most
 * of it but once a call. (Two cores of a Xeon, us a message alone, in rows of four and of sixteen:
 * 4 KiB 0.44, 0.22, 0.16; 16 KiB 0.72, 0.50, 0.45; 32 KiB 1.57, 1.27, 1.17.) One that has come
 * alone does not wait, nor does the first of a turn, nor what its receiver can see, which is copied
 * as fast alone.
 *
 * Invariant: between turns the row is empty, so nobody cancels or fails what is in it; and a sender
 * that takes a message back is answered when it has been read.
 *
 * Called by rendezvous.c, and by ep at the end of turns.
 */
#include "p2p/state.h"

enum { LONGEST = 64 << 10 }; /* of longer ones the call is a small part, and waiting is dear */

/* Those whose ids follow each other are told of together. */
static void tell_all(const struct ct_p2p_row *row) CT_IN_DOMAIN
{
    for (unsigned i = 0, n; i < row->n; i += n) {
        const uint64_t first = row->reads[i].from.token;
        n = 1;
        while (i + n < row->n && row->reads[i + n].from.token == first + n) {
            n++;
        }
        ct_rndv_have_read(&row->reqs[i], n, first);
    }
}

/* One by one where they cannot be had together: one of them may be to blame. */
static void read_each(const struct ct_p2p_row *row, int rc) CT_IN_DOMAIN
{
    for (unsigned i = 0; i < row->n; i++) {
        const struct ct_net_read *read = &row->reads[i];
        const int                 one = rc != CTRAN_ERR_UNSUPPORTED_OPERATION
                                            ? rc
                                            : ct_ep_read(row->from, read->area, &read->from);
        ct_rndv_read(row->reqs[i], one, read->from.token);
    }
}

/* What is over may start another receive (part.c), which joins the next row. */
static void read_all(struct ct_p2p_row *next) CT_IN_DOMAIN
{
    struct ct_p2p_row row;
    int               rc = CTRAN_ERR_UNSUPPORTED_OPERATION;
    row.from = next->from;
    row.n = next->n;
    memcpy(row.reqs, next->reqs, row.n * sizeof row.reqs[0]);
    memcpy(row.reads, next->reads, row.n * sizeof row.reads[0]);
    next->n = 0;
    if (row.n > 1) {
        rc = ct_ep_read_row(row.from, row.reads, row.n);
    }
    if (rc == CTRAN_SUCCESS) {
        tell_all(&row);
    } else {
        read_each(&row, rc);
    }
}

void ct_row_read(struct ct_process *p)
{
    while (p->p2p->row.n > 0) {
        read_all(&p->p2p->row);
    }
    p->p2p->row.begun = false;
}

bool ct_row_join(struct ct_p2p_req *req, const struct ct_net_remote *from, bool lent)
{
    struct ct_p2p_row *row = &req->p->p2p->row;
    if (from->len_bytes > LONGEST || req->takes || req->area.pieces != NULL ||
        !ct_ep_reads_rows(req->ep) || !ct_ep_soon(req->p)) {
        return false;
    }
    if (!row->begun) { /* it may be the only one: 16 KiB came 70 ns later by a row */
        row->begun = true;
        return false;
    }
    if (lent) {
        return false;
    }
    while (row->n == CT_NET_ROW || (row->n > 0 && row->from != req->ep)) {
        read_all(row);
    }
    row->from = req->ep;
    row->reqs[row->n] = req;
    row->reads[row->n++] = (struct ct_net_read){&req->area, *from};
    return true;
}

void ct_row_register(struct ct_process *p)
{
    ct_ep_register_turn(p, ct_row_read);
}
