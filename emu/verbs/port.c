/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports and packets on their way. A process has one packet at a time at a port, for its QPs in
 * turn: the queue of the link up has no more than one packet of each process that shares the port.
 * From there on a packet is an event of its sender's heap until it is put into the ring of the
 * destination. While no link of the fabric is configured a packet goes straight there.
 */
#include "emu.h"

#include <stdlib.h>
#include <string.h>

/* A NIC thread that slept too long makes up for so much. */
enum { CATCH_UP_NS = 5000000 };

static struct emu_packet *pool; /* with room for the greatest payload */

struct emu_packet *emu_packet_get(uint32_t payload)
{
    struct emu_packet *packet = payload > 0 ? pool : NULL;
    if (packet != NULL) {
        pool = packet->next;
    } else {
        packet = malloc(sizeof *packet + (payload > 0 ? EMU_MAX_MTU : 0));
        if (packet == NULL) {
            abort();
        }
    }
    memset(&packet->wire, 0, sizeof packet->wire);
    packet->next = NULL;
    packet->wire.length = payload;
    return packet;
}

void emu_packet_put(struct emu_packet *packet)
{
    if (packet->wire.length > 0) {
        packet->next = pool;
        pool = packet;
    } else {
        free(packet);
    }
}

void emu_packets_free(void)
{
    while (pool != NULL) {
        struct emu_packet *next = pool->next;
        free(pool);
        pool = next;
    }
}

static bool is_down(unsigned port)
{
    return atomic_load_explicit(&emu_nic.fabric->ports[port].down, memory_order_relaxed);
}

/* What has arrived: here, or in the process that has the QP. */
static void deliver(struct emu_packet *packet)
{
    if (is_down(packet->wire.dst_port)) {
        emu_packet_put(packet);
    } else if (packet->wire.dst_qpn / EMU_MAX_QP == emu_nic.place.slot) {
        packet->next = NULL;
        if (emu_nic.local_last != NULL) {
            emu_nic.local_last->next = packet;
        } else {
            emu_nic.local_first = packet;
        }
        emu_nic.local_last = packet;
    } else {
        emu_ring_send(packet);
    }
}

/* The packet is at the link `hop` at `at_ps`. */
static void pass(struct emu_packet *packet, uint64_t at_ps)
{
    struct emu_link_out      out;
    const enum emu_link_fate fate =
        emu_fabric_pass(emu_nic.fabric, packet->links[packet->hop], at_ps,
                        packet->wire.length + EMU_HEADER_BYTES, emu_random(), &out);
    if (packet->hop == 0 && (fate == EMU_LINK_PASSES || fate == EMU_LINK_LOST)) {
        emu_nic.ports[packet->wire.src_port].busy_until_ps = out.sent_ps;
    }
    if (fate != EMU_LINK_PASSES) {
        emu_packet_put(packet);
        return;
    }
    packet->hop++;
    packet->at_ps = out.arrives_ps;
    if (packet->hop == packet->hops && packet->at_ps <= emu_nic.now_ps) {
        deliver(packet);
        return;
    }
    emu_nic.in_flight++;
    emu_later(packet->at_ps, EMU_EV_HOP, 0, 0, packet);
}

void emu_packet_hop(struct emu_packet *packet)
{
    emu_nic.in_flight--;
    if (packet->hop == packet->hops) {
        deliver(packet);
    } else {
        pass(packet, packet->at_ps);
    }
}

bool emu_port_ready(struct emu_qp *qp)
{
    if (!atomic_load_explicit(&emu_nic.fabric->shaped, memory_order_relaxed)) {
        return true;
    }
    struct emu_port *port = &emu_nic.ports[qp->port];
    if (port->busy_until_ps <= emu_nic.now_ps && (port->first == NULL || port->turn == qp)) {
        return true;
    }
    if (!qp->port_waits) {
        qp->port_waits = true;
        qp->port_next = NULL;
        if (port->last != NULL) {
            port->last->port_next = qp;
        } else {
            port->first = qp;
        }
        port->last = qp;
    }
    if (!port->queued) {
        port->queued = true;
        emu_later(port->busy_until_ps, EMU_EV_PORT, qp->port, 0, NULL);
    }
    return false;
}

