/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces and addresses: where this process listens, and from where it calls a peer. Addresses
 * of loopback interfaces are of use on one host alone; they are taken where nothing else is there,
 * where nodes are only simulated, or where the user names them.
 */
#define CT_FOLDER "net"
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/tcp.h"

enum { BACKLOG = 65535 }; /* the system lowers it to net.core.somaxconn */

static size_t ip_bytes(int family)
{
    return family == 6 ? 16 : 4;
}

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    return memcmp(a, b, whole) == 0 && (rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0);
}

static bool is_loopback(const struct ct_tcp_where *w)
{
    static const uint8_t one[16] = {[15] = 1};
    return w->family == 6 ? memcmp(w->ip, one, sizeof one) == 0 : w->ip[0] == 127;
}

uint64_t ct_tcp_addr_host(void)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    char     id[64] = "";
    FILE    *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (f == NULL || fgets(id, sizeof id, f) == NULL) {
        (void)gethostname(id, sizeof id - 1); /* then the name has to do */
    }
    if (f != NULL) {
        fclose(f);
    }
    for (const char *c = id; *c != '\0'; c++) {
        hash = (hash ^ (uint8_t)*c) * 1099511628211u;
    }
    return hash;
}

/* ---- interfaces ------------------------------------------------------------------------------ */

/* From what the system says of an interface; false: not one for us. Link-local addresses mean
 * nothing without the interface that they belong to. */
static bool to_where(const struct ifaddrs *ifa, struct ct_tcp_where *w)
{
    *w = (struct ct_tcp_where){0};
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
    for (size_t i = 0; i < ip_bytes(w->family); i++) {
        w->prefix = (uint8_t)(w->prefix + __builtin_popcount(mask[i]));
    }
    return true;
}

/* Whether a word of the user's, a name or a subnet, means this address. */
static bool means(const char *word, const char *name, const struct ct_tcp_where *w)
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
    unsigned most = 8 * (unsigned)ip_bytes(w->family);
    unsigned bits = slash != NULL ? (unsigned)strtoul(slash + 1, NULL, 10) : most;
    return bits <= most && same_bits(ip, w->ip, bits);
}

static bool chosen(const char *list, const char *name, const struct ct_tcp_where *w)
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

static unsigned collect(const struct ifaddrs *all, int what, const char *names,
                        struct ct_tcp_where *list)
{
    unsigned n = 0;
    for (const struct ifaddrs *ifa = all; ifa != NULL && n < CT_TCP_MAX_IFS; ifa = ifa->ifa_next) {
        struct ct_tcp_where w;
        if (to_where(ifa, &w) && (what == NAMED ? chosen(names, ifa->ifa_name, &w)
                                                : is_loopback(&w) == (what == LOOPBACK))) {
            list[n++] = w;
        }
    }
    return n;
}

unsigned ct_tcp_addr_list(const struct ct_net_env *env, struct ct_tcp_where *list)
{
    struct ifaddrs *all = NULL;
    const char     *names = env->cfg->tcp_interfaces;
    unsigned        n = 0;
    if (getifaddrs(&all) != 0) {
        ct_warn(env->log, "cannot list the network interfaces: %s", strerror(errno));
        return 0;
    }
    if (names[0] != '\0') {
        n = collect(all, NAMED, names, list);
        if (n == 0) {
            ct_error(
                env->log,
                "CTRAN_TCP_INTERFACES=\"%s\" names no interface or subnet of this host that is "
                "up; `ip address` lists them",
                names);
        }
    } else {
        n = env->cfg->node_ranks == 0 ? collect(all, GLOBAL, NULL, list) : 0;
        n = n > 0 ? n : collect(all, LOOPBACK, NULL, list);
    }
    freeifaddrs(all);
    return n;
}

/* ---- sockets' addresses ---------------------------------------------------------------------- */

static socklen_t to_sockaddr(const struct ct_tcp_where *w, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof *out);
    if (w->family == 6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(w->port);
        memcpy(&in6->sin6_addr, w->ip, 16);
        return sizeof *in6;
    }
    struct sockaddr_in *in4 = (struct sockaddr_in *)out;
    in4->sin_family = AF_INET;
    in4->sin_port = htons(w->port);
    memcpy(&in4->sin_addr, w->ip, 4);
    return sizeof *in4;
}

void ct_tcp_addr_name(const struct sockaddr_storage *addr, char *out, size_t cap)
{
    char ip[INET6_ADDRSTRLEN] = "?";
    if (addr->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
        (void)inet_ntop(AF_INET6, &in6->sin6_addr, ip, sizeof ip);
        snprintf(out, cap, "[%s]:%u", ip, ntohs(in6->sin6_port));
    } else {
        const struct sockaddr_in *in4 = (const struct sockaddr_in *)addr;
        (void)inet_ntop(AF_INET, &in4->sin_addr, ip, sizeof ip);
        snprintf(out, cap, "%s:%u", ip, ntohs(in4->sin_port));
    }
}

int ct_tcp_addr_listen(struct ct_tcp_where *w)
{
    struct sockaddr_storage addr;
    socklen_t               len = to_sockaddr(w, &addr);
    int fd = socket(addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    if (bind(fd, (struct sockaddr *)&addr, len) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&addr, &len) != 0) {
        close(fd);
        return -1;
    }
    w->port = ntohs(w->family == 6 ? ((struct sockaddr_in6 *)&addr)->sin6_port
                                   : ((struct sockaddr_in *)&addr)->sin_port);
    return fd;
}

/* ---- ways to a peer -------------------------------------------------------------------------- */

/* How good an address of the peer's is, 0 best; -1: of no use. *from is ours on the same subnet. */
static int rank_of(const struct ct_tcp *t, const struct ct_tcp_where *w, bool near,
                   const struct ct_tcp_where **from)
{
    int best = -1;
    *from = NULL;
    for (unsigned i = 0; i < t->addr.count; i++) {
        const struct ct_tcp_where *own = &t->own[i];
        if (own->family != w->family) {
            continue;
        }
        if (!near && memcmp(own->ip, w->ip, ip_bytes(w->family)) == 0) {
            return -1; /* such as a bridge's, which is the same on many hosts */
        }
        if (*from == NULL && own->prefix == w->prefix && same_bits(own->ip, w->ip, w->prefix)) {
            *from = own;
        }
        best = 0;
    }
    if (best < 0 || (is_loopback(w) && !near)) {
        return -1;
    }
    return (*from == NULL ? 2 : 0) + (w->family == 6 ? 1 : 0);
}

unsigned ct_tcp_addr_pairs(const struct ct_tcp *t, const struct ct_tcp_addr *addr,
                           struct ct_tcp_pair *pairs, unsigned *nbest)
{
    bool     near = addr->host == t->addr.host;
    unsigned n = 0;
    int      first = -1;
    *nbest = 0;
    for (int rank = 0; rank < 4; rank++) {
        for (unsigned i = 0; i < addr->count && n < CT_TCP_MAX_IFS; i++) {
            const struct ct_tcp_where *from;
            if (rank_of(t, &addr->where[i], near, &from) != rank) {
                continue;
            }
            (void)to_sockaddr(&addr->where[i], &pairs[n].to);
            memset(&pairs[n].from, 0, sizeof pairs[n].from);
            if (from != NULL) {
                (void)to_sockaddr(from, &pairs[n].from);
            }
            first = first < 0 ? rank : first;
            *nbest += rank == first ? 1 : 0;
            n++;
        }
    }
    return n;
}
