/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of writes at the receiver, by itself and under the transport.
 *
 * By itself (net/ib/order.h): writes over 1 to 64 queue pairs, each in order, or, as over UC, with
 * losses that are sent again; notifications come once and in order, void ones as such.
 * Under the transport, on the emulated fabric in virtual time: streams of messages and of puts that
 * notify, of random sizes, over links that lose and reorder, with 1 to 64 queue pairs; numbers
 * wrap; nothing is allocated any more once the streams have run for a while.
 */
#include "ib_sides.h"

static bool is_quick(void)
{
    return getenv("CT_CHECK_QUICK") != NULL;
}

static bool is_long(void)
{
    return getenv("CT_SOAK") != NULL;
}

/* ---- by itself ------------------------------------------------------------------------------- */

enum { QUEUES = 64, QUEUE = CT_IB_WINDOW };

struct queue {
    uint32_t imm[QUEUE];
    uint32_t head, tail;
};

static struct queue queues[QUEUES];
static uint32_t     told, sent_notifications;
static bool         void_of[1 << 16]; /* of the last notifications */

static void tell(void *arg, bool is_void)
{
    (void)arg;
    FAIL_IF(told == sent_notifications, "a notification too many");
    FAIL_IF(void_of[told & 0xffff] != is_void, "notification %u is void or not", told);
    told++;
}

/* The receiver takes the head of a queue, or loses it. */
static void take_one(struct ct_ib_order *o, struct queue *l, struct queue *again, unsigned loss)
{
    const uint32_t imm = l->imm[l->head++ % QUEUE];
    if (loss > 0 && draw() % 1000 < loss) {
        again->imm[again->tail++ % QUEUE] = imm & ~CT_IB_IMM_FAST;
        return;
    }
    const enum ct_ib_order_result result = ct_ib_order_take(o, imm, tell, NULL);
    FAIL_IF(result != CT_IB_ORDER_TAKEN, "write %u: %d", imm & CT_IB_SEQ_MASK, (int)result);
}

static void order_alone(uint32_t nqueues, uint64_t writes, unsigned loss)
{
    static struct queue again;
    struct ct_ib_order  o = {.next = CT_IB_SEQ_MASK - 1000};
    uint32_t            seq = o.next, under_way = 0;
    memset(queues, 0, sizeof queues);
    again = (struct queue){.head = 0};
    told = sent_notifications = 0;
    for (uint64_t i = 0; i < writes || under_way > 0;) {
        const bool room = i < writes && ct_ib_seq_ahead(seq, o.next) < CT_IB_WINDOW - 1;
        if (room && (under_way == 0 || draw() % 2 == 0)) {
            const uint64_t x = draw();
            struct queue  *l = &queues[x % nqueues];
            const bool     notifies = x >> 16 & 1, is_void = (x >> 17 & 31) == 0;
            const bool     fast = under_way == 0 && loss == 0;
            l->imm[l->tail++ % QUEUE] = seq | (notifies ? CT_IB_IMM_NOTIFY : 0) |
                                        (is_void ? CT_IB_IMM_VOID : 0) |
                                        (fast ? CT_IB_IMM_FAST : 0);
            if (notifies) {
                void_of[sent_notifications++ & 0xffff] = is_void;
            }
            seq = (seq + 1) & CT_IB_SEQ_MASK;
            under_way++;
            i++;
            continue;
        }
        struct queue *l =
            again.head != again.tail && draw() % 4 == 0 ? &again : &queues[draw() % nqueues];
        if (l->head == l->tail) {
            l = &again;
        }
        if (l->head != l->tail) {
            const uint32_t before = again.tail;
            take_one(&o, l, &again, loss);
            under_way -= again.tail == before;
        }
    }
    FAIL_IF(o.next != seq, "%u is expected, %u was sent next", o.next, seq);
    FAIL_IF(told != sent_notifications, "%u of %u notifications came", told, sent_notifications);
}

