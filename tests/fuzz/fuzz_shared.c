/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks of a job publish: records, with the addresses of transports in them; pairs of shared
 * memory, whose cells a producer may fill with anything at any time; lists of exposed memory, in
 * which the same goes for every word, as in offers of reads; addresses as text.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/version.h"
#include "ep/ep_set.h"
#include "net/shm.c"
#include "net/tcp.h"
#include "net/transports.h"
#include "pmi/wire/wire.h"

enum { RING_BYTES = 16 * CT_RING_CELL, MOST = 64, RECORD_HEAD = 104 + CT_DIGEST_LEN };

static struct ct_process process;

/* ---- records
 * ----------------------------------------------------------------------------------- */

static struct ct_net *shm_net(void)
{
    static struct ct_shm s;
    s.env.nlocal = 3;
    s.net.ops = &ct_net_shm;
    return &s.net;
}

static struct ct_net *tcp_net(void)
{
    static struct ct_tcp t;
    t.nlanes = 1;
    t.addr.count = 1;
    t.own[0] = (struct ct_tcp_where){.family = 4, .prefix = 8, .ip = {10}};
    t.net.ops = &ct_net_tcp;
    return &t.net;
}

static void use_address(const uint8_t *record, size_t record_len, struct ct_net *net)
{
    size_t      len;
    const void *addr = ct_ep_record_find(record, record_len, net->ops->name, &len);
    if (addr != NULL) {
        FUZZ_CHECK((const uint8_t *)addr >= record && len <= CT_NET_MAX_ADDR &&
                   len <= record_len - (size_t)((const uint8_t *)addr - record));
        uint8_t *copy = malloc(len > 0 ? len : 1);
        FUZZ_CHECK(copy != NULL);
        memcpy(copy, addr, len);
        (void)net->ops->unreachable(net, copy, len);
        free(copy);
    }
}

/* One that begins as it should, most often, with entries whose lengths are nearly right. */
static uint8_t *make_record(struct fuzz *f, size_t *len)
{
    static const char *const names[] = {"shm", "tcp", "self", "another"};
    uint32_t                 entries = fuzz_below(f, 4);
    uint8_t                 *record = calloc(1, 4096);
    size_t                   at = RECORD_HEAD;
    FUZZ_CHECK(record != NULL);
    memcpy(record, "NTRC\3", 5);
    record[6] = (uint8_t)entries;
    memcpy(record + 24, ct_version_digest(), CT_DIGEST_LEN);
    for (uint32_t i = 0; i < entries; i++) {
        size_t   n;
        uint8_t *addr = fuzz_bytes(f, fuzz_below(f, 300), &n);
        snprintf((char *)record + at, 12, "%s", names[fuzz_below(f, 4)]);
        record[at + 12] = (uint8_t)(n + (fuzz_below(f, 16) == 0));
        record[at + 13] = (uint8_t)(n >> 8);
        memcpy(record + at + 16, addr, n);
        at = (at + 16 + n + 7) / 8 * 8;
        free(addr);
    }
    *len = at - fuzz_below(f, 9);
    return record;
}

