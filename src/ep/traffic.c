/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much this process exchanges with each other one, if ranks share cores, and next to which
 * process it should run (node/placement.h). Two processes that share a core pay a switch each time
 * that one waits for the other. Two on different cores pay for each byte, whose line moves from
 * core to core. So the number of bytes for each answer decides, in one message or many. This number
 * does not depend on the cores where it is counted, and no time is measured.
 *
 * A process that exchanges three quarters of its bytes with one other process moves next to it if
 * these bytes are many, and leaves it if they are few, or less than half of all. In between nothing
 * changes. So a process with two such partners, as in an exchange of borders, stays where it is: of
 * two equal shares now one is larger, now the other.
 *
 * Called by p2p.c for each message, by domain.c for the messages of one turn of waiting, and by
 * shm_colls (coll/run) for what a rank reads of one other rank in each call.
 */
#include "ep/ep_set.h"

enum {
    ANSWERS = 32,     /* that make a judgement, */
    BYTES = 256 << 10 /* or so many */
};

static void add(struct ct_ep *ep, size_t len_bytes) CT_IN_DOMAIN
{
    ep->traffic.bytes += len_bytes;
    ep->p->ep->traffic_bytes += len_bytes;
}

void ct_ep_sent(struct ct_ep *to, size_t len_bytes)
{
    to->traffic.answers += to->traffic.received;
    to->traffic.received = false;
    add(to, len_bytes);
}

void ct_ep_received(struct ct_ep *from, size_t len_bytes)
{
    from->traffic.received = true;
    add(from, len_bytes);
}

static bool is_due(const struct ct_ep_traffic *traffic)
{
    return traffic->answers >= ANSWERS || traffic->bytes >= BYTES;
}

/* Many bytes for each answer, to and fro: it takes longer to fetch them from another core than to
 * switch to and fro on one. Few are a quarter less. */
static void judge(const struct ct_process *p, struct ct_ep_traffic *traffic) CT_IN_DOMAIN
{
    const uint64_t many = ct_calibration_switch_bytes(&p->job->calibration);
    const uint64_t traffic_bytes = p->ep->traffic_bytes;
    const uint64_t each = traffic->bytes / ct_max_size(traffic->answers, 1);
    const uint64_t all = traffic_bytes - traffic->since;
    const bool is_main = traffic->much ? 2 * traffic->bytes > all : 4 * traffic->bytes >= 3 * all;
    traffic->much = is_main && (traffic->much ? each > many - many / 4 : each >= many);
    traffic->bytes = traffic->answers = 0;
    traffic->since = traffic_bytes;
}

/* Where something was read that no answer follows, each time counts as one. */
void ct_ep_read_beside(struct ct_ep *from, size_t len_bytes)
{
    struct ct_process *p = from->p;
    from->traffic.answers++;
    add(from, len_bytes);
    if (is_due(&from->traffic)) {
        judge(p, &from->traffic);
        if (from->traffic.much) {
            ct_placement_join(&p->job->placement, ct_job_local_index(p->job, from->id));
        }
    }
}

void ct_ep_learn_placement(struct ct_process *p, const struct ct_wait *pace)
{
    struct ct_ep *from = p->ep->from;
    if (!ct_ep_is_oversubscribed(p) || from == NULL) {
        return;
    }
    struct ct_placement *placement = &p->job->placement;
    if (CT_UNLIKELY(is_due(&from->traffic))) {
        judge(p, &from->traffic);
        if (from->traffic.much) {
            ct_placement_join(placement, ct_job_local_index(p->job, from->id));
        }
    }
    if (from->traffic.much) {
        return; /* no time lost in it counts, so it does not count either */
    }
    ct_placement_count(placement);
    if (pace->polls > 0 && pace->yielding) {
        ct_placement_learn(placement, ct_job_local_index(p->job, from->id), pace->start_ns);
    }
}
