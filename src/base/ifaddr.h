/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The addresses of this host's interfaces, and which of them others are told. Used by the bootstrap
 * (pmi) and by the tcp transport (net), so that both go the same ways.
 */
#ifndef CT_BASE_IFADDR_H
#define CT_BASE_IFADDR_H

#include <stdbool.h>
#include <stdint.h>

enum { CT_IFADDR_MAX = 8 }; /* so many are looked at */

struct ct_ifaddr {
    uint8_t family; /* 4 or 6 */
    uint8_t prefix; /* bits that it shares with its subnet */
    uint8_t ip[16]; /* IPv4: the first four */
};

/* Those of interfaces that are up: the ones that `names`, a list of interfaces, subnets and
 * addresses (CTRAN_TCP_INTERFACES), means. With "": all interfaces except loopback. Loopback if
 * there is no other interface, or if `here` says that all peers are on this host. Returns their
 * number, or -1 with errno. */
int ct_ifaddr_list(const char *names, bool here, struct ct_ifaddr list[CT_IFADDR_MAX]);

/* The bytes of an address; whether the first `bits` bits of two addresses are equal; whether an
 * address is loopback. */
unsigned ct_ifaddr_bytes(int family);
bool     ct_ifaddr_same(const uint8_t *a, const uint8_t *b, unsigned bits);
bool     ct_ifaddr_is_loopback(int family, const uint8_t *ip);

#endif