static void record(struct fuzz *f)
{
    static uint8_t   own[1024];
    struct ct_ep_set set = {.p = &process, .record = own};
    size_t           len;
    uint8_t         *bytes = fuzz_below(f, 4) > 0 ? make_record(f, &len) : fuzz_bytes(f, 300, &len);
    uint8_t         *exact = malloc(len > 0 ? len : 1);
    FUZZ_CHECK(exact != NULL);
    memcpy(exact, bytes, len);
    free(bytes);
    if (ct_ep_record_check(&set, 0, exact, len) == CTRAN_SUCCESS) {
        use_address(exact, len, shm_net());
        use_address(exact, len, tcp_net());
    }
    free(exact);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* What is an address is one that can be written. */
static void address(struct fuzz *f)
{
    struct ct_addr a, again;
    char           text[80] = "", name[64];
    size_t         len;
    uint8_t       *bytes = fuzz_bytes(f, sizeof text - 1, &len);
    memcpy(text, bytes, len);
    free(bytes);
    if (ct_addr_parse(&a, text) == CTRAN_SUCCESS) {
        ct_addr_format(&a, name, sizeof name);
        FUZZ_CHECK(ct_addr_parse(&again, name) == CTRAN_SUCCESS);
        FUZZ_CHECK(memcmp(&a, &again, sizeof a) == 0);
    }
}

/* ---- rings ----------------------------------------------------------------------------------- */

/* A header word, or rubbish, in a cell. */
static void scribble(struct fuzz *f, char *cells)
{
    uint64_t word = fuzz_number(f, 1) << 40 | fuzz_number(f, 1) << 32 | fuzz_number(f, 2);
    uint32_t cell = fuzz_below(f, RING_BYTES / CT_RING_CELL);
    word |= fuzz_below(f, 16) > 0 ? 0xc7a1ull << 48 : fuzz_number(f, 2) << 48;
    memcpy(cells + (size_t)cell * CT_RING_CELL, &word, sizeof word);
}

/* As shm.c does it; so many cells at most can hold that many records, and each a turn. */
static bool drain_pair(struct ct_ring_pair *l)
{
    struct ct_record rec = {0};
    unsigned         n = 0, steps = 0;
    bool             starves;
    while (n < MOST) {
        struct ct_ring *r = ct_ring_pair_now(l);
        int             got = ct_ring_peek(r, &rec);
        if (got <= 0) {
            return got == 0;
        }
        if (ct_ring_pair_is_turn(&rec)) {
            if (!ct_ring_pair_follow(l, &starves)) {
                return false;
            }
            continue;
        }
        FUZZ_CHECK(++steps <= 2 * MOST + 1 + CT_RING_PAIR_TURNS);
        if (rec.type != CT_RING_SKIP) {
            fuzz_touch(rec.hdr, rec.hdr_len);
            fuzz_touch(rec.data, rec.len_bytes);
            l->turns = 0;
            n++;
        }
        (void)ct_ring_release(r, &rec);
    }
    return true;
}

/* Two rings of a pair, or one that is alone. */
static void ring(struct fuzz *f)
{
    struct ct_ring_pair l = {.alone = fuzz_below(f, 4) == 0};
    void               *memory[2];
    bool                fine = true;
    for (int i = 0; i < 2; i++) {
        memory[i] = aligned_alloc(CT_CACHE_LINE, ct_ring_memory(RING_BYTES));
        FUZZ_CHECK(memory[i] != NULL);
        memset(memory[i], 0, ct_ring_memory(RING_BYTES));
        ct_ring_view(&l.ring[i], memory[i], RING_BYTES);
    }
    while (f->left > 0 && fine) {
        if (fuzz_below(f, 4) > 0) {
            scribble(f, l.ring[fuzz_below(f, 2)].cells);
        } else {
            fine = drain_pair(&l);
        }
    }
    free(memory[0]);
    free(memory[1]);
}

/* ---- exposed memory -------------------------------------------------------------------------- */

enum { FILE_BYTES = 1 << 16, RANGES = 3 };

static struct ct_expose_list list;
static _Atomic uint32_t      blind;

/* The peer's file, as it makes it, or one without a seal. */
static int exposed_file(bool sealed)
{
    struct stat st;
    const int   fd = memfd_create("exposed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, FILE_BYTES) == 0 && fstat(fd, &st) == 0);
    FUZZ_CHECK(!sealed || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    list = (struct ct_expose_list){.changes = 1, .fd = fd, .device = st.st_dev, .inode = st.st_ino};
    return fd;
}

/* Numbers about the ends of pages and of the file, or any. */
static uint64_t near_page(struct fuzz *f)
{
    const uint64_t page = (uint64_t)fuzz_below(f, FILE_BYTES / 4096 + 2) * 4096;
    switch (fuzz_below(f, 8)) {
    case 0:
        return fuzz_number(f, 8);
    case 1:
        return page + fuzz_below(f, 3) - 1;
    case 2:
        return UINT64_MAX - page;
    default:
        return page;
    }
}

static void write_shelf(struct fuzz *f)
{
    struct ct_expose_range *r = &list.ranges[fuzz_below(f, RANGES)];
    switch (fuzz_below(f, 5)) {
    case 0:
        r->place = near_page(f);
        break;
    case 1:
        r->addr = near_page(f);
        break;
    case 2:
        r->len_bytes = near_page(f);
        break;
    case 3:
        list.changes++;
        break;
    default: /* as it should be */
        r->place = 4096 * (1 + fuzz_below(f, 8));
        r->addr = near_page(f);
        r->len_bytes = 4096 * (1 + fuzz_below(f, 8));
    }
}

/* All that is found can be read and written. */
static void exposed(struct fuzz *f)
{
    struct ct_attach view = {
        .theirs = &list, .blind = &blind, .log = &process.log, .pid = getpid()};
    const int fd = exposed_file(fuzz_below(f, 8) > 0);
    while (f->left > 0) {
        write_shelf(f);
        const uint64_t addr = near_page(f), len = near_page(f);
        char          *at = ct_attach_find(&view, addr, len);
        if (at != NULL && len > 0) {
            FUZZ_CHECK(len < FILE_BYTES);
            at[0] = at[len - 1] = 1;
        }
        if (fuzz_below(f, 4) == 0) {
            ct_attach_sweep(&view);
        }
    }
    ct_attach_close(&view);
    close(fd);
}

/* ---- offers of reads ------------------------------------------------------------------------- */

enum { SENT_BYTES = 3 * 4096 + 5, TOKEN = 3 };

static char *sent;

static int was_exposed(void *arg, const struct ct_shm_remote *what)
{
    const uint64_t at = what->addr - (uintptr_t)sent;
    (void)arg;
    if (what->key != TOKEN) {
        return CT_AGAIN;
    }
    return at <= SENT_BYTES && what->len_bytes <= SENT_BYTES - at ? CTRAN_SUCCESS
                                                                  : CTRAN_ERR_INTERN;
}

static bool lives(void *arg)
{
    (void)arg;
    return false;
}

static void write_offer(struct fuzz *f, struct ct_shm_offer *o)
{
    switch (fuzz_below(f, 7)) {
    case 0:
        o->to = near_page(f);
        break;
    case 1:
        o->from = fuzz_below(f, 4) > 0 ? (uintptr_t)sent + near_page(f) : near_page(f);
        break;
    case 2:
        o->len_bytes = near_page(f);
        break;
    case 3:
        o->block_bytes = near_page(f);
        break;
    case 4:
        o->key = TOKEN - (fuzz_below(f, 8) == 0);
        break;
    case 5:
        o->claim = fuzz_number(f, 8);
        break;
    default: /* as it should be */
        o->from = (uintptr_t)sent;
        o->len_bytes = SENT_BYTES;
        o->block_bytes = 4096;
        o->claim = 4;
    }
}

/* The owner copies from what it has exposed alone, to what its peer has exposed alone. */
static void offer(struct fuzz *f)
{
    struct ct_attach view = {
        .theirs = &list, .blind = &blind, .log = &process.log, .pid = getpid()};
    struct ct_shm_mate  reader = {.gone = lives, .exposed = was_exposed, .view = &view};
    struct ct_shm_offer o = {.key = TOKEN};
    _Atomic uint32_t    word = 1;
    const int           fd = exposed_file(true);
    sent = calloc(1, SENT_BYTES);
    FUZZ_CHECK(sent != NULL);
    list.ranges[0].place = 4096;
    list.ranges[0].len_bytes = FILE_BYTES - 4096;
    while (f->left > 0) {
        write_offer(f, &o);
        (void)ct_shm_share_help(&o, &word, 0, &reader);
    }
    ct_attach_close(&view);
    close(fd);
    free(sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = {data, size};
    if (process.log.level == 0) {
        ct_log_init(&process.log, CT_LOG_NONE, "fuzz");
    }
    switch (fuzz_below(&f, 7)) {
    case 0:
        address(&f);
        break;
    case 5:
        exposed(&f);
        break;
    case 6:
        offer(&f);
        break;
    case 1:
    case 2:
        record(&f);
        break;
    default:
        ring(&f);
    }
    return 0;
}
