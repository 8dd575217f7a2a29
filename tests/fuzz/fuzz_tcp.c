/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a stream of the tcp transport, in portions of any size and by both ways in; and the
 * addresses of a peer's record.
 */
#include "fuzz.h"

#include "net/tcp.h"

enum { TARGET = 5000, SPARE_BYTES = 700 };

struct stream {
    struct ct_tcp_pool pool;
    struct ct_tcp_in   in;
    struct ct_area     area;
    uint8_t           *memory;
    size_t             placing;
    bool               lies;
};

static void on_slice(void *arg, uint8_t type, const void *hdr, size_t hdr_len, const void *data,
                     size_t len_bytes)
{
    (void)arg;
    FUZZ_CHECK(type != 0 && hdr_len <= CT_NET_MAX_HDR && len_bytes <= CT_TCP_MAX_SLICE);
    fuzz_touch(hdr, hdr_len);
    fuzz_touch(data, len_bytes);
}

static const struct ct_area *on_place(void *arg, const struct ct_tcp_target *to, size_t len_bytes)
{
    struct stream *l = arg;
    FUZZ_CHECK(l->placing == 0);
    if (to->offset > TARGET || len_bytes > TARGET - to->offset || to->key == 7) {
        return NULL;
    }
    l->placing = len_bytes;
    return &l->area;
}

static void on_placed(void *arg, const struct ct_tcp_target *to, size_t len_bytes, bool landed)
{
    struct stream *l = arg;
    fuzz_touch(to, sizeof *to);
    FUZZ_CHECK(!landed || len_bytes == l->placing);
    l->placing = 0;
}

static void on_done(void *arg, const struct ct_tcp_outcome *outcome)
{
    struct stream *l = arg;
    fuzz_touch(outcome, sizeof *outcome);
    ct_tcp_in_withdraw(&l->in, outcome->id); /* as what that leads to may */
}

static bool on_ack(void *arg, uint64_t position)
{
    const struct stream *l = arg;
    return position < 1000 || !l->lies;
}

static void on_bye(void *arg)
{
    (void)arg;
}

static const struct ct_tcp_sink sink = {on_slice, on_place, on_placed, on_done, on_ack, on_bye};

/* These bytes as a socket brings them: into the places that the stream names, and spare memory. */
static bool came(struct stream *l, const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        struct iovec iov[4];
        size_t       own, n = 0;
        uint8_t     *spare = malloc(SPARE_BYTES);
        FUZZ_CHECK(spare != NULL);
        unsigned count = ct_tcp_in_want(&l->in, iov, 4, spare, SPARE_BYTES, &own);
        for (unsigned i = 0; i < count && n < len; i++) {
            size_t part = ct_min_size(iov[i].iov_len, len - n);
            memcpy(iov[i].iov_base, bytes + n, part);
            n += part;
        }
        bool ok = n > 0 && ct_tcp_in_came(&l->in, n, own, spare);
        FUZZ_CHECK(n > 0);
        free(spare);
        if (!ok) {
            return false;
        }
        bytes += n;
        len -= n;
    }
    return true;
}

static bool feed(struct stream *l, struct fuzz *f, uint8_t *bytes, size_t len)
{
    bool ok = true;
    for (size_t at = 0; at < len && ok;) {
        size_t part = ct_min_size(len - at, 1 + (size_t)fuzz_below(f, 300));
        ok = fuzz_below(f, 2) == 0 ? ct_tcp_in_feed(&l->in, bytes + at, part)
                                   : came(l, bytes + at, part);
        at += part;
    }
    FUZZ_CHECK(ok || l->in.why != NULL);
    free(bytes);
    return ok;
}