void emu_port_leave(struct emu_qp *qp)
{
    struct emu_port *port = &emu_nic.ports[qp->port];
    struct emu_qp   *last = NULL;
    for (struct emu_qp **at = &port->first; *at != NULL && qp->port_waits;) {
        if (*at == qp) {
            *at = qp->port_next;
            qp->port_waits = false;
        } else {
            last = *at;
            at = &(*at)->port_next;
        }
    }
    if (port->last == qp) {
        port->last = last;
    }
}

void emu_port_free(unsigned number)
{
    struct emu_port *port = &emu_nic.ports[number];
    port->queued = false;
    while (port->first != NULL && port->busy_until_ps <= emu_nic.now_ps) {
        struct emu_qp *qp = port->first;
        port->first = qp->port_next;
        port->last = port->first == NULL ? NULL : port->last;
        qp->port_waits = false;
        port->turn = qp;
        emu_serve(qp, 1);
        port->turn = NULL;
    }
    if (port->first != NULL && !port->queued) {
        port->queued = true;
        emu_later(port->busy_until_ps, EMU_EV_PORT, number, 0, NULL);
    }
}

/* The flow that routers hash: the pair of QPs and the flow label. */
static uint64_t flow_of(const struct emu_wire *wire)
{
    return ((uint64_t)wire->src_qpn << 24 | wire->dst_qpn) ^ (uint64_t)wire->flow_label << 44;
}

/* When the port begins to send: now, or in real time as soon as the QP had the packet and the port
 * was free. */
static uint64_t begin_ps(const struct emu_qp *qp)
{
    const uint64_t free_ps = emu_nic.ports[qp->port].busy_until_ps, now = emu_nic.now_ps;
    const uint64_t could_ps = free_ps > qp->ready_ps ? free_ps : qp->ready_ps;
    const uint64_t most = (uint64_t)CATCH_UP_NS * EMU_PS_PER_NS;
    if (emu_set.virtual_time || could_ps >= now) {
        return now;
    }
    return now - could_ps > most ? now - most : could_ps;
}

void emu_packet_send(struct emu_qp *qp, struct emu_packet *packet)
{
    struct emu_wire *wire = &packet->wire;
    emu_script_sent(++emu_nic.sent);
    wire->src_port = (uint16_t)qp->port;
    if (wire->dst_port >= EMU_PORTS || is_down(qp->port)) {
        emu_packet_put(packet);
    } else if (!atomic_load_explicit(&emu_nic.fabric->shaped, memory_order_relaxed)) {
        deliver(packet);
    } else {
        packet->hop = 0;
        packet->hops =
            emu_path(emu_nic.fabric, qp->port, wire->dst_port, flow_of(wire), packet->links);
        pass(packet, begin_ps(qp));
    }
}

bool emu_packet_address(struct emu_qp *qp, const struct ibv_ah_attr *attr, struct emu_wire *wire)
{
    int to;
    wire->sl = attr->sl;
    wire->slid = (uint16_t)(qp->port + 1);
    wire->dlid = attr->dlid;
    if (attr->is_global) {
        wire->flags |= EMU_GRH;
        wire->flow_label = attr->grh.flow_label & 0xfffff;
        wire->traffic_class = attr->grh.traffic_class;
        wire->hop_limit = attr->grh.hop_limit;
        emu_gid_make(qp->port, attr->grh.sgid_index, wire->sgid);
        memcpy(wire->dgid, attr->grh.dgid.raw, 16);
    }
    to = attr->is_global && !emu_set.ib ? emu_gid_port(wire->dgid) : emu_lid_port(wire->dlid);
    wire->dst_port = to < 0 ? UINT16_MAX : (uint16_t)to;
    return to >= 0;
}
