/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets between processes: for each ordered pair a file in the run directory,
 * ring.SENDER.RECEIVER by incarnation, with one writer and one reader. The sender makes it and
 * sets its bit in the receiver's slot; the receiver maps it and removes its name. What finds no
 * room waits in the sender (`held`), and the sender's QPs to that process with it.
 *
 * The reader moves `head` once it has answered what it read, at the end of a step: until then the
 * sender's timers know that the other NIC has yet to get there.
 */
#include "emu.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RING_BYTES = 1 << 20, RETRY_NS = 20000, SKIP = 0xffffffff };

struct ring {
    _Alignas(64) _Atomic uint64_t head; /* bytes read since the beginning */
    _Alignas(64) _Atomic uint64_t tail; /* bytes written */
    _Alignas(64) char data[RING_BYTES];
};

/* Before each packet; the whole is a multiple of its size. SKIP: the rest of the ring is unused. */
struct record {
    uint32_t bytes, pad;
    uint64_t more_pad;
};

static struct {
    uint64_t           incarnation;
    struct ring       *ring;
    struct emu_packet *held_first, *held_last;
} out[EMU_SLOTS];

static struct {
    uint64_t     incarnation, read; /* read: may be ahead of head */
    struct ring *ring;
} in[EMU_SLOTS];

static unsigned held_slots;
static bool     retry_queued;

static struct ring *map(uint64_t from, uint64_t to, bool make)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/ring.%llu.%llu", emu_set.dir, (unsigned long long)from,
             (unsigned long long)to);
    const int fd = open(path, O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0600);
    if (fd < 0) {
        return NULL;
    }
    struct ring *ring = MAP_FAILED;
    if (!make || ftruncate(fd, sizeof *ring) == 0) {
        ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    close(fd);
    if (!make) {
        (void)unlink(path);
    }
    return ring == MAP_FAILED ? NULL : ring;
}

static void drop_held(unsigned slot)
{
    held_slots -= out[slot].held_first != NULL;
    while (out[slot].held_first != NULL) {
        struct emu_packet *packet = out[slot].held_first;
        out[slot].held_first = packet->next;
        emu_packet_put(packet);
    }
    out[slot].held_last = NULL;
}

/* The ring to the process that now has the slot; NULL if there is none. */
static struct ring *ring_to(unsigned slot)
{
    struct emu_slot *to = &emu_nic.fabric->slots[slot];
    if (!atomic_load_explicit(&to->used, memory_order_acquire)) {
        drop_held(slot);
        return NULL;
    }
    const uint64_t incarnation = atomic_load_explicit(&to->incarnation, memory_order_acquire);
    if (out[slot].incarnation != incarnation) {
        drop_held(slot);
        if (out[slot].ring != NULL) {
            munmap(out[slot].ring, sizeof(struct ring));
        }
        out[slot].ring = map(emu_nic.place.incarnation, incarnation, true);
        out[slot].incarnation = incarnation;
    }
    return out[slot].ring;
}

static uint64_t record_bytes(uint32_t payload)
{
    const uint64_t unit = sizeof(struct record);
    return (unit + sizeof(struct emu_wire) + payload + unit - 1) / unit * unit;
}

/* False: no room. */
static bool put(struct ring *ring, const struct emu_packet *packet)
{
    const uint64_t need = record_bytes(packet->wire.length);
    const uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    const uint64_t to_end = RING_BYTES - tail % RING_BYTES;
    const uint64_t skip = to_end < need ? to_end : 0;
    if (RING_BYTES - (tail - head) < skip + need) {
        return false;
    }
    if (skip > 0) {
        const struct record gap = {SKIP, 0, 0};
        memcpy(ring->data + tail % RING_BYTES, &gap, sizeof gap);
    }
    char               *at = ring->data + (tail + skip) % RING_BYTES;
    const struct record record = {(uint32_t)need, 0, 0};
    memcpy(at, &record, sizeof record);
    memcpy(at + sizeof record, &packet->wire, sizeof packet->wire);
    memcpy(at + sizeof record + sizeof packet->wire, packet->payload, packet->wire.length);
    atomic_store_explicit(&ring->tail, tail + skip + need, memory_order_release);
    return true;
}

static void tell(unsigned slot)
{
    struct emu_slot *to = &emu_nic.fabric->slots[slot];
    const unsigned   own = emu_nic.place.slot;
    atomic_fetch_or(&to->pending[own / 64], (uint64_t)1 << own % 64);
    emu_fabric_ring_bell(to);
}

static void hold(unsigned slot, struct emu_packet *packet)
{
    packet->next = NULL;
    if (out[slot].held_last != NULL) {
        out[slot].held_last->next = packet;
    } else {
        out[slot].held_first = packet;
        held_slots++;
    }
    out[slot].held_last = packet;
    if (!retry_queued) {
        retry_queued = true;
        emu_later(emu_nic.now_ps + (uint64_t)RETRY_NS * EMU_PS_PER_NS, EMU_EV_RINGS, 0, 0, NULL);
    }
}

void emu_ring_send(struct emu_packet *packet)
{
    const unsigned slot = packet->wire.dst_qpn / EMU_MAX_QP;
    struct ring   *ring = slot < EMU_SLOTS ? ring_to(slot) : NULL;
    if (ring == NULL) {
        emu_packet_put(packet);
    } else if (out[slot].held_first != NULL || !put(ring, packet)) {
        hold(slot, packet);
    } else {
        emu_packet_put(packet);
        tell(slot);
    }
}