/* A frame with a head that is nearly right. */
static bool frame(struct stream *l, struct fuzz *f)
{
    uint8_t              choice = (uint8_t)fuzz_number(f, 1);
    struct ct_tcp_head   h = {.magic = CT_TCP_FRAME_MAGIC,
                              .version = CT_TCP_VERSION,
                              .kind = (uint8_t)(1 + choice % 5),
                              .type = (uint8_t)fuzz_number(f, 1),
                              .flags = choice >> 4,
                              .number = l->in.number + (choice == 0xff),
                              .ack = fuzz_number(f, 2)};
    size_t               n;
    struct ct_tcp_target to = {.key = fuzz_number(f, 1), .offset = fuzz_number(f, 2)};
    uint8_t             *rest = fuzz_bytes(f, fuzz_below(f, 1500), &n);
    if (h.kind == CT_TCP_PUT) {
        h.hdr_len = sizeof to;
        h.len_bytes = (uint32_t)n;
    } else if (h.kind == CT_TCP_DONE) {
        h.hdr_len = (uint8_t)ct_min_size(n, sizeof(struct ct_tcp_outcome));
        n = h.hdr_len;
    } else if (h.kind == CT_TCP_SLICE) {
        h.hdr_len = (uint8_t)ct_min_size(n, fuzz_below(f, 200));
        h.len_bytes = (uint32_t)(n - h.hdr_len);
    } else {
        n = 0;
    }
    size_t   head = sizeof h + (h.kind == CT_TCP_PUT ? sizeof to : 0);
    uint8_t *all = malloc(head + n);
    FUZZ_CHECK(all != NULL);
    memcpy(all, &h, sizeof h);
    if (h.kind == CT_TCP_PUT) {
        memcpy(all + sizeof h, &to, sizeof to);
    }
    memcpy(all + head, rest, n);
    free(rest);
    return feed(l, f, all, head + n);
}

static void addresses(struct fuzz *f)
{
    static struct ct_tcp t;
    struct ct_tcp_addr   addr;
    struct ct_tcp_pair   pairs[CT_TCP_MAX_IFS];
    unsigned             nbest;
    char                 name[64];
    for (unsigned i = 0; i < sizeof addr; i++) {
        ((uint8_t *)&addr)[i] = (uint8_t)fuzz_number(f, 1);
    }
    t.addr.count = (uint8_t)fuzz_below(f, CT_TCP_MAX_IFS + 1);
    for (unsigned i = 0; i < t.addr.count; i++) {
        t.own[i] = addr.where[fuzz_below(f, CT_TCP_MAX_IFS)];
        t.own[i].family = fuzz_below(f, 2) != 0 ? 6 : 4;
        t.own[i].prefix %= t.own[i].family == 6 ? 129 : 33;
    }
    t.addr.host = fuzz_below(f, 2) != 0 ? addr.host : 0;
    if (addr.count > CT_TCP_MAX_IFS) {
        return; /* whose record is so wrong is refused before */
    }
    unsigned n = ct_tcp_addr_pairs(&t, &addr, pairs, &nbest);
    FUZZ_CHECK(n <= CT_TCP_MAX_IFS && nbest <= n && (n == 0 || nbest > 0));
    for (unsigned i = 0; i < n; i++) {
        ct_tcp_addr_name(&pairs[i].to, name, sizeof name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz   f = {data, size};
    struct stream l = {.memory = malloc(TARGET)};
    bool          ok = true;
    FUZZ_CHECK(l.memory != NULL);
    l.area = (struct ct_area){.base = l.memory, .len_bytes = TARGET};
    ct_tcp_pool_init(&l.pool);
    ct_tcp_in_init(&l.in, &l.pool, &sink, &l);
    l.lies = fuzz_below(&f, 2) != 0;
    if (fuzz_below(&f, 8) == 0) {
        addresses(&f);
    }
    while (f.left > 0 && ok) {
        if (fuzz_below(&f, 8) != 0) {
            ok = frame(&l, &f);
        } else {
            size_t   len;
            uint8_t *bytes = fuzz_bytes(&f, 1 + fuzz_below(&f, 100), &len);
            ok = feed(&l, &f, bytes, len);
        }
    }
    ct_tcp_in_fini(&l.in);
    ct_tcp_pool_fini(&l.pool);
    free(l.memory);
    return 0;
}
