/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two ends of the bytes of a stream, without a socket: what goes in at one end comes out at the
 * other whole, once and in order, in whatever portions it travels and however often it breaks and
 * goes on elsewhere; and nonsense ends the stream with a reason.
 */
#define CT_FOLDER "unit"
#include "unit.h"

#include "net/tcp_in.h"
#include "net/tcp_out.h"

enum { MESSAGES = 400, LONGEST = 20000, PUTS = 60, PUT_BYTES = 30000 };

/* A stream in one direction. What the sink hears is compared with what was sent. */
struct stream {
    struct ct_tcp_pool pool;
    struct ct_tcp_out  out;
    struct ct_tcp_in   in;
    struct ct_list     done;
    uint64_t           seed;
    unsigned           sent, received, placed, finished, byes;
    struct ct_area     target;
    char              *memory;
};

static unsigned char byte_of(unsigned message, size_t i)
{
    return (unsigned char)(message * 31 + i * 7);
}

static size_t length_of(unsigned message)
{
    return message % 5 == 0 ? message * 49 % LONGEST : message % 97;
}

static void on_slice(void *arg, uint8_t type, const void *hdr, size_t hdr_len, const void *data,
                     size_t len_bytes)
{
    struct stream       *l = arg;
    const unsigned char *bytes = data;
    unsigned             number;
    assert_int_equal(type, 7);
    assert_int_equal(hdr_len, sizeof number);
    memcpy(&number, hdr, sizeof number);
    assert_int_equal(number, l->received);
    assert_int_equal(len_bytes, length_of(number));
    for (size_t i = 0; i < len_bytes; i++) {
        assert_int_equal(bytes[i], byte_of(number, i));
    }
    l->received++;
}

static const struct ct_area *on_place(void *arg, const struct ct_tcp_target *to, size_t len_bytes)
{
    struct stream *l = arg;
    assert_int_equal(to->key, 99);
    assert_true(to->offset + len_bytes <= l->target.len_bytes);
    return &l->target;
}

static void on_placed(void *arg, const struct ct_tcp_target *to, size_t len_bytes, bool landed)
{
    struct stream *l = arg;
    assert_int_equal(to->key, 99);
    assert_int_equal(len_bytes, PUT_BYTES);
    assert_true(landed);
    l->placed++;
}

static void on_done(void *arg, const struct ct_tcp_outcome *outcome)
{
    struct stream *l = arg;
    assert_int_equal(outcome->id, 5);
    assert_int_equal(outcome->status, CT_REFUSED);
    l->finished++;
}

static bool on_ack(void *arg, uint64_t position)
{
    (void)arg;
    return position == 0;
}

static void on_bye(void *arg)
{
    ((struct stream *)arg)->byes++;
}

static const struct ct_tcp_sink sink = {on_slice, on_place, on_placed, on_done, on_ack, on_bye};

static void stream_init(struct stream *l, uint64_t seed)
{
    *l = (struct stream){.seed = seed};
    ct_tcp_pool_init(&l->pool);
    ct_tcp_out_init(&l->out, &l->pool);
    ct_tcp_in_init(&l->in, &l->pool, &sink, l);
    ct_list_init(&l->done);
    l->memory = calloc(PUTS, PUT_BYTES);
    l->target = (struct ct_area){.base = l->memory, .len_bytes = (size_t)PUTS * PUT_BYTES};
    assert_non_null(l->memory);
}

static void stream_fini(struct stream *l)
{
    ct_tcp_out_fini(&l->out);
    ct_tcp_in_fini(&l->in);
    assert_int_equal(l->out.held_bytes, 0);
    assert_int_equal(l->pool.small.in_use, 0);
    ct_tcp_pool_fini(&l->pool);
    free(l->memory);
}

static struct ct_tcp_head *head_of(struct ct_tcp_frame *f)
{
    return memset(f->bytes, 0, sizeof(struct ct_tcp_head));
}

