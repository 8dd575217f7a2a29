/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GIDs and LIDs of ports. GID 0 is link-local, made of a MAC address; GID 1, of RoCE only, is that
 * of the IPv4 address 10.GENERATION.PORT + 1. A port that comes back with new GIDs has the next
 * generation, and nothing is at the old ones then. LIDs are port + 1 and stay.
 */
#include "emu.h"

#include <string.h>

static unsigned generation_of(unsigned port)
{
    return emu_set.ib ? 0
                      : atomic_load_explicit(&emu_nic.fabric->ports[port].generation,
                                             memory_order_relaxed) &
                            0xff;
}

void emu_gid_make(unsigned port, unsigned index, uint8_t gid[16])
{
    const unsigned generation = generation_of(port);
    memset(gid, 0, 16);
    if (index == 0) {
        const uint8_t made[16] = {0xfe,
                                  0x80,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0x65,
                                  (uint8_t)generation,
                                  0xff,
                                  0xfe,
                                  (uint8_t)(port >> 8),
                                  (uint8_t)port,
                                  1};
        memcpy(gid, made, 16);
    } else if (index == 1 && !emu_set.ib) {
        const uint8_t made[16] = {0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0,
                                  0xff,
                                  0xff,
                                  10,
                                  (uint8_t)generation,
                                  (uint8_t)((port + 1) >> 8),
                                  (uint8_t)(port + 1)};
        memcpy(gid, made, 16);
    }
}

int emu_gid_port(const uint8_t gid[16])
{
    const bool local = gid[0] == 0xfe && gid[1] == 0x80;
    const int  port = local ? gid[13] << 8 | gid[14] : (gid[14] << 8 | gid[15]) - 1;
    uint8_t    is[16];
    if (port < 0 || port >= EMU_PORTS) {
        return -1;
    }
    emu_gid_make((unsigned)port, local ? 0 : 1, is);
    return memcmp(gid, is, 16) == 0 ? port : -1;
}

int emu_lid_port(uint16_t lid)
{
    return lid == 0 || lid > EMU_PORTS ? -1 : lid - 1;
}
