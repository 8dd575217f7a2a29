/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces and their addresses. Those of loopback interfaces are of use on one host alone; they
 * are taken where nothing else is there, where hosts are only simulated, or where the user names
 * them.
 */
#include "base/ifaddr.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

unsigned ct_ifaddr_bytes(int family)
{
    return family == 6 ? 16 : 4;
}

bool ct_ifaddr_same(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    return memcmp(a, b, whole) == 0 && (rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0);
}

bool ct_ifaddr_is_loopback(int family, const uint8_t *ip)
{
    static const uint8_t one[16] = {[15] = 1};
    return family == 6 ? memcmp(ip, one, sizeof one) == 0 : ip[0] == 127;
}

/* From what the system says of an interface; false: not one for us. Link-local addresses mean
 * nothing without the interface that they belong to. */
static bool to_ifaddr(const struct ifaddrs *ifa, struct ct_ifaddr *w)
{
    *w = (struct ct_ifaddr){0};
    if (ifa->ifa_addr == NULL || ifa->ifa_netmask == NULL || (ifa->ifa_flags & IFF_UP) == 0) {
        return false;
    }
    uint8_t mask[16];
    if (ifa->ifa_addr->sa_family == AF_INET) {
        w->family = 4;
        memcpy(w->ip, &((const struct sockaddr_in *)ifa->ifa_addr)->sin_addr, 4);
        memcpy(mask, &((const struct sockaddr_in *)ifa->ifa_netmask)->sin_addr, 4);
    } else if (ifa->ifa_addr->sa_family == AF_INET6) {
        const struct in6_addr *ip = &((const struct sockaddr_in6 *)ifa->ifa_addr)->sin6_addr;
        if (IN6_IS_ADDR_LINKLOCAL(ip)) {
            return false;
        }
        w->family = 6;
        memcpy(w->ip, ip, 16);
        memcpy(mask, &((const struct sockaddr_in6 *)ifa->ifa_netmask)->sin6_addr, 16);
    } else {
        return false;
    }
    for (size_t i = 0; i < ct_ifaddr_bytes(w->family); i++) {
        w->prefix = (uint8_t)(w->prefix + __builtin_popcount(mask[i]));
    }
    return true;
}

/* Whether a word of the user's, a name or a subnet, means this address. */
static bool means(const char *word, const char *name, const struct ct_ifaddr *w)
{
    if (strcmp(word, name) == 0) {
        return true;
    }
    char        text[INET6_ADDRSTRLEN];
    uint8_t     ip[16];
    const char *slash = strchr(word, '/');
    size_t      len = slash != NULL ? (size_t)(slash - word) : strlen(word);
    if (len >= sizeof text) {
        return false;
    }
    snprintf(text, sizeof text, "%.*s", (int)len, word);
    if (inet_pton(w->family == 6 ? AF_INET6 : AF_INET, text, ip) != 1) {
        return false;
    }
    unsigned most = 8 * (unsigned)ct_ifaddr_bytes(w->family);
    unsigned bits = slash != NULL ? (unsigned)strtoul(slash + 1, NULL, 10) : most;
    return bits <= most && ct_ifaddr_same(ip, w->ip, bits);
}

static bool chosen(const char *list, const char *name, const struct ct_ifaddr *w)
{
    char *copy = strdup(list), *save = NULL;
    bool  yes = false;
    for (char *word = copy != NULL ? strtok_r(copy, ", ", &save) : NULL; word != NULL && !yes;
         word = strtok_r(NULL, ", ", &save)) {
        yes = means(word, name, w);
    }
    free(copy);
    return yes;
}

enum { NAMED, GLOBAL, LOOPBACK };

static int collect(const struct ifaddrs *all, int what, const char *names, struct ct_ifaddr *list)
{
    int n = 0;
    for (const struct ifaddrs *ifa = all; ifa != NULL && n < CT_IFADDR_MAX; ifa = ifa->ifa_next) {
        struct ct_ifaddr w;
        if (to_ifaddr(ifa, &w) &&
            (what == NAMED ? chosen(names, ifa->ifa_name, &w)
                           : ct_ifaddr_is_loopback(w.family, w.ip) == (what == LOOPBACK))) {
            list[n++] = w;
        }
    }
    return n;
}

int ct_ifaddr_list(const char *names, bool here, struct ct_ifaddr list[CT_IFADDR_MAX])
{
    struct ifaddrs *all = NULL;
    int             n = 0;
    if (getifaddrs(&all) != 0) {
        return -1;
    }
    if (names[0] != '\0') {
        n = collect(all, NAMED, names, list);
    } else {
        n = here ? 0 : collect(all, GLOBAL, NULL, list);
        n = n > 0 ? n : collect(all, LOOPBACK, NULL, list);
    }
    freeifaddrs(all);
    return n;
}
