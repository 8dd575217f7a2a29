/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What travels between NICs: one struct of fixed size for all packets, then `length` bytes of
 * payload. Its fields are those of InfiniBand's headers that the emulation needs (IBA 1.4 volume
 * 1, chapter 9), in host byte order since all processes are of one machine.
 */
#ifndef EMU_VERBS_WIRE_H
#define EMU_VERBS_WIRE_H

#include <stdint.h>

enum emu_op {
    EMU_OP_SEND,
    EMU_OP_WRITE,
    EMU_OP_READ,
    EMU_OP_COMPARE_SWAP,
    EMU_OP_FETCH_ADD,
    EMU_OP_REQUESTS, /* those below answer requests */
    EMU_OP_READ_ANSWER = EMU_OP_REQUESTS,
    EMU_OP_ATOMIC_ANSWER,
    EMU_OP_ACK,
    EMU_OP_NAK,
    EMU_OP_RNR
};

enum emu_flags {
    EMU_FIRST = 1,
    EMU_LAST = 2,
    EMU_IMM = 4,
    EMU_SOLICITED = 8,
    EMU_WANTS_ACK = 16,
    EMU_GRH = 32 /* addresses are GIDs */
};

/* Why a responder refuses: code of EMU_OP_NAK. */
enum emu_nak { EMU_NAK_SEQUENCE, EMU_NAK_INVALID, EMU_NAK_ACCESS, EMU_NAK_OPERATION };

enum { EMU_PSN_MASK = 0xffffff, EMU_MAX_MTU = 4096, EMU_HEADER_BYTES = 58 };

struct emu_wire {
    uint32_t src_qpn, dst_qpn;
    uint32_t psn;
    uint32_t length; /* payload */
    uint8_t  op, flags, qp_type, code;
    uint16_t src_port, dst_port; /* numbers in the fabric */
    uint32_t imm;                /* network byte order, never looked at */
    uint32_t rkey, qkey;
    uint32_t flow_label;
    uint64_t addr;
    uint64_t bytes; /* of the message that this packet begins, of the read that it asks for */
    uint64_t compare, swap;
    uint8_t  sgid[16], dgid[16];
    uint16_t slid, dlid;
    uint8_t  sl, traffic_class, hop_limit, path_bits;
};

/* How far `a` is ahead of `b`, both of 24 bits: -2^23 to 2^23 - 1. */
static inline int32_t emu_psn_diff(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

static inline uint32_t emu_psn_add(uint32_t psn, uint32_t n)
{
    return (psn + n) & EMU_PSN_MASK;
}

#endif