/* What a peer must not send. */
static void order_refuses(void)
{
    struct ct_ib_order o = {.next = CT_IB_SEQ_MASK};
    FAIL_IF(ct_ib_order_take(&o, CT_IB_SEQ_MASK, tell, NULL) != CT_IB_ORDER_TAKEN, "the first");
    FAIL_IF(o.next != 0, "it wraps to %u", o.next);
    FAIL_IF(ct_ib_order_take(&o, CT_IB_SEQ_MASK, tell, NULL) != CT_IB_ORDER_WRONG, "once more");
    FAIL_IF(ct_ib_order_take(&o, 5, tell, NULL) != CT_IB_ORDER_TAKEN, "ahead");
    FAIL_IF(ct_ib_order_take(&o, 5, tell, NULL) != CT_IB_ORDER_WRONG, "ahead once more");
    FAIL_IF(ct_ib_order_take(&o, CT_IB_WINDOW, tell, NULL) != CT_IB_ORDER_LATER, "beyond");
    FAIL_IF(ct_ib_order_take(&o, 2 | CT_IB_IMM_FAST, tell, NULL) != CT_IB_ORDER_LATER,
            "fast, ahead");
}

/* ---- under the transport --------------------------------------------------------------------- */

static void streams(const char *settings, const char *fabric, uint32_t n, bool first)
{
    FAIL_IF(emu_verbs_command(fabric) != 0, "fabric %s", fabric);
    side_open(0, "emu0", settings);
    side_open(1, "emu1", settings);
    struct other *there = link_to(0, 1), *back = link_to(1, 0);
    uint64_t      allocations = 0;
    while (there->puts_out < n || back->messages_out < n || !is_quiet(there) || !is_quiet(back)) {
        for (unsigned i = 0; i < 4; i++) {
            (void)(there->puts_out < n && draw() % 2 == 0 && send_put(there));
            (void)(back->messages_out < n && draw() % 2 == 0 && send_message(back));
            (void)(back->puts_out < n && draw() % 4 == 0 && send_put(back));
        }
        (void)turn();
        FAIL_IF(there->failed || back->failed, "a side is lost");
        if (there->puts_out == n / 2 && allocations == 0) {
            allocations = 1 + ib_of(1)->counters.allocations;
        }
    }
    FAIL_IF(first && ib_of(1)->counters.allocations + 1 != allocations && back->puts_out == 0,
            "the receiver has allocated");
    FAIL_IF(ib_of(0)->counters.restarts + ib_of(1)->counters.restarts > 0, "restarts");
    sides_close();
    FAIL_IF(emu_verbs_command("link * plain") != 0, "plain");
}

int main(void)
{
    static const unsigned qps[] = {1, 2, 3, 5, 16, 64};
    const uint64_t        writes = is_long() ? 2000000 : is_quick() ? 5000 : 100000;
    const uint32_t        n = is_long() ? 20000 : is_quick() ? 60 : 300;
    sides_begin("2", 4711);
    order_refuses();
    for (size_t i = 0; i < CT_ARRAY_LEN(qps); i++) {
        order_alone(qps[i], writes, 0);
        order_alone(qps[i], writes, 30); /* of a thousand, as UC would lose */
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(qps); i++) {
        char settings[256];
        (void)snprintf(settings, sizeof settings,
                       "CTRAN_IB_QPS=%u CTRAN_IB_SEGMENT=4K CTRAN_IB_OUTSTANDING=%u "
                       "CTRAN_IB_FIRST_WRITE=%u CTRAN_IB_RETRIES=7",
                       qps[i], 1 + qps[i] % 7, CT_IB_SEQ_MASK - 20);
        streams(settings, "link * rate=100g latency=1us", n, true);
        streams(settings, "link * rate=100g latency=2us reorder=0.02 late=15us loss=0.002", n,
                false);
    }
    sides_end();
    (void)printf("ok\n");
    return 0;
}
