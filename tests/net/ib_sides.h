/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sides: instances of the ib transport in one process, on the emulated verbs in virtual time. Each
 * has a device or two of its own, so they are hosts to each other. Nothing waits for real time, and
 * a run with the same seed is the same each time.
 *
 * A pair of sides has a stream of messages and one of puts that notify: what arrives is held
 * against what was sent, in order, each once.
 */
#ifndef CT_TESTS_NET_IB_SIDES_H
#define CT_TESTS_NET_IB_SIDES_H

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "emu/verbs/fabric.h"
#include "net/ib/ib.h"

int      emu_verbs_command(const char *text);
int      emu_verbs_counts(const char *link, struct emu_link_counts *counts);
uint64_t emu_verbs_now_ns(void);
void     emu_verbs_pass(uint64_t ns);
void     emu_verbs_null(bool on);
void     emu_verbs_hold(bool on);
bool     emu_verbs_next(void);

enum { MOST_SIDES = 16, SLOTS = 32, SLOT_BYTES = 96 << 10 };

#define FAIL_IF(cond, ...)                                                                         \
    do {                                                                                           \
        if (cond) {                                                                                \
            (void)fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                  \
            (void)fprintf(stderr, __VA_ARGS__);                                                    \
            (void)fprintf(stderr, "\n");                                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct side;

/* What a side knows of another one. */
struct other {
    struct side        *side; /* whose knowledge it is */
    uint32_t            id;
    bool                failed, left;
    struct ct_net_link *link;
    /* in */
    uint32_t messages_in, puts_in;
    /* out */
    uint32_t            messages_out, puts_out, puts_done;
    struct ct_net_rkey *rkey;
    struct ct_net_rma   put[SLOTS];
    struct ct_area      area[SLOTS];
    struct ct_net_comp  comp[SLOTS];
    unsigned char      *from; /* SLOTS times SLOT_BYTES */
    struct ct_net_rma   get;
    struct ct_area      get_area;
    struct ct_net_comp  get_comp;
    uint32_t            gets_out, gets_done;
    unsigned char      *got; /* SLOT_BYTES */
};

struct side {
    struct ct_log     log;
    struct ct_config  cfg;
    struct ct_net    *net;
    uint32_t          id;
    unsigned char    *region; /* of all others, SLOTS times SLOT_BYTES for each */
    struct ct_net_mr *mr;
    unsigned char     key[CT_NET_MAX_RKEY];
    size_t            key_bytes;
    struct other      others[MOST_SIDES];
};

static struct side        sides[MOST_SIDES];
static struct ct_process *sides_process; /* of all, where there is GPU memory; NULL: none */
static uint32_t           nsides;
static uint64_t           draw_state = 1;

static inline uint64_t draw(void)
{
    draw_state ^= draw_state << 13;
    draw_state ^= draw_state >> 7;
    draw_state ^= draw_state << 17;
    return draw_state * 0x2545f4914f6cdd1du >> 16;
}

static inline struct ct_ib *ib_of(uint32_t id)
{
    return ct_ib_of(sides[id].net);
}

/* ---- the environment ------------------------------------------------------------------------- */

static inline unsigned char byte_of(uint32_t from, uint32_t number, size_t at)
{
    return (unsigned char)(from * 59 + number * 31 + at * 7 + at / 253);
}

static inline uint32_t length_of(uint32_t from, uint32_t number)
{
    uint64_t x = ((uint64_t)from << 32 | number) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    const uint32_t most = (x & 7) == 0 ? SLOT_BYTES : (x & 7) < 3 ? 9000 : 200;
    return (uint32_t)((x >> 8) % most);
}

static inline void *side_peer(void *arg, uint32_t id, uint32_t incarnation)
{
    struct side *s = arg;
    (void)incarnation;
    return id < nsides ? &s->others[id] : NULL;
}

static inline void on_message(struct other *o, const void *hdr, size_t hdr_len, const void *data,
                              size_t len)
{
    const unsigned char *bytes = data;
    uint32_t             number;
    FAIL_IF(hdr_len != sizeof number, "header of %zu bytes", hdr_len);
    memcpy(&number, hdr, sizeof number);
    FAIL_IF(number != o->messages_in, "side %u: message %u of %u came, not %u", o->side->id, number,
            o->id, o->messages_in);
    FAIL_IF(len != length_of(o->id, number) % 8000, "message of %zu bytes", len);
    for (size_t i = 0; i < len; i += 97) {
        FAIL_IF(bytes[i] != byte_of(o->id, number, i), "byte %zu of message %u", i, number);
    }
    o->messages_in++;
}

static inline void on_put(struct other *o, uint32_t number)
{
    const unsigned char *at =
        o->side->region + ((size_t)o->id * SLOTS + number % SLOTS) * SLOT_BYTES;
    const uint32_t len = length_of(o->id, number);
    FAIL_IF(number != o->puts_in, "side %u: put %u of %u is told, not %u", o->side->id, number,
            o->id, o->puts_in);
    for (size_t i = 0; i < len; i += i + 1 < len && i + 61 >= len ? 1 : 61) {
        FAIL_IF(at[i] != byte_of(o->id, number, i), "byte %zu of %u of put %u", i, len, number);
    }
    o->puts_in++;
}

static inline void side_deliver(void *peer, uint8_t type, const void *hdr, size_t hdr_len,
                                const void *data, size_t len)
{
    if (type == CT_NET_NOTIFY) {
        struct ct_net_notice n;
        memcpy(&n, hdr, sizeof n);
        on_put(peer, n.value);
    } else {
        on_message(peer, hdr, hdr_len, data, len);
    }
}

static inline void side_failed(void *peer, int why)
{
    (void)why;
    ((struct other *)peer)->failed = true;
}

static inline void side_left(void *peer)
{
    ((struct other *)peer)->left = true;
}

static inline const void *side_lookup(void *peer, const struct ct_net *net, size_t *len)
{
    const struct other *o = peer;
    (void)net;
    return sides[o->id].net->ops->addr(sides[o->id].net, len);
}

static inline void side_arrived(void *arg)
{
    (void)arg;
}

static inline int side_key(void *arg, struct ct_auth_key *key)
{
    (void)arg;
    memset(key, 7, sizeof *key);
    return CTRAN_SUCCESS;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Sides from 0 to n - 1; `devices` has a %u for the first device and maybe one for the second.
 * Settings are as in "CTRAN_IB_QPS=4 ...". */
static inline void side_open(uint32_t id, const char *devices, const char *settings)
{
    struct side *s = &sides[id];
    char         words[512], *save = NULL;
    *s = (struct side){.id = id};
    ct_log_init(&s->log, CT_LOG_ERROR, "sides");
    FAIL_IF(ct_config_load(&s->cfg, &s->log) != CTRAN_SUCCESS, "no configuration");
    (void)snprintf(words, sizeof words, "%s", settings);
    for (char *w = strtok_r(words, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
        char *value = strchr(w, '=');
        *value++ = '\0';
        FAIL_IF(ct_config_set(&s->cfg, &s->log, w, value, CT_ORIGIN_SET) != 0, "setting %s", w);
    }
    FAIL_IF(ct_config_set(&s->cfg, &s->log, "CTRAN_IB_DEVICES", devices, CT_ORIGIN_SET) != 0,
            "devices");
    const struct ct_net_env env = {.log = &s->log,
                                   .cfg = &s->cfg,
                                   .job = "sides",
                                   .id = id,
                                   .size = MOST_SIDES,
                                   .local_index = 0,
                                   .nlocal = 1,
                                   .process = sides_process,
                                   .arg = s,
                                   .peer = side_peer,
                                   .deliver = side_deliver,
                                   .failed = side_failed,
                                   .left = side_left,
                                   .lookup = side_lookup,
                                   .arrived = side_arrived,
                                   .key = side_key};
    FAIL_IF(ct_net_ib.open(&env, &s->net) != CTRAN_SUCCESS, "side %u does not open", id);
    FAIL_IF(ib_of(id)->unusable != NULL, "side %u: %s", id, ib_of(id)->unusable);
    ib_of(id)->now = emu_verbs_now_ns;
    emu_verbs_hold(true);
    s->region = aligned_alloc(4096, (size_t)MOST_SIDES * SLOTS * SLOT_BYTES);
    FAIL_IF(s->region == NULL, "no memory");
    for (size_t i = 0; i < SLOT_BYTES; i++) { /* nobody puts there: the others get it */
        s->region[(size_t)id * SLOTS * SLOT_BYTES + i] = byte_of(id, id, i);
    }
    const struct ct_area       area = {.base = s->region,
                                       .len_bytes = (size_t)MOST_SIDES * SLOTS * SLOT_BYTES};
    const struct ct_net_region what = {.key = id + 1,
                                       .area = &area,
                                       .access = CT_NET_REMOTE_READ | CT_NET_REMOTE_WRITE,
                                       .peer = CT_NET_ANY_PEER};
    FAIL_IF(ct_ib_rma_ops.mem_reg(s->net, &what, &s->mr) != CTRAN_SUCCESS, "no region");
    s->key_bytes = ct_ib_rma_ops.rkey_pack(s->mr, s->key);
    for (uint32_t i = 0; i < MOST_SIDES; i++) {
        s->others[i] = (struct other){.side = s, .id = i};
    }
    nsides = id + 1 > nsides ? id + 1 : nsides;
}

static inline struct other *link_to(uint32_t from, uint32_t to)
{
    struct other *o = &sides[from].others[to];
    size_t        len;
    const void   *addr = side_lookup(o, NULL, &len);
    FAIL_IF(ct_net_ib.unreachable(sides[from].net, addr, len) != NULL, "unreachable");
    FAIL_IF(ct_net_ib.connect(sides[from].net, o, to, addr, len, &o->link) != 0, "no link");
    FAIL_IF(ct_ib_rma_ops.rkey_open(o->link, sides[to].key, sides[to].key_bytes, &o->rkey) != 0,
            "no key");
    o->from = malloc((size_t)SLOTS * SLOT_BYTES);
    o->got = malloc(SLOT_BYTES);
    FAIL_IF(o->from == NULL || o->got == NULL, "no memory");
    return o;
}

/* A turn of all; whether anything happened. If not time goes on to the next event. */
static inline bool turn(void)
{
    bool busy = false;
    for (uint32_t i = 0; i < nsides; i++) {
        if (sides[i].net != NULL) {
            const uint64_t before = ib_of(i)->counters.completions;
            busy = ct_ib_progress(sides[i].net) > 0 || busy;
            busy = busy || ib_of(i)->counters.completions != before;
        }
    }
    if (!busy && !emu_verbs_next()) {
        emu_verbs_pass(20000);
    }
    return busy;
}

static inline void sides_close(void)
{
    for (uint32_t i = 0; i < nsides; i++) {
        struct side *s = &sides[i];
        for (uint32_t j = 0; j < MOST_SIDES; j++) {
            if (s->others[j].rkey != NULL) {
                ct_ib_rma_ops.rkey_close(s->others[j].rkey);
            }
            free(s->others[j].from);
            free(s->others[j].got);
        }
        ct_ib_rma_ops.mem_dereg(s->mr);
        emu_verbs_hold(false); /* it waits for others by itself */
        ct_net_ib.close(s->net);
        s->net = NULL;
        ct_config_fini(&s->cfg);
        free(s->region);
    }
    nsides = 0;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* The next message; false: no room. */
static inline bool send_message(struct other *o)
{
    static unsigned char bytes[8000];
    const uint32_t       number = o->messages_out, from = o->side->id;
    const uint32_t       len = length_of(from, number) % 8000;
    struct ct_area       area = {.base = bytes, .len_bytes = len};
    size_t               pos = 0;
    for (size_t i = 0; i < len; i++) {
        bytes[i] = byte_of(from, number, i);
    }
    const struct ct_net_slice slice = {.type = 1,
                                       .hdr_len = sizeof number,
                                       .hdr = &number,
                                       .area = len > 0 ? &area : NULL,
                                       .pos = &pos,
                                       .len_bytes = len};
    const int                 rc = ct_net_ib.send(o->link, &slice);
    FAIL_IF(rc != CTRAN_SUCCESS && rc != CT_AGAIN, "side %u: send gives %d", from, rc);
    o->messages_out += rc == CTRAN_SUCCESS;
    return rc == CTRAN_SUCCESS;
}

/* The next put, if its slot is free at both ends. */
static inline bool send_put(struct other *o)
{
    const uint32_t number = o->puts_out, from = o->side->id, slot = number % SLOTS;
    unsigned       taken = 0;
    if (o->comp[slot].pending > 0 || number - sides[o->id].others[from].puts_in >= SLOTS) {
        return false;
    }
    FAIL_IF(o->comp[slot].status != CTRAN_SUCCESS, "put %u ends with %d", number - SLOTS,
            o->comp[slot].status);
    unsigned char *bytes = o->from + (size_t)slot * SLOT_BYTES;
    const uint32_t len = length_of(from, number);
    for (size_t i = 0; i < len; i++) {
        bytes[i] = byte_of(from, number, i);
    }
    o->area[slot] = (struct ct_area){.base = bytes, .len_bytes = len};
    o->comp[slot] = (struct ct_net_comp){.pending = 1};
    o->put[slot] = (struct ct_net_rma){.op = CT_NET_OP_PUT,
                                       .rkey = o->rkey,
                                       .offset = ((uint64_t)from * SLOTS + slot) * SLOT_BYTES,
                                       .comp = &o->comp[slot],
                                       .area = &o->area[slot],
                                       .len_bytes = len,
                                       .notify = true,
                                       .notice = number};
    struct ct_net_rma *op = &o->put[slot];
    const int          rc = ct_ib_rma_ops.post(o->link, &op, 1, &taken);
    FAIL_IF(rc != CTRAN_SUCCESS && rc != CT_AGAIN, "post gives %d", rc);
    if (taken == 0) {
        o->comp[slot].pending = 0;
        return false;
    }
    o->puts_out++;
    return true;
}

/* Looks at what the last get has brought, and starts the next one; one at a time. */
static inline void send_get(struct other *o, bool more)
{
    unsigned taken = 0;
    if (o->get_comp.pending > 0) {
        return;
    }
    FAIL_IF(o->get_comp.status != CTRAN_SUCCESS, "a get ends with %d", o->get_comp.status);
    for (size_t i = 0; o->gets_done < o->gets_out && i < o->get.len_bytes; i += 41) {
        FAIL_IF(o->got[i] != byte_of(o->id, o->id, i), "byte %zu of get %u", i, o->gets_out);
    }
    o->gets_done = o->gets_out;
    if (!more) {
        return;
    }
    memset(o->got, 0, SLOT_BYTES);
    o->get_area = (struct ct_area){.base = o->got, .len_bytes = SLOT_BYTES};
    o->get_comp = (struct ct_net_comp){.pending = 1};
    o->get = (struct ct_net_rma){.op = CT_NET_OP_GET,
                                 .rkey = o->rkey,
                                 .offset = (uint64_t)o->id * SLOTS * SLOT_BYTES,
                                 .comp = &o->get_comp,
                                 .area = &o->get_area,
                                 .len_bytes = 1 + length_of(o->id, o->gets_out)};
    struct ct_net_rma *op = &o->get;
    FAIL_IF(ct_ib_rma_ops.post(o->link, &op, 1, &taken) != CTRAN_SUCCESS || taken != 1, "get");
    o->gets_out++;
}

/* Whether all that was sent has come and is over. */
static inline bool is_quiet(const struct other *o)
{
    const struct other *in = &sides[o->id].others[o->side->id];
    bool                over = in->messages_in == o->messages_out && in->puts_in == o->puts_out &&
                o->get_comp.pending == 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        over = over && o->comp[i].pending == 0;
    }
    return over;
}

static inline void wait_quiet(const struct other *o)
{
    for (uint64_t i = 0; !is_quiet(o); i++) {
        (void)turn();
        FAIL_IF(o->failed, "side %u has lost %u", o->side->id, o->id);
        FAIL_IF(i > 20000000,
                "side %u to %u: %u of %u messages, %u of %u puts came; phase %d epoch %u path %u",
                o->side->id, o->id, sides[o->id].others[o->side->id].messages_in, o->messages_out,
                sides[o->id].others[o->side->id].puts_in, o->puts_out,
                ct_ib_peer_of(o->link)->phase, ct_ib_peer_of(o->link)->epoch,
                ct_ib_peer_of(o->link)->path);
    }
}

/* Virtual time, before anything else. */
static inline void sides_begin(const char *devices, uint64_t seed)
{
    char dir[] = "/dev/shm/ib-sides-XXXXXX";
    FAIL_IF(mkdtemp(dir) == NULL, "no folder");
    setenv("EMU_VERBS_DIR", dir, 1);
    setenv("EMU_VERBS_TIME", "virtual", 1);
    setenv("EMU_VERBS_DEVICES", devices, 1);
    draw_state = seed * 0x9e3779b97f4a7c15u | 1;
}

static inline void sides_end(void)
{
    char path[256];
    (void)snprintf(path, sizeof path, "rm -rf %s", getenv("EMU_VERBS_DIR"));
    FAIL_IF(system(path) != 0, "the folder stays");
}

#endif
