/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's server of the store; see nodestore.h. */
#include "config.h"
#include "launcher/daemon/nodestore.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"
#include "launcher/place/place.h"
#include "pmi/store/store.h"

enum { SPARE = 256, MOST_CLIENTS = 16384, LEAST_CLIENTS = 16, MEMORY_MIB = 64 };

struct ct_nodestore {
    struct ct_log           log;
    struct ct_loop          loop;
    struct ct_store_server *server;
    char                    where[CT_WIRE_LIST_SIZE];
};

static uint32_t find_reach(const struct ct_jobdesc *d, struct ct_addr *reach)
{
    struct ct_config cfg;
    if (d->nnodes == 1) { /* one address: it listens there and nowhere else */
        return (uint32_t)ct_min_size(ct_addr_reach("", true, reach), 1);
    }
    ct_rankconfig_load(&cfg, d); /* CTRAN_TCP_INTERFACES */
    uint32_t n = ct_addr_reach(cfg.tcp_interfaces, false, reach);
    ct_config_fini(&cfg);
    return n;
}

static int open_server(struct ct_nodestore *s, const struct ct_jobdesc *d)
{
    struct ct_auth_key key;
    struct ct_addr     reach[CT_WIRE_REACH_MAX], at;
    uint32_t           n = find_reach(d, reach);
    uint32_t           want = (uint32_t)ct_min_size(ct_jobdesc_ranks(d), MOST_CLIENTS) + SPARE;
    uint32_t           room = ct_limits_spare(d, want);
    if (n == 0) {
        return CTRAN_ERR_CONFIG;
    }
    struct ct_store_limits limits = {.memory = (size_t)MEMORY_MIB << 20};
    limits.connections = limits.strangers = (uint32_t)ct_max_size(room, LEAST_CLIENTS);
    at = ct_addr_listen_on(reach, n);
    int rc = ct_auth_key_from_hex(&key, d->key);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_store_server_open(&s->server, &s->loop, &at, &key, &limits);
    }
    ct_auth_wipe(&key, sizeof key);
    for (uint32_t i = 0; i < n; i++) {
        memcpy(reach[i].port, at.port, sizeof at.port);
    }
    ct_addr_format_list(reach, n, s->where);
    return rc;
}

struct ct_nodestore *ct_nodestore_create(const struct ct_jobdesc *d, char *why, size_t cap)
{
    why[0] = '\0';
    if (!ct_auth_available() || d->key[0] == '\0' || !ct_store_serves(d->me, d->nnodes)) {
        return NULL;
    }
    struct ct_nodestore *s = calloc(1, sizeof *s);
    int                  rc = s != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    if (rc == CTRAN_SUCCESS) {
        ct_log_init(&s->log, CT_LOG_WARN, CT_DAEMON_NAME);
        rc = ct_loop_init(&s->loop, &s->log);
    }
    rc = rc == CTRAN_SUCCESS ? open_server(s, d) : rc;
    if (rc == CTRAN_SUCCESS) {
        return s;
    }
    (void)snprintf(
        why, cap, "warning: there is no server of the store: %s",
        rc == CTRAN_ERR_CONFIG
            ? "no address by which other hosts could reach the server (CTRAN_TCP_INTERFACES)"
            : ct_error_text(rc));
    if (s != NULL) {
        ct_loop_fini(&s->loop);
    }
    free(s);
    return NULL;
}

const char *ct_nodestore_where(const struct ct_nodestore *s)
{
    return s != NULL ? s->where : "";
}

static bool set_places(struct ct_nodestore *s, const struct ct_store_place *places, uint32_t n)
{
    unsigned char *value = malloc(CT_STORE_VALUE_MAX);
    bool           ok = value != NULL;
    if (ok) {
        struct ct_bytes bytes = {value, ct_store_places_pack(places, n, value)};
        ok = ct_store_server_set(s->server, ct_bytes_of(CT_STORE_PLACES), bytes) == CTRAN_SUCCESS;
    }
    free(value);
    return ok;
}

void ct_nodestore_take(struct ct_nodestore *s, struct ct_unpack *in)
{
    struct ct_store_place *places = calloc(CT_STORE_SERVERS_MAX, sizeof *places);
    uint32_t               n = ct_unpack_u32(in);
    in->bad |= s == NULL || places == NULL || n == 0 || n > CT_STORE_SERVERS_MAX;
    for (uint32_t i = 0; i < n && !in->bad; i++) {
        places[i].naddrs = ct_addr_parse_list(places[i].addrs, ct_unpack_text(in));
        in->bad |= places[i].naddrs == 0;
    }
    if (!in->bad && !set_places(s, places, n)) {
        in->bad = true;
    }
    free(places);
}

void ct_nodestore_alone(struct ct_nodestore *s)
{
    struct ct_store_place place;
    place.naddrs = ct_addr_parse_list(place.addrs, s->where);
    (void)set_places(s, &place, 1);
}

static void *nodestore_serve(void *arg)
{
    struct ct_nodestore *s = arg;
    (void)event_base_dispatch(s->loop.base); /* for ever: it always listens */
    return NULL;
}

/* Signals are the daemon's own. */
int ct_nodestore_start(struct ct_nodestore *s)
{
    sigset_t  all, before;
    pthread_t thread;
    if (s == NULL) {
        return 0;
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&thread, NULL, nodestore_serve, s);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err == 0) {
        (void)pthread_detach(thread);
    }
    return err;
}
