/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of one link: a pure function of the link's configuration, its state, one packet, the
 * time and two random numbers. The function knows no clock, no thread and no memory of others, so
 * it serves real time and virtual time alike, and its unit test needs nothing else.
 *
 * A link is a queue in front of a wire. The wire sends `rate_bps` bits a second, in order of
 * arrival. The queue holds `queue_bytes`: a packet that finds more in it is lost. What leaves the
 * wire arrives `latency_ns` later. `loss` and `reorder` are probabilities in units of 2^-32; a
 * reordered packet arrives `reorder_ns` later than it should, so that those behind it overtake.
 * Times are picoseconds: at 400 Gbit/s a packet of 64 bytes takes 1.28 ns.
 */
#ifndef EMU_VERBS_LINK_H
#define EMU_VERBS_LINK_H

#include <stdbool.h>
#include <stdint.h>

enum { EMU_PS_PER_NS = 1000 };

struct emu_link_conf {
    uint64_t rate_bps;    /* 0: sends in no time */
    uint64_t latency_ns;  /* from the end of sending to arrival */
    uint64_t queue_bytes; /* 0: the queue has no limit */
    uint64_t reorder_ns;  /* what a reordered packet is late */
    uint32_t loss;        /* 0 to 2^32 - 1 */
    uint32_t reorder;
    uint32_t drop_next; /* so many packets to come are lost, whatever the rest says */
    bool     down;      /* everything is lost */
};

enum emu_link_fate { EMU_LINK_PASSES, EMU_LINK_LOST, EMU_LINK_FULL, EMU_LINK_IS_DOWN };

/* When the wire is free of what was taken so far. */
struct emu_link_state {
    uint64_t busy_until_ps;
};

struct emu_link_out {
    uint64_t sent_ps;      /* the wire is free again */
    uint64_t arrives_ps;   /* at the other end */
    uint64_t queued_bytes; /* in the queue when the packet came, without it */
};

/* What becomes of a packet of `bytes` that reaches the link at `now_ps`. The state changes only
 * if the packet uses the wire: EMU_LINK_PASSES and EMU_LINK_LOST, which happens at its end.
 * `out` is set for these two, `queued_bytes` always. */
enum emu_link_fate emu_link_pass(const struct emu_link_conf *conf, struct emu_link_state *state,
                                 uint64_t now_ps, uint32_t bytes, const uint32_t random[2],
                                 struct emu_link_out *out);

/* How long the wire is busy with `bytes`. */
uint64_t emu_link_sending_ps(const struct emu_link_conf *conf, uint64_t bytes);

/* Whether packets pass this link at once and always: nothing is configured and it is up. */
bool emu_link_is_plain(const struct emu_link_conf *conf);

#endif
