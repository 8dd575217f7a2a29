/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs are bounded: a side that may have those of two connections talks to five others in
 * turn. Idle connections are parked, and begin a new epoch when they are used again; nothing is
 * lost, whoever sends first, and while both sides send at the moment of parking.
 */
#include "ib_sides.h"

enum { OTHERS = 5, MOST_QPS = 6 /* three to a connection */ };

static void talk(struct other *out, struct other *in, unsigned n)
{
    const uint32_t messages = out->messages_out + n, puts = out->puts_out + n;
    const uint32_t back = in->messages_out + (draw() % 2 == 0 ? n : 0);
    while (out->messages_out < messages || out->puts_out < puts || in->messages_out < back ||
           !is_quiet(out) || !is_quiet(in)) {
        (void)(out->messages_out < messages && send_message(out));
        (void)(out->puts_out < puts && send_put(out));
        (void)(in->messages_out < back && send_message(in));
        (void)turn();
        FAIL_IF(out->failed || in->failed, "a side is lost");
        FAIL_IF(ib_of(0)->ports[0]->nmade > MOST_QPS, "%u queue pairs", ib_of(0)->ports[0]->nmade);
    }
}

/* Two connections have all queue pairs and are never idle; a third one gets its turn nevertheless,
 * long before its peer would count as dead. */
static void busy(void)
{
    struct other *out[3];
    for (uint32_t i = 0; i < 3; i++) {
        out[i] = link_to(0, i + 1);
        (void)link_to(i + 1, 0);
    }
    for (unsigned t = 0; t < 300000 || !is_quiet(out[0]) || !is_quiet(out[1]) || !is_quiet(out[2]);
         t++) {
        for (uint32_t i = 0; i < 3 && t < 300000; i++) {
            (void)(t % 16 == 0 && is_quiet(out[i]) && send_message(out[i]));
            FAIL_IF(out[i]->failed, "side %u is lost", i + 1);
        }
        (void)turn();
    }
    for (uint32_t i = 0; i < 3; i++) {
        FAIL_IF(out[i]->messages_out < 2, "side %u got %u messages", i + 1, out[i]->messages_out);
    }
    sides_close();
}

static void open_sides(uint32_t others, const char *settings)
{
    side_open(0, "emu0", settings);
    sides[0].cfg.ib_max_qps = MOST_QPS;
    for (uint32_t i = 0; i < others; i++) {
        char device[8];
        (void)snprintf(device, sizeof device, "emu%u", i + 1);
        side_open(i + 1, device, settings);
    }
}

int main(void)
{
    const unsigned rounds = getenv("CT_SOAK") != NULL ? 1000 : 40;
    struct other  *out[OTHERS], *in[OTHERS];
    sides_begin("6", 3);
    FAIL_IF(emu_verbs_command("link * rate=100g latency=1us") != 0, "fabric");
    open_sides(3, "CTRAN_IB_QPS=2 CTRAN_IB_IDLE=100ms CTRAN_IB_TIMEOUT=1s");
    busy();
    open_sides(OTHERS, "CTRAN_IB_QPS=2 CTRAN_IB_IDLE=1ms");
    for (uint32_t i = 0; i < OTHERS; i++) {
        out[i] = link_to(0, i + 1);
        in[i] = link_to(i + 1, 0);
        talk(out[i], in[i], 3);
    }
    for (unsigned r = 0; r < rounds; r++) {
        const unsigned i = (unsigned)(draw() % OTHERS);
        if (draw() % 2 == 0) {
            talk(out[i], in[i], 1 + (unsigned)(draw() % 20));
        } else {
            talk(in[i], out[i], 1 + (unsigned)(draw() % 20));
        }
    }
    FAIL_IF(ib_of(0)->counters.evicted < rounds / 4, "%llu evictions",
            (unsigned long long)ib_of(0)->counters.evicted);
    (void)printf("%llu evictions\n", (unsigned long long)ib_of(0)->counters.evicted);
    sides_close();
    sides_end();
    return 0;
}