static void send_slice(struct stream *l)
{
    unsigned             number = l->sent++;
    size_t               len = length_of(number);
    struct ct_tcp_frame *f =
        ct_tcp_out_make(&l->out, sizeof(struct ct_tcp_head) + sizeof number + len);
    struct ct_tcp_head *h = head_of(f);
    h->kind = CT_TCP_SLICE;
    h->type = 7;
    h->hdr_len = sizeof number;
    h->len_bytes = (uint32_t)len;
    memcpy(f->bytes + sizeof *h, &number, sizeof number);
    for (size_t i = 0; i < len; i++) {
        f->bytes[sizeof *h + sizeof number + i] = byte_of(number, i);
    }
    ct_tcp_out_add(&l->out, f);
}

static void send_put(struct stream *l, struct ct_tcp_put *put, unsigned index)
{
    struct ct_tcp_target to = {
        .key = 99, .offset = (uint64_t)index * PUT_BYTES, .id = index + 1, .len_bytes = PUT_BYTES};
    struct ct_tcp_frame *f = ct_tcp_out_make(&l->out, sizeof(struct ct_tcp_head) + sizeof to);
    struct ct_tcp_head  *h = head_of(f);
    h->kind = CT_TCP_PUT;
    h->hdr_len = sizeof to;
    h->flags = CT_TCP_ACK_NOW;
    h->len_bytes = PUT_BYTES;
    memcpy(f->bytes + sizeof *h, &to, sizeof to);
    f->put = put;
    f->put_pos = put->op->pos;
    f->put_bytes = PUT_BYTES;
    ct_tcp_out_add(&l->out, f);
}

/* Moves up to `most` bytes, in one write and one read whose boundaries differ. */
static void carry(struct stream *l, size_t most)
{
    static char  wire[8192], spare[3000];
    struct iovec iov[5];
    size_t       bytes, at = 0;
    unsigned     n = ct_tcp_out_next(&l->out, iov, 5, ct_min_size(most, sizeof wire), &bytes);
    for (unsigned i = 0; i < n; at += iov[i++].iov_len) {
        memcpy(wire + at, iov[i].iov_base, iov[i].iov_len);
    }
    assert_int_equal(at, bytes);
    ct_tcp_out_wrote(&l->out, bytes);
    for (size_t taken = 0; taken < bytes;) {
        size_t own, got = 0;
        n = ct_tcp_in_want(&l->in, iov, 4, spare, 1 + unit_below(&l->seed, sizeof spare), &own);
        for (unsigned i = 0; i < n && taken < bytes; i++) {
            size_t len = ct_min_size(iov[i].iov_len, bytes - taken);
            memcpy(iov[i].iov_base, wire + taken, len);
            taken += len;
            got += len;
        }
        assert_true(ct_tcp_in_came(&l->in, got, own, spare));
    }
}

static void take_done(struct stream *l)
{
    while (ct_list_pop(&l->done) != NULL) {
        l->finished++;
    }
}

/* Loses what was written and not read: the sender believes that more went than came. */
static void break_off(struct stream *l)
{
    struct iovec iov[8];
    size_t       bytes;
    (void)ct_tcp_out_next(&l->out, iov, 8, unit_below(&l->seed, 5000), &bytes);
    ct_tcp_out_wrote(&l->out, bytes);
    assert_true(ct_tcp_out_resume(&l->out, l->in.received, &l->done));
    take_done(l);
}

