/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failover of ib, on the emulated fabric in virtual time: while streams of messages, of gets, and
 * of puts that notify run among three sides with two ports each, ports go down and come back with
 * other GIDs, and links lose all without a port's knowing. Everything arrives once and in order,
 * nobody is lost, connections that do not use the port go on, and in the end all are on the first
 * path again.
 */
#include "ib_sides.h"

enum { SIDES = 3 };

static const char settings[] =
    "CTRAN_IB_QPS=3 CTRAN_IB_SEGMENT=16K CTRAN_IB_ACK_TIMEOUT=8 CTRAN_IB_RETRIES=3 "
    "CTRAN_IB_FAILOVER_TRY=20ms CTRAN_IB_FAILBACK=10ms CTRAN_IB_TIMEOUT=20s CTRAN_IB_PROBE=5ms "
    "CTRAN_IB_FIRST_WRITE=16777000";

static struct other *all[SIDES * (SIDES - 1)];
static unsigned      nall;

static void command(const char *format, unsigned device)
{
    char text[128];
    (void)snprintf(text, sizeof text, format, device);
    FAIL_IF(emu_verbs_command(text) != 0, "%s", text);
}

static void open_all(void)
{
    static const char *const devices[] = {"emu0,emu1", "emu2,emu3", "emu4,emu5"};
    nall = 0;
    for (uint32_t i = 0; i < SIDES; i++) {
        side_open(i, devices[i], settings);
        sides[i].log.level = CT_LOG_ERROR;
    }
    for (uint32_t i = 0; i < SIDES; i++) {
        for (uint32_t j = 0; j < SIDES; j++) {
            if (i != j) {
                all[nall++] = link_to(i, j);
            }
        }
    }
}

static void traffic(unsigned turns)
{
    for (unsigned t = 0; t < turns; t++) {
        for (unsigned i = 0; i < nall; i++) {
            const uint64_t x = draw();
            (void)(x % 8 == 0 && send_message(all[i]));
            (void)(x % 8 == 1 && send_put(all[i]));
            send_get(all[i], x % 8 == 2);
            FAIL_IF(all[i]->failed, "side %u has lost %u", all[i]->side->id, all[i]->id);
        }
        (void)turn();
    }
}

static void settle(void)
{
    for (unsigned i = 0; i < nall; i++) {
        wait_quiet(all[i]);
    }
}

static struct ct_ib_counters sum(void)
{
    struct ct_ib_counters all_of = {0};
    for (uint32_t i = 0; i < SIDES; i++) {
        const struct ct_ib_counters *c = &ib_of(i)->counters;
        all_of.restarts += c->restarts;
        all_of.failovers += c->failovers;
        all_of.failbacks += c->failbacks;
        all_of.errors += c->errors;
        all_of.port_downs += c->port_downs;
        all_of.port_ups += c->port_ups;
        all_of.gid_changes += c->gid_changes;
        all_of.probes += c->probes;
        all_of.messages_again += c->messages_again;
        all_of.writes_again += c->writes_again;
        all_of.reads_again += c->reads_again;
    }
    return all_of;
}

/* Until all connections are on the first path. */
static void wait_home(void)
{
    bool home = false;
    for (unsigned t = 0; !home; t++) {
        (void)turn();
        home = true;
        for (unsigned i = 0; i < nall; i++) {
            const struct ct_ib_peer *peer = ct_ib_peer_of(all[i]->link);
            home = home && peer->phase == CT_IB_OPEN && peer->path == 0;
        }
        FAIL_IF(t > 3000000, "not all connections have gone back");
    }
}

/* A port goes down, which its NIC knows; the connections of others go on. */
static void port_down(unsigned device)
{
    const struct ct_ib_peer *apart = ct_ib_peer_of(sides[1].others[2].link);
    const uint32_t           epoch = apart->epoch;
    command("port emu%u/1 down", device);
    traffic(400 + draw() % 400);
    FAIL_IF(device < 2 && apart->epoch != epoch, "a connection that has no port there restarted");
    command(draw() % 2 == 0 ? "port emu%u/1 up" : "port emu%u/1 up newgid", device);
    traffic(200);
}

/* All packets of a link are lost for a time; no port goes down. */
static void link_down(unsigned device, bool up)
{
    command(up ? "link up:emu%u/1 down" : "link down:emu%u/1 down", device);
    traffic(600 + draw() % 600);
    command(up ? "link up:emu%u/1 up" : "link down:emu%u/1 up", device);
    traffic(200);
}

/* The peer is silent, as its direction to this side is broken, and this side only waits. */
static void silence(void)
{
    struct other *in = all[0];
    settle();
    wait_home();
    const struct ct_ib_counters before = sum();
    command("link up:emu%u/1 down", 0); /* side 0 is heard no more on its first port */
    for (unsigned t = 0;
         ct_ib_peer_of(in->link)->path == 0 || ct_ib_peer_of(in->link)->phase != CT_IB_OPEN; t++) {
        if (t % 64 == 0) {
            for (uint32_t i = 0; i < SIDES; i++) {
                ct_net_ib.check_peers(sides[i].net);
            }
        }
        (void)turn();
        FAIL_IF(t > 1000000, "a silent path is not found out");
    }
    FAIL_IF(sum().probes == before.probes, "nobody has probed");
    command("link up:emu%u/1 up", 0);
    traffic(200);
    settle();
}

static void random_faults(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        const unsigned device = (unsigned)(draw() % (2 * SIDES));
        traffic((unsigned)(draw() % 300));
        if (draw() % 2 == 0) {
            port_down(device);
        } else {
            link_down(device, draw() % 2 == 0);
        }
        settle();
        wait_home();
    }
}

int main(void)
{
    const unsigned rounds = getenv("CT_SOAK") != NULL          ? 500
                            : getenv("CT_CHECK_QUICK") != NULL ? 6
                                                               : 30;
    sides_begin("6", 99);
    FAIL_IF(emu_verbs_command("link * rate=50g latency=1us") != 0, "fabric");
    open_all();
    traffic(500);
    settle();
    FAIL_IF(sum().restarts != 0, "restarts without a fault");
    port_down(0);
    settle();
    wait_home();
    const struct ct_ib_counters c = sum();
    FAIL_IF(c.failovers == 0 || c.failbacks == 0, "%llu failovers, %llu failbacks",
            (unsigned long long)c.failovers, (unsigned long long)c.failbacks);
    FAIL_IF(c.port_downs != 1 || c.port_ups != 1, "events of ports");
    silence();
    random_faults(rounds);
    const struct ct_ib_counters end = sum();
    FAIL_IF(end.writes_again == 0 || end.messages_again == 0 || end.reads_again == 0,
            "nothing was sent again");
    FAIL_IF(end.gid_changes == 0, "no GID has changed");
    (void)printf("%llu restarts, %llu failovers, %llu failbacks, %llu messages and %llu writes "
                 "again\n",
                 (unsigned long long)end.restarts, (unsigned long long)end.failovers,
                 (unsigned long long)end.failbacks, (unsigned long long)end.messages_again,
                 (unsigned long long)end.writes_again);
    sides_close();
    sides_end();
    return 0;
}
