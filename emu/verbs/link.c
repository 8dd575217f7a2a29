/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of one link (link.h). */
#include "link.h"

__extension__ typedef unsigned __int128 wide;

uint64_t emu_link_sending_ps(const struct emu_link_conf *conf, uint64_t bytes)
{
    if (conf->rate_bps == 0) {
        return 0;
    }
    return (uint64_t)((wide)bytes * 8u * 1000000000000u / conf->rate_bps);
}

/* What `ps` of the wire carry. */
static uint64_t bytes_of(const struct emu_link_conf *conf, uint64_t ps)
{
    return (uint64_t)((wide)ps * conf->rate_bps / 8u / 1000000000000u);
}

bool emu_link_is_plain(const struct emu_link_conf *conf)
{
    return conf->rate_bps == 0 && conf->latency_ns == 0 && conf->loss == 0 && conf->reorder == 0 &&
           conf->drop_next == 0 && !conf->down;
}

enum emu_link_fate emu_link_pass(const struct emu_link_conf *conf, struct emu_link_state *state,
                                 uint64_t now_ps, uint32_t bytes, const uint32_t random[2],
                                 struct emu_link_out *out)
{
    const uint64_t begins = state->busy_until_ps > now_ps ? state->busy_until_ps : now_ps;
    out->queued_bytes = bytes_of(conf, begins - now_ps);
    if (conf->down) {
        return EMU_LINK_IS_DOWN;
    }
    if (conf->queue_bytes != 0 && out->queued_bytes + bytes > conf->queue_bytes &&
        begins != now_ps) {
        return EMU_LINK_FULL;
    }
    out->sent_ps = begins + emu_link_sending_ps(conf, bytes);
    out->arrives_ps = out->sent_ps + conf->latency_ns * EMU_PS_PER_NS;
    state->busy_until_ps = out->sent_ps;
    if (conf->reorder != 0 && random[1] < conf->reorder) {
        out->arrives_ps += conf->reorder_ns * EMU_PS_PER_NS;
    }
    if (conf->drop_next != 0 || (conf->loss != 0 && random[0] < conf->loss)) {
        return EMU_LINK_LOST;
    }
    return EMU_LINK_PASSES;
}