static void test_whole_and_once(void **state)
{
    struct stream     l;
    struct ct_tcp_put puts[PUTS];
    struct ct_net_rma ops[PUTS];
    char             *source = malloc((size_t)PUTS * PUT_BYTES);
    struct ct_area    area = {.base = source, .len_bytes = (size_t)PUTS * PUT_BYTES};
    (void)state;
    assert_non_null(source);
    stream_init(&l, 4711);
    for (size_t i = 0; i < area.len_bytes; i++) {
        source[i] = (char)unit_random(&l.seed);
    }
    for (unsigned i = 0; i < PUTS; i++) {
        ops[i] = (struct ct_net_rma){
            .area = &area, .pos = (size_t)i * PUT_BYTES, .len_bytes = PUT_BYTES};
        puts[i] = (struct ct_tcp_put){.op = &ops[i]};
        ct_list_init(&puts[i].node);
    }
    for (unsigned i = 0; i < MESSAGES || !ct_tcp_out_idle(&l.out);) {
        if (i < MESSAGES) {
            send_slice(&l);
            if (i % 4 == 0 && i / 4 < PUTS) {
                send_put(&l, &puts[i / 4], i / 4);
            }
            i++;
        }
        carry(&l, 1 + unit_below(&l.seed, 9000));
        if (unit_below(&l.seed, 3) == 0) {
            break_off(&l);
        }
        if (unit_below(&l.seed, 3) == 0) {
            assert_true(ct_tcp_out_ack(&l.out, l.in.received, &l.done));
            take_done(&l);
        }
    }
    assert_true(ct_tcp_out_ack(&l.out, l.in.received, &l.done));
    take_done(&l);
    assert_int_equal(l.received, MESSAGES);
    assert_int_equal(l.placed, PUTS);
    assert_int_equal(l.finished, PUTS);
    assert_memory_equal(l.memory, source, area.len_bytes);
    stream_fini(&l);
    free(source);
}

static void test_acknowledgements(void **state)
{
    struct stream l;
    (void)state;
    stream_init(&l, 1);
    send_slice(&l);
    send_slice(&l);
    assert_false(ct_tcp_out_ack(&l.out, 1, &l.done)); /* nothing was sent */
    carry(&l, 30);
    assert_true(ct_tcp_out_ack(&l.out, 28, &l.done)); /* the first frame alone */
    assert_true(ct_tcp_out_ack(&l.out, 3, &l.done));  /* an old one */
    assert_int_equal(l.out.acked, 28);
    assert_false(ct_tcp_out_ack(&l.out, 31, &l.done));
    assert_false(ct_tcp_out_resume(&l.out, 27, &l.done)); /* it had more already */
    assert_false(ct_tcp_out_resume(&l.out, 31, &l.done));
    assert_true(ct_tcp_out_resume(&l.out, 29, &l.done));
    assert_int_equal(l.out.sent, 29);
    stream_fini(&l);
}

struct nonsense {
    struct ct_tcp_head head;
    const char        *why;
};

static void test_nonsense(void **state)
{
    static const struct ct_tcp_head good = {
        .magic = CT_TCP_FRAME_MAGIC, .version = CT_TCP_VERSION, .kind = CT_TCP_SLICE, .type = 7};
    struct nonsense cases[] = {
        {good, "no frame"},  {good, "no frame"},   {good, "out of order"}, {good, "unknown kind"},
        {good, "too long"},  {good, "too long"},   {good, "too long"},     {good, "wrong length"},
        {good, "behind it"}, {good, "never sent"},
    };
    (void)state;
    cases[0].head.magic++;
    cases[1].head.version++;
    cases[2].head.number = 1;
    cases[3].head.kind = CT_TCP_KINDS;
    cases[4].head.len_bytes = CT_TCP_MAX_SLICE + 1;
    cases[5].head.hdr_len = CT_NET_MAX_HDR + 1;
    cases[6].head.type = 0;
    cases[7].head.kind = CT_TCP_PUT;
    cases[8].head.kind = CT_TCP_BYE;
    cases[8].head.hdr_len = 1;
    cases[9].head.ack = 1;
    for (size_t i = 0; i < CT_ARRAY_LEN(cases); i++) {
        for (size_t first = 1; first <= sizeof good; first += 23) { /* in two portions, and whole */
            struct stream l;
            char          bytes[sizeof good + 1] = {0};
            memcpy(bytes, &cases[i].head, sizeof good);
            stream_init(&l, 1);
            bool fine = ct_tcp_in_feed(&l.in, bytes, first);
            fine = fine && ct_tcp_in_feed(&l.in, bytes + first, sizeof bytes - first);
            assert_false(fine);
            unit_contains(l.in.why, cases[i].why);
            assert_int_equal(l.received, 0);
            stream_fini(&l);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_and_once),
        cmocka_unit_test(test_acknowledgements),
        cmocka_unit_test(test_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
