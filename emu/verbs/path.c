/* SPDX-License-Identifier: BSD-3-Clause */
/* Which links a packet takes, and what a link of the fabric does to it. Links are numbered: those
 * of ports first, up and down in turn, then those of racks, to a spine and from it in turn. */
#include "fabric.h"

unsigned emu_link_of_port(unsigned port, enum emu_link_kind kind)
{
    return 2 * port + (kind == EMU_LINK_DOWN);
}

unsigned emu_link_of_rack(unsigned rack, unsigned spine, enum emu_link_kind kind)
{
    return 2 * EMU_PORTS + 2 * (rack * EMU_SPINES + spine) + (kind == EMU_LINK_SPINE);
}

enum emu_link_kind emu_link_kind_of(unsigned link)
{
    if (link < 2 * EMU_PORTS) {
        return link % 2 == 0 ? EMU_LINK_UP : EMU_LINK_DOWN;
    }
    return link % 2 == 0 ? EMU_LINK_LEAF : EMU_LINK_SPINE;
}

unsigned emu_rack_of(struct emu_fabric *fabric, unsigned port)
{
    switch (atomic_load_explicit(&fabric->racks, memory_order_relaxed)) {
    case EMU_RACK_DEVICE:
        return port / EMU_DEVICE_PORTS;
    case EMU_RACK_HOST:
        return port / EMU_HOST_PORTS;
    default:
        return 0;
    }
}

/* Spreads the bits of `x` (the finaliser of MurmurHash3, A. Appleby, public domain). */
static uint64_t mixed(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

unsigned emu_path(struct emu_fabric *fabric, unsigned from, unsigned to, uint64_t flow,
                  unsigned links[EMU_MAX_HOPS])
{
    const unsigned a = emu_rack_of(fabric, from), b = emu_rack_of(fabric, to);
    unsigned       n = 0;
    links[n++] = emu_link_of_port(from, EMU_LINK_UP);
    if (a != b) {
        const unsigned spine = (unsigned)(mixed(flow) % atomic_load(&fabric->spines));
        links[n++] = emu_link_of_rack(a, spine, EMU_LINK_LEAF);
        links[n++] = emu_link_of_rack(b, spine, EMU_LINK_SPINE);
    }
    links[n++] = emu_link_of_port(to, EMU_LINK_DOWN);
    return n;
}

void emu_fabric_conf(struct emu_fabric *fabric, unsigned link, struct emu_link_conf *conf)
{
    struct emu_shared_conf *own = &fabric->links[link].conf;
    struct emu_shared_conf *from = atomic_load_explicit(&own->set, memory_order_acquire)
                                       ? own
                                       : &fabric->defaults[emu_link_kind_of(link)];
    conf->rate_bps = atomic_load_explicit(&from->rate_bps, memory_order_relaxed);
    conf->latency_ns = atomic_load_explicit(&from->latency_ns, memory_order_relaxed);
    conf->queue_bytes = atomic_load_explicit(&from->queue_bytes, memory_order_relaxed);
    conf->reorder_ns = atomic_load_explicit(&from->reorder_ns, memory_order_relaxed);
    conf->loss = atomic_load_explicit(&from->loss, memory_order_relaxed);
    conf->reorder = atomic_load_explicit(&from->reorder, memory_order_relaxed);
    conf->drop_next = atomic_load_explicit(&own->drop_next, memory_order_relaxed);
    conf->down = atomic_load_explicit(&from->down, memory_order_relaxed);
}

static void count(struct emu_fabric_link *link, enum emu_link_fate fate, uint32_t bytes,
                  uint64_t queued)
{
    _Atomic uint64_t *const of[] = {[EMU_LINK_PASSES] = &link->packets,
                                    [EMU_LINK_LOST] = &link->lost,
                                    [EMU_LINK_FULL] = &link->full,
                                    [EMU_LINK_IS_DOWN] = &link->down};
    atomic_fetch_add_explicit(of[fate], 1, memory_order_relaxed);
    if (fate == EMU_LINK_PASSES) {
        atomic_fetch_add_explicit(&link->bytes, bytes, memory_order_relaxed);
    }
    uint64_t peak = atomic_load_explicit(&link->peak_bytes, memory_order_relaxed);
    while (queued > peak && !atomic_compare_exchange_weak(&link->peak_bytes, &peak, queued)) {
    }
}

/* One of the packets that are to be lost is; they may be fewer by now. */
static void one_dropped(struct emu_fabric_link *link)
{
    unsigned left = atomic_load(&link->conf.drop_next);
    while (left != 0 && !atomic_compare_exchange_weak(&link->conf.drop_next, &left, left - 1)) {
    }
}

enum emu_link_fate emu_fabric_pass(struct emu_fabric *fabric, unsigned number, uint64_t now_ps,
                                   uint32_t bytes, uint64_t random, struct emu_link_out *out)
{
    struct emu_fabric_link *link = &fabric->links[number];
    const uint32_t          draws[2] = {(uint32_t)random, (uint32_t)(random >> 32)};
    struct emu_link_conf    conf;
    struct emu_link_state   state;
    enum emu_link_fate      fate;
    emu_fabric_conf(fabric, number, &conf);
    uint64_t busy = atomic_load(&link->busy_until_ps);
    do {
        state.busy_until_ps = busy;
        fate = emu_link_pass(&conf, &state, now_ps, bytes, draws, out);
    } while (state.busy_until_ps != busy &&
             !atomic_compare_exchange_weak(&link->busy_until_ps, &busy, state.busy_until_ps));
    if (fate == EMU_LINK_LOST && conf.drop_next != 0) {
        one_dropped(link);
    }
    count(link, fate, bytes, out->queued_bytes);
    return fate;
}

void emu_fabric_counts(struct emu_fabric *fabric, unsigned number, struct emu_link_counts *counts)
{
    struct emu_fabric_link *link = &fabric->links[number];
    *counts = (struct emu_link_counts){
        .packets = atomic_load(&link->packets),
        .bytes = atomic_load(&link->bytes),
        .lost = atomic_load(&link->lost),
        .full = atomic_load(&link->full),
        .down = atomic_load(&link->down),
        .peak_bytes = atomic_load(&link->peak_bytes),
    };
}