/* What was held for a slot, as far as there is room. */
static void send_held(unsigned slot)
{
    struct ring *ring = ring_to(slot);
    bool         some = false;
    while (ring != NULL && out[slot].held_first != NULL && put(ring, out[slot].held_first)) {
        struct emu_packet *packet = out[slot].held_first;
        out[slot].held_first = packet->next;
        if (packet->next == NULL) {
            out[slot].held_last = NULL;
            held_slots--;
        }
        emu_packet_put(packet);
        some = true;
    }
    if (some) {
        tell(slot);
    } else if (out[slot].held_first != NULL && !emu_fabric_slot_lives(slot)) {
        drop_held(slot);
    }
}

void emu_rings_retry(void)
{
    retry_queued = false;
    for (unsigned slot = 1; slot < EMU_SLOTS && held_slots > 0; slot++) {
        if (out[slot].held_first != NULL) {
            send_held(slot);
        }
    }
    if (held_slots > 0) {
        retry_queued = true;
        emu_later(emu_nic.now_ps + (uint64_t)RETRY_NS * EMU_PS_PER_NS, EMU_EV_RINGS, 0, 0, NULL);
    }
}

bool emu_rings_holding(void)
{
    return held_slots > 0;
}

bool emu_ring_held_up(unsigned slot)
{
    return slot < EMU_SLOTS && out[slot].held_first != NULL;
}

uint64_t emu_ring_mark(unsigned slot)
{
    return slot < EMU_SLOTS && out[slot].ring != NULL ? atomic_load(&out[slot].ring->tail) : 0;
}

bool emu_ring_lags(unsigned slot, uint64_t mark)
{
    if (slot >= EMU_SLOTS || out[slot].ring == NULL ||
        out[slot].incarnation != atomic_load(&emu_nic.fabric->slots[slot].incarnation)) {
        return false;
    }
    return atomic_load(&out[slot].ring->head) < mark && emu_fabric_slot_lives(slot);
}

bool emu_ring_unread(unsigned slot)
{
    return slot < EMU_SLOTS && in[slot].ring != NULL &&
           atomic_load(&in[slot].ring->tail) != in[slot].read;
}

static struct ring *ring_from(unsigned slot)
{
    const uint64_t incarnation = atomic_load(&emu_nic.fabric->slots[slot].incarnation);
    if (in[slot].incarnation != incarnation) {
        if (in[slot].ring != NULL) {
            munmap(in[slot].ring, sizeof(struct ring));
        }
        in[slot].ring = map(incarnation, emu_nic.place.incarnation, false);
        in[slot].incarnation = incarnation;
        in[slot].read = 0;
    }
    return in[slot].ring;
}

/* True: there is more. */
static bool receive_from(unsigned slot, unsigned *budget)
{
    struct ring *ring = ring_from(slot);
    if (ring == NULL) {
        return false;
    }
    const uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    while (in[slot].read != tail && *budget > 0) {
        struct record   record;
        struct emu_wire wire;
        const char     *at = ring->data + in[slot].read % RING_BYTES;
        memcpy(&record, at, sizeof record);
        if (record.bytes == SKIP) {
            in[slot].read += RING_BYTES - in[slot].read % RING_BYTES;
            continue;
        }
        memcpy(&wire, at + sizeof record, sizeof wire);
        emu_receive(&wire, at + sizeof record + sizeof wire);
        in[slot].read += record.bytes;
        --*budget;
    }
    return in[slot].read != tail;
}

bool emu_rings_receive(unsigned budget)
{
    struct emu_slot *own = &emu_nic.fabric->slots[emu_nic.place.slot];
    const unsigned   had = budget;
    for (unsigned i = 0; i < EMU_SLOT_WORDS; i++) {
        if (atomic_load_explicit(&own->pending[i], memory_order_relaxed) == 0) {
            continue;
        }
        uint64_t again = 0;
        for (uint64_t bits = atomic_exchange(&own->pending[i], 0); bits != 0; bits &= bits - 1) {
            const unsigned bit = (unsigned)__builtin_ctzll(bits);
            if (receive_from(64 * i + bit, &budget)) {
                again |= (uint64_t)1 << bit;
            }
            emu_nic.read_from[i] |= (uint64_t)1 << bit;
        }
        if (again != 0) {
            atomic_fetch_or(&own->pending[i], again);
        }
    }
    return budget != had;
}

void emu_rings_release(void)
{
    for (unsigned i = 0; i < EMU_SLOT_WORDS; i++) {
        for (; emu_nic.read_from[i] != 0; emu_nic.read_from[i] &= emu_nic.read_from[i] - 1) {
            const unsigned slot = 64 * i + (unsigned)__builtin_ctzll(emu_nic.read_from[i]);
            if (in[slot].ring != NULL) {
                atomic_store_explicit(&in[slot].ring->head, in[slot].read, memory_order_release);
            }
        }
    }
}

void emu_rings_forget(void)
{
    for (unsigned slot = 0; slot < EMU_SLOTS; slot++) {
        drop_held(slot);
        if (out[slot].ring != NULL) {
            munmap(out[slot].ring, sizeof(struct ring));
        }
        if (in[slot].ring != NULL) {
            munmap(in[slot].ring, sizeof(struct ring));
        }
    }
    memset(out, 0, sizeof out);
    memset(in, 0, sizeof in);
    held_slots = 0;
    retry_queued = false;
}
