/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces and addresses: where this process listens, and from where it calls a peer. Addresses
 * of loopback interfaces are of use on one host alone; they are taken where nothing else is there,
 * where nodes are only simulated, or where the user names them.
 */
#define CT_FOLDER "net"
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/tcp.h"

enum { BACKLOG = 65535 }; /* the system lowers it to net.core.somaxconn */

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

unsigned ct_tcp_addr_list(const struct ct_net_env *env, struct ct_tcp_where *list)
{
    struct ct_ifaddr all[CT_IFADDR_MAX];
    const char      *names = env->cfg->tcp_interfaces;
    int              n = ct_ifaddr_list(names, env->cfg->node_ranks > 0, all);
    if (n < 0) {
        ct_warn(env->log, "cannot list the network interfaces: %s", strerror(errno));
    } else if (n == 0 && names[0] != '\0') {
        ct_error(env->log,
                 "CTRAN_TCP_INTERFACES=\"%s\" names no interface or subnet of this host that is "
                 "up; `ip address` lists them",
                 names);
    }
    for (int i = 0; i < n; i++) {
        list[i] = (struct ct_tcp_where){.family = all[i].family, .prefix = all[i].prefix};
        memcpy(list[i].ip, all[i].ip, sizeof list[i].ip);
    }
    return n > 0 ? (unsigned)n : 0;
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
static int tcp_addr_rank_of(const struct ct_tcp *t, const struct ct_tcp_where *w, bool near,
                            const struct ct_tcp_where **from)
{
    int best = -1;
    *from = NULL;
    for (unsigned i = 0; i < t->addr.count; i++) {
        const struct ct_tcp_where *own = &t->own[i];
        if (own->family != w->family) {
            continue;
        }
        if (!near && memcmp(own->ip, w->ip, ct_ifaddr_bytes(w->family)) == 0) {
            return -1; /* such as a bridge's, which is the same on many hosts */
        }
        if (*from == NULL && own->prefix == w->prefix &&
            ct_ifaddr_same(own->ip, w->ip, w->prefix)) {
            *from = own;
        }
        best = 0;
    }
    if (best < 0 || (ct_ifaddr_is_loopback(w->family, w->ip) && !near)) {
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
            if (tcp_addr_rank_of(t, &addr->where[i], near, &from) != rank) {
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
