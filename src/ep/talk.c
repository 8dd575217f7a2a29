/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What passes between this process and each other, where ranks share cores, and who had better sit
 * beside whom for that (base/seats.h). Two that share a core pay a switch each time that one has to
 * wait for the other; two that do not pay for each byte, whose line has to come from core to core.
 * So what counts is how many bytes there are for each answer, be they one message or many, and that
 * is the same from whichever seats it is counted: no time is taken.
 *
 * Half round trips of pairs, two on each of two cores of a Xeon, us, pairs on one core and across:
 * 8 bytes 0.90 and 0.40, 1 KiB 0.98 and 0.84, 2 KiB 1.03 and 1.43, 4 KiB 1.12 and 2.0, 16 KiB 1.70
 * and 3.3. Rows of 64 messages of 64 bytes, which are 4 KiB an answer, 1146 and 649 MB/s.
 *
 * Who exchanges three quarters of its bytes with one other sits down beside that one where these
 * are many, and leaves it where they are few, or less than half of all; what is between changes
 * nothing. So one that has two such partners, as in an exchange of borders, stays where it is: of
 * equal shares now one is the larger, now the other.
 *
 * Called by p2p.c for each message, by domain.c for what a turn of waiting has brought, by boards
 * (coll/run) for what a rank reads of the same other one in each call.
 */
#include "ep/ep_set.h"

enum {
    LITTLE = 9 << 8, /* bytes for each answer, to and fro */
    MUCH = 12 << 8,
    ANSWERS = 32,     /* that make a judgement, */
    BYTES = 256 << 10 /* or so many */
};

static void add(struct ct_ep *ep, size_t len_bytes) CT_IN_DOMAIN
{
    ep->talk.bytes += len_bytes;
    ep->p->ep->talked += len_bytes;
}

void ct_ep_said(struct ct_ep *to, size_t len_bytes)
{
    to->talk.answers += to->talk.heard;
    to->talk.heard = false;
    add(to, len_bytes);
}

void ct_ep_heard(struct ct_ep *from, size_t len_bytes)
{
    from->talk.heard = true;
    add(from, len_bytes);
}

static bool is_due(const struct ct_ep_talk *talk)
{
    return talk->answers >= ANSWERS || talk->bytes >= BYTES;
}

static void judge(struct ct_ep_talk *talk, uint64_t talked)
{
    const uint64_t each = talk->bytes / ct_max_size(talk->answers, 1);
    const uint64_t all = talked - talk->since;
    const bool     is_main = talk->much ? 2 * talk->bytes > all : 4 * talk->bytes >= 3 * all;
    talk->much = is_main && each > (talk->much ? LITTLE : MUCH - 1);
    talk->bytes = talk->answers = 0;
    talk->since = talked;
}

/* Where something was read that no answer follows, each time counts as one. */
void ct_ep_read_beside(struct ct_ep *from, size_t len_bytes)
{
    struct ct_process *p = from->p;
    from->talk.answers++;
    add(from, len_bytes);
    if (is_due(&from->talk)) {
        judge(&from->talk, p->ep->talked);
        if (from->talk.much) {
            ct_seats_join(&p->job->seats, ct_job_seat(p->job, from->id));
        }
    }
}

void ct_ep_learn_seat(struct ct_process *p, const struct ct_wait *pace)
{
    struct ct_ep *from = p->ep->from;
    if (!ct_ep_is_crowded(p) || from == NULL) {
        return;
    }
    struct ct_seats *seats = &p->job->seats;
    if (CT_UNLIKELY(is_due(&from->talk))) {
        judge(&from->talk, p->ep->talked);
        if (from->talk.much) {
            ct_seats_join(seats, ct_job_seat(p->job, from->id));
        }
    }
    if (from->talk.much) {
        return; /* no time lost in it counts, so it does not count either */
    }
    ct_seats_count(seats);
    if (pace->polls > 0 && pace->yielding) {
        ct_seats_learn(seats, ct_job_seat(p->job, from->id), pace->start_ns);
    }
}
