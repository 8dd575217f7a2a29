/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to peers whose cores are far (base/far.h), of sizes that could go unasked. Such a one
 * goes by the ring, which takes a copy at each end, or is announced and read by the peer from where
 * it lies. What is better depends on two things that are only known afterwards:
 *
 *   - whether the memory was written since the peer last read it. What was not is still in that
 *     one's cache, and soon read; for what was, the ring is faster. The peer sees it by the time
 *     that its reads take, and says so (ct_net_link.changes).
 *   - whether the message is waited for, or others follow it: how soon each is there, or how many
 *     come in a time. It is taken for an answer if one from the peer was received since the last,
 *     and if the one before was followed by none either.
 *
 * Half round trips of 8 and 12 KiB between two cores of a Xeon: by the ring 1.6 and 2.1 us, read
 * 1.2 and 1.3; if written before, by the ring 2.1 and 2.9, read 3.0 and 4.0. Streams: by the ring
 * 16.0 and 17.6 GB/s, read several at a time (p2p/row.c) 18.3 and 22.3; both ways at once 18.3 and
 * 19.7, read 26.6 and 35.3. Of 6.5, 7.5 and 8.5 KiB 15.8, 16.2 and 16.8 one way, read 13.3, 15.2
 * and 14.7; both ways 18.3, 18.0 and 18.9, read 19.5, 22.0 and 22.0. Rows of 16 messages of 16 and
 * 32 KiB that are written before: by the ring 7.3 and 9.9 GB/s, read 3.7 and 4.2; but both ways at
 * once 32 and 64 KiB 8.7 and 8.2, read 9.9 and 10.0.
 *
 * One that shares this very core is another matter: its cache is the same, and nothing is gained by
 * copying at both ends at once. An answer had better go by the ring up to the limit of what goes
 * unasked (32 KiB 2.6 us, read 3.6), long ones had better be read (256 KiB 20.3 us by the ring,
 * read 14.5), and rows of messages from 16 KiB on: four ranks, millions a second by the ring and
 * read, 12 KiB 2.91 and 2.76, 16 KiB 2.19 and 2.32, 24 KiB 1.45 and 1.65; both ways at once, GB/s,
 * 35.6 and 32.6, 37.4 and 37.8, 37.4 and 40.2.
 *
 * Called by ep.c.
 */
#include "ep/ep_set.h"

enum {
    FOLLOWED = 9 << 10, /* up to here messages that others follow go unasked, one way; */
    BESIDE = 14 << 10,  /* to one that shares this core, up to here; */
    LONG = 24 << 10,    /* to one that finds changes, both ways, up to here */
    EVERY = 256,        /* one of so many goes as to a near peer: it may have moved */
    DOUBT_AFTER = 16,   /* once peers find changes: two in a row are announced after so many, ... */
    MOST_DOUBT = 6      /* ... then after twice as many, up to this power of two of them */
};

/* Whether it shares this very core. */
static bool is_beside(const struct ct_ep *ep) CT_IN_DOMAIN
{
    const struct ct_process *p = ep->p;
    return CT_UNLIKELY(ct_ep_is_crowded(p)) &&
           ct_seats_look(&p->job->seats, ct_job_seat(p->job, ep->id)) == CT_SEAT_BESIDE;
}

bool ct_ep_finds_changes(const struct ct_ep *ep)
{
    const _Atomic uint32_t *changes = ep->state == CT_EP_CONNECTED ? ep->link->changes : NULL;
    return changes != NULL && atomic_load_explicit(changes, memory_order_relaxed) != 0;
}

/* 0, then 1: to be announced although the peer finds changes. The second tells whether the memory
 * was written since the first. */
static unsigned of_doubt(const struct ct_ep *ep, unsigned sent) CT_IN_DOMAIN
{
    return sent % (DOUBT_AFTER << ep->doubt);
}

/* Whether this message is of a row, before which one of the peer's has come. */
static bool is_both_ways(const struct ct_ep *ep) CT_IN_DOMAIN
{
    return ep->heard ? ep->heard_long > 1 : ep->both;
}

bool ct_ep_asks_far(const struct ct_ep *ep, const struct ct_area *area)
{
    const bool beside = is_beside(ep);
    if ((CT_LIKELY(!ep->link->far) && !beside) || area->pieces != NULL) {
        return false;
    }
    const bool     answers = ep->heard && ep->in_a_row <= 1;
    const unsigned sent = ep->sent_far + 1u;
    if (beside) {
        return !answers && area->len_bytes > BESIDE;
    }
    if (ct_ep_finds_changes(ep)) {
        return of_doubt(ep, sent) <= 1 || (!answers && area->len_bytes > LONG && is_both_ways(ep));
    }
    return (answers || area->len_bytes > FOLLOWED || is_both_ways(ep)) && sent % EVERY != 0;
}

void ct_ep_count_far(struct ct_ep *ep)
{
    if (CT_LIKELY(!ep->link->far && !ct_ep_is_crowded(ep->p))) {
        return;
    }
    ep->both = is_both_ways(ep);
    ep->heard_long = 0;
    ep->in_a_row = ep->heard ? 1 : (uint8_t)ct_min_size(ep->in_a_row + 1u, UINT8_MAX);
    ep->heard = false;
    ep->sent_far++;
    if (!ct_ep_finds_changes(ep)) {
        ep->doubt = 0;
    } else if (of_doubt(ep, ep->sent_far) == 1 && ep->doubt < MOST_DOUBT) {
        ep->doubt++;
    }
}

bool ct_ep_counts_as_far(struct ct_ep *ep, size_t len_bytes)
{
    return is_beside(ep) ||
           (CT_UNLIKELY(ep->link->far) &&
            (len_bytes <= ep->link->net->eager_bytes || ++ep->sent_far % EVERY != 0));
}
