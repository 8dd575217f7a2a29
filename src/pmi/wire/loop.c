/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop, addresses, listening sockets, and numbers as they travel. */
#define CT_FOLDER "pmi"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmi/wire/scratch.h"
#include "pmi/wire/wire.h"

int ct_loop_init(struct ct_loop *loop, const struct ct_log *log)
{
    memset(loop, 0, sizeof *loop);
    loop->log = log;
    loop->seed = ct_clock_ns() ^ (uint64_t)getpid() << 32 ^ 0x9e3779b97f4a7c15u;
    loop->base = event_base_new();
    loop->scratch = malloc(CT_WIRE_SCRATCH);
    if (loop->base == NULL || loop->scratch == NULL) {
        ct_loop_fini(loop);
        return CTRAN_ERR_NO_MEM;
    }
    return CTRAN_SUCCESS;
}

void ct_loop_fini(struct ct_loop *loop)
{
    free(loop->scratch);
    if (loop->base != NULL) {
        event_base_free(loop->base);
    }
    loop->base = NULL;
    loop->scratch = NULL;
}

uint32_t ct_loop_random(struct ct_loop *loop, uint32_t below)
{
    loop->seed = loop->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((loop->seed >> 32) * below >> 32);
}

uint32_t ct_loop_backoff_ms(struct ct_loop *loop, unsigned attempt, uint32_t base_ms,
                            uint32_t cap_ms)
{
    uint32_t ms = base_ms;
    for (unsigned k = 0; k < attempt && ms < cap_ms; k++) {
        ms *= 2;
    }
    ms = ms < cap_ms ? ms : cap_ms;
    return ms / 2 + ct_loop_random(loop, ms / 2 + 1);
}

struct timeval ct_wire_timeval(uint32_t ms)
{
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000};
}

static void addr_set(struct ct_addr *a, uint8_t family, const void *ip, uint16_t port_be)
{
    memset(a, 0, sizeof *a);
    a->family = family;
    memcpy(a->port, &port_be, sizeof port_be);
    memcpy(a->ip, ip, family == 4 ? 4 : 16);
}

static void addr_from_sockaddr(struct ct_addr *a, const struct sockaddr_storage *ss)
{
    if (ss->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)ss;
        addr_set(a, 6, &six->sin6_addr, six->sin6_port);
    } else {
        const struct sockaddr_in *four = (const struct sockaddr_in *)ss;
        addr_set(a, 4, &four->sin_addr, four->sin_port);
    }
}

int ct_addr_parse(struct ct_addr *a, const char *text)
{
    char        ip[INET6_ADDRSTRLEN + 2] = "", *end;
    const char *colon = strrchr(text, ':');
    bool        six = text[0] == '[';
    size_t      len = colon != NULL ? (size_t)(colon - text) : 0;
    if (len < 2 || len >= sizeof ip || colon[1] < '0' || colon[1] > '9' ||
        (six && colon[-1] != ']')) {
        return CTRAN_ERR_ARG;
    }
    unsigned long port = strtoul(colon + 1, &end, 10);
    memcpy(ip, six ? text + 1 : text, six ? len - 2 : len);
    unsigned char raw[16];
    if (*end != '\0' || port > UINT16_MAX || inet_pton(six ? AF_INET6 : AF_INET, ip, raw) != 1) {
        return CTRAN_ERR_ARG;
    }
    addr_set(a, six ? 6 : 4, raw, htons((uint16_t)port));
    return CTRAN_SUCCESS;
}

void ct_addr_format(const struct ct_addr *a, char *text, size_t cap)
{
    char     ip[INET6_ADDRSTRLEN] = "?";
    unsigned port = (unsigned)a->port[0] << 8 | a->port[1];
    (void)inet_ntop(a->family == 6 ? AF_INET6 : AF_INET, a->ip, ip, sizeof ip);
    (void)snprintf(text, cap, a->family == 6 ? "[%s]:%u" : "%s:%u", ip, port);
}

socklen_t ct_addr_to_sockaddr(const struct ct_addr *a, struct sockaddr_storage *ss)
{
    memset(ss, 0, sizeof *ss);
    if (a->family == 6) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)ss;
        six->sin6_family = AF_INET6;
        memcpy(&six->sin6_port, a->port, sizeof a->port);
        memcpy(&six->sin6_addr, a->ip, 16);
        return sizeof *six;
    }
    struct sockaddr_in *four = (struct sockaddr_in *)ss;
    four->sin_family = AF_INET;
    memcpy(&four->sin_port, a->port, sizeof a->port);
    memcpy(&four->sin_addr, a->ip, 4);
    return sizeof *four;
}

int ct_addr_of_socket(struct ct_addr *a, int fd)
{
    struct sockaddr_storage ss;
    socklen_t               len = sizeof ss;
    if (getsockname(fd, (struct sockaddr *)&ss, &len) != 0) {
        return CTRAN_ERR_SYSTEM;
    }
    addr_from_sockaddr(a, &ss);
    return CTRAN_SUCCESS;
}

int ct_wire_listen(const struct ct_loop *loop, struct ct_addr *a, int *fd)
{
    struct sockaddr_storage ss;
    socklen_t               len = ct_addr_to_sockaddr(a, &ss);
    char                    text[64];
    int                     one = 1;
    int                     s = socket(ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s < 0 || setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(s, (struct sockaddr *)&ss, len) != 0 || listen(s, SOMAXCONN) != 0 ||
        ct_addr_of_socket(a, s) != CTRAN_SUCCESS) {
        ct_addr_format(a, text, sizeof text);
        ct_error(loop->log, "cannot listen on %s: %s", text, strerror(errno));
        if (s >= 0) {
            (void)close(s);
        }
        return CTRAN_ERR_SYSTEM;
    }
    *fd = s;
    return CTRAN_SUCCESS;
}

void ct_wire_tune(int fd)
{
    int one = 1;
    /* Best effort: without it a message may wait 40 ms for the one before to be acknowledged. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

void ct_wire_put32(unsigned char *at, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (unsigned char)(v >> 8 * i);
    }
}

void ct_wire_put64(unsigned char *at, uint64_t v)
{
    ct_wire_put32(at, (uint32_t)v);
    ct_wire_put32(at + 4, (uint32_t)(v >> 32));
}

uint32_t ct_wire_get32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t ct_wire_get64(const unsigned char *at)
{
    return ct_wire_get32(at) | (uint64_t)ct_wire_get32(at + 4) << 32;
}

enum { REVISION = 1 };

void ct_frame_pack(const struct ct_frame *f, unsigned char out[CT_FRAME_BYTES])
{
    out[0] = 'c';
    out[1] = 't';
    out[2] = REVISION;
    out[3] = f->type;
    ct_wire_put32(out + 4, f->len);
    ct_wire_put64(out + 8, f->id);
}

bool ct_frame_unpack(const unsigned char in[CT_FRAME_BYTES], struct ct_frame *f)
{
    f->type = in[3];
    f->len = ct_wire_get32(in + 4);
    f->id = ct_wire_get64(in + 8);
    return in[0] == 'c' && in[1] == 't' && in[2] == REVISION;
}
