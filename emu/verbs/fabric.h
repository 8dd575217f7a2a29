/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric: what all emulated NICs of a run directory share, in one mapped file.
 *
 *   ports   NUMBER = host x 32 + device x 2 + port - 1. A host is a name; the first process that
 *           comes with a name gives it a number.
 *   links   each port has a link up into its rack and a link down from it. With racks configured,
 *           each rack has for each spine a link to it (leaf) and one from it (spine). A packet
 *           takes up, down within a rack, and up, leaf, spine, down between racks; a hash of the
 *           pair of QPs and the flow label picks the spine.
 *   slots   one a process: the word on which its NIC thread sleeps, and which slots have packets
 *           for it (ring.c).
 *
 * All fields that change are atomics: the file has no lock, since the holder could be killed. A
 * process that lives holds a lock of fcntl(2) on the byte of its slot, which the kernel releases. A
 * process that finds no other such lock makes the file anew.
 */
#ifndef EMU_VERBS_FABRIC_H
#define EMU_VERBS_FABRIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "link.h"

enum {
    EMU_SLOTS = 1024,
    EMU_SLOT_WORDS = EMU_SLOTS / 64,
    EMU_HOSTS = 64,
    EMU_HOST_DEVICES = 16,
    EMU_DEVICE_PORTS = 2,
    EMU_HOST_PORTS = EMU_HOST_DEVICES * EMU_DEVICE_PORTS,
    EMU_PORTS = EMU_HOSTS * EMU_HOST_PORTS,
    EMU_RACKS = EMU_HOSTS * EMU_HOST_DEVICES,
    EMU_SPINES = 32,
    EMU_LINKS = 2 * EMU_PORTS + 2 * EMU_RACKS * EMU_SPINES,
    EMU_HOST_NAME = 64,
    EMU_MAX_HOPS = 4,
    EMU_SCRIPT_LINES = 256
};

enum emu_link_kind { EMU_LINK_UP, EMU_LINK_DOWN, EMU_LINK_LEAF, EMU_LINK_SPINE, EMU_LINK_KINDS };
enum emu_racks { EMU_RACK_NONE, EMU_RACK_DEVICE, EMU_RACK_HOST };

/* emu_link_conf, field by field. */
struct emu_shared_conf {
    atomic_bool      set; /* else the kind's default holds */
    atomic_bool      down;
    atomic_uint      loss, reorder, drop_next;
    _Atomic uint64_t rate_bps, latency_ns, queue_bytes, reorder_ns;
};

struct emu_link_counts {
    uint64_t packets, bytes, lost, full, down, peak_bytes; /* peak: of the queue */
};

struct emu_fabric_link {
    struct emu_shared_conf conf;
    _Atomic uint64_t       busy_until_ps;
    _Atomic uint64_t       packets, bytes, lost, full, down, peak_bytes;
};

struct emu_fabric_port {
    atomic_bool down;
    atomic_uint generation; /* of its GIDs */
};

/* What a registration of memory takes: so much, for each page, and for one in `every` instead. */
struct emu_registration {
    _Atomic uint64_t base_ns, page_ns, spike_ns, every, count;
};

struct emu_slot {
    _Alignas(64) atomic_uint doorbell; /* futex */
    atomic_uint      sleeping;
    _Atomic uint64_t incarnation; /* 0: never used */
    atomic_bool      used;
    _Atomic uint64_t pending[EMU_SLOT_WORDS]; /* slots whose rings to this one have packets */
};

struct emu_fabric {
    _Atomic uint64_t        magic;
    uint64_t                epoch_ns; /* of CLOCK_MONOTONIC; emulated time counts from here */
    _Atomic uint64_t        incarnations;
    atomic_uint             next_slot, hosts, racks, spines;
    atomic_uint             changes; /* of ports and links; each NIC looks when it differs */
    atomic_bool             shaped;  /* some link is not plain */
    char                    host[EMU_HOSTS][EMU_HOST_NAME];
    atomic_bool             line_done[EMU_SCRIPT_LINES]; /* lines of the script of faults */
    struct emu_registration registration;
    struct emu_shared_conf  defaults[EMU_LINK_KINDS];
    struct emu_slot         slots[EMU_SLOTS];
    struct emu_fabric_port  ports[EMU_PORTS];
    struct emu_fabric_link  links[EMU_LINKS];
};

/* fabric.c: this process's view of the fabric. */
struct emu_place {
    unsigned slot, host;
    uint64_t incarnation; /* never given twice in a fabric */
};

/* Joins the fabric of the run directory, or makes one for this process alone (virtual time).
 * Returns NULL after a message if that cannot be. */
struct emu_fabric *emu_fabric_join(struct emu_place *place);
/* Forgets it: in a child of fork, which has none of its parent's threads. */
void emu_fabric_leave(struct emu_fabric *fabric);
/* Whether the process of a slot lives. */
bool emu_fabric_slot_lives(unsigned slot);
/* Wakes all NIC threads: ports or links have changed. */
void emu_fabric_changed(struct emu_fabric *fabric);
/* Wakes the NIC thread of a slot if it sleeps. */
void emu_fabric_ring_bell(struct emu_slot *slot);

/* path.c */

/* The links from a port to another for a flow; how many. */
unsigned           emu_path(struct emu_fabric *fabric, unsigned from, unsigned to, uint64_t flow,
                            unsigned links[EMU_MAX_HOPS]);
unsigned           emu_link_of_port(unsigned port, enum emu_link_kind kind);
unsigned           emu_link_of_rack(unsigned rack, unsigned spine, enum emu_link_kind kind);
enum emu_link_kind emu_link_kind_of(unsigned link);
unsigned           emu_rack_of(struct emu_fabric *fabric, unsigned port);
void emu_fabric_conf(struct emu_fabric *fabric, unsigned link, struct emu_link_conf *conf);
/* Passes a packet over a link of the fabric, and counts it. */
enum emu_link_fate emu_fabric_pass(struct emu_fabric *fabric, unsigned link, uint64_t now_ps,
                                   uint32_t bytes, uint64_t random, struct emu_link_out *out);
void emu_fabric_counts(struct emu_fabric *fabric, unsigned link, struct emu_link_counts *counts);

/* script.c: one command that configures or breaks something (emu.h has the language). False
 * after a message if it makes no sense. `home`: the host that names without a host mean. */
bool emu_fabric_command(struct emu_fabric *fabric, unsigned home, const char *text);

#endif
