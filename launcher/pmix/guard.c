/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guard of the PMIx server's port; see guard.h. Used by server.c.
 *
 * The guard's thread watches a connection that is accepted before its first bytes have arrived.
 * Once the connection has proved to be the job's, it is ready, and accept() must be called again:
 * the guard connects to the port itself, and closes that connection (it wakes libpmix). Each call
 * of accept() takes one connection from the port and returns at most one that is ready. Each
 * connection that becomes ready there is followed by a wake-up, so none is forgotten.
 */
#include "config.h"
#include "launcher/pmix/guard.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

/* WATCHED_MAX: connections that have not proved anything, at most a fourth of the descriptors.
 * FAIR_MS: so long none of them is closed in favour of a newer one. LOOK_BYTES: the secret stands
 * within so many bytes of a first message. */
enum {
    WATCHED_MAX = 1024,
    FAIR_MS = 250,
    NAP_NS = 2000000,
    LOOK_BYTES = 8192,
    RING_LIMIT_S = 2,
    RING_AGAIN_MS = 50
};

struct watched {
    int      fd;
    uint64_t since_ns;
};

struct guard {
    char                   *secret;
    size_t                  len; /* with the zero at its end */
    int                     epoll_fd;
    pthread_mutex_t         lock;
    struct watched          watched[WATCHED_MAX]; /* under lock, oldest first */
    unsigned                nwatched, most;
    int                    *ready; /* under lock, oldest first */
    unsigned                nready, cap;
    unsigned                rings; /* under lock: still to be rung */
    struct sockaddr_storage port;  /* under lock */
    socklen_t               port_len;
};

/* accept() has no argument for the guard. Set once, before libpmix listens. */
static struct guard *the_guard;

/* ---- one connection -------------------------------------------------------------------------- */

enum verdict { VERDICT_LATER, VERDICT_OURS, VERDICT_STRANGER };

static enum verdict guard_judge_bytes(const struct guard *g, int fd)
{
    char    look[LOOK_BYTES];
    ssize_t n = recv(fd, look, sizeof look, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR ? VERDICT_LATER : VERDICT_STRANGER;
    }
    if (memmem(look, (size_t)n, g->secret, g->len) != NULL) {
        return VERDICT_OURS;
    }
    return n == 0 || n == (ssize_t)sizeof look ? VERDICT_STRANGER : VERDICT_LATER;
}

/* ---- what is watched, and what is ready; all under the lock ---------------------------------- */

static void guard_forget(struct guard *g, unsigned i)
{
    g->nwatched--;
    memmove(&g->watched[i], &g->watched[i + 1], (g->nwatched - i) * sizeof g->watched[0]);
}

static bool forget_fd(struct guard *g, int fd)
{
    for (unsigned i = 0; i < g->nwatched; i++) {
        if (g->watched[i].fd == fd) {
            guard_forget(g, i);
            return true;
        }
    }
    return false;
}

/* Returns false if no connection has had enough time yet. */
static bool close_oldest(struct guard *g)
{
    if (g->nwatched == 0 ||
        ct_clock_ns() - g->watched[0].since_ns < FAIR_MS * (uint64_t)CT_NS_PER_MS) {
        return false;
    }
    close(g->watched[0].fd); /* this takes it out of the epoll set as well */
    guard_forget(g, 0);
    return true;
}

static bool guard_watch(struct guard *g, int fd)
{
    /* Edge triggered: bytes that were looked at stay in the socket. */
    struct epoll_event ev = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.fd = fd};
    if (epoll_ctl(g->epoll_fd, EPOLL_CTL_ADD, fd, &ev) != 0) {
        return false;
    }
    g->watched[g->nwatched++] = (struct watched){fd, ct_clock_ns()};
    return true;
}

static bool make_ready(struct guard *g, int fd)
{
    if (g->nready == g->cap) {
        unsigned cap = g->cap > 0 ? 2 * g->cap : 16;
        int     *more = realloc(g->ready, cap * sizeof *more);
        if (more == NULL) {
            return false;
        }
        g->ready = more;
        g->cap = cap;
    }
    g->ready[g->nready++] = fd;
    return true;
}

static int take_ready(struct guard *g)
{
    if (g->nready == 0) {
        return -1;
    }
    int fd = g->ready[0];
    g->nready--;
    memmove(&g->ready[0], &g->ready[1], g->nready * sizeof g->ready[0]);
    return fd;
}

/* ---- the guard's thread ---------------------------------------------------------------------- */

/* Connects to the port and hangs up: libpmix calls accept(). */
static bool guard_wake(const struct sockaddr_storage *port, socklen_t len)
{
    struct timeval limit = {.tv_sec = RING_LIMIT_S};
    int            fd = socket(port->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    bool ok = connect(fd, (const struct sockaddr *)port, len) == 0;
    close(fd);
    return ok;
}

/* Returns whether some are still owed: the port's queue may be full for a moment. */
static bool guard_wake_all(struct guard *g)
{
    pthread_mutex_lock(&g->lock);
    struct sockaddr_storage port = g->port;
    socklen_t               len = g->port_len;
    unsigned                owed = g->rings;
    pthread_mutex_unlock(&g->lock);
    unsigned done = 0;
    while (done < owed && guard_wake(&port, len)) {
        done++;
    }
    pthread_mutex_lock(&g->lock);
    g->rings -= done;
    owed = g->rings;
    pthread_mutex_unlock(&g->lock);
    return owed > 0;
}

/* The lock is held while it looks, since accept() may close the oldest connection. */
static void guard_look_at(struct guard *g, int fd)
{
    pthread_mutex_lock(&g->lock);
    enum verdict v = guard_judge_bytes(g, fd);
    if (v != VERDICT_LATER && forget_fd(g, fd)) {
        (void)epoll_ctl(g->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        if (v == VERDICT_OURS && make_ready(g, fd)) {
            g->rings++;
        } else {
            close(fd);
        }
    }
    pthread_mutex_unlock(&g->lock);
}

static void *guard_thread(void *arg)
{
    struct guard      *g = arg;
    struct epoll_event ev[64];
    bool               owed = false;
    while (true) {
        int n = epoll_wait(g->epoll_fd, ev, CT_ARRAY_LEN(ev), owed ? RING_AGAIN_MS : -1);
        for (int i = 0; i < n; i++) {
            guard_look_at(g, ev[i].data.fd);
        }
        owed = guard_wake_all(g);
    }
    return NULL;
}

/* ---- libpmix's thread ------------------------------------------------------------------------ */

static void learn_port(struct guard *g, int listener)
{
    socklen_t len = sizeof g->port;
    if (g->port_len == 0 && getsockname(listener, (struct sockaddr *)&g->port, &len) == 0) {
        g->port_len = len;
    }
}

/* Takes in one connection. Returns whether it can go to libpmix at once; *fd is -1 if not. Under
 * the lock. */
static void guard_take_in(struct guard *g, int listener, int *fd)
{
    bool full = g->nwatched == g->most && !close_oldest(g);
    *fd = full ? -1 : accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    bool scarce =
        *fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
    if (full || (scarce && !close_oldest(g))) {
        /* The port stays readable, and libpmix comes again at once. */
        pthread_mutex_unlock(&g->lock);
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        pthread_mutex_lock(&g->lock);
    }
    if (*fd < 0) {
        return;
    }
    enum verdict v = guard_judge_bytes(g, *fd);
    if (v == VERDICT_STRANGER || (v == VERDICT_LATER && !guard_watch(g, *fd))) {
        close(*fd);
    }
    *fd = v == VERDICT_OURS ? *fd : -1;
}

/* An event follows data that the client's kernel need not have acknowledged yet: it waits for more
 * to send, 40 ms, and Nagle's algorithm here waits for it. libpmix leaves that on. */
static void turn_off_nagle(int fd)
{
    int yes = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes); /* without it: slower */
}

static int accept_guarded(struct guard *g, int listener)
{
    int fd;
    pthread_mutex_lock(&g->lock);
    learn_port(g, listener);
    guard_take_in(g, listener, &fd);
    if (fd < 0) {
        fd = take_ready(g);
    }
    pthread_mutex_unlock(&g->lock);
    if (fd >= 0) {
        turn_off_nagle(fd);
    } else {
        errno = EAGAIN; /* libpmix then goes on listening, and does nothing else */
    }
    return fd;
}

/* libpmix's, instead of the C library's: see guard.h. */
__attribute__((visibility("default"))) int accept(int fd, struct sockaddr *addr, socklen_t *len)
{
    if (the_guard == NULL) {
        return accept4(fd, addr, len, 0);
    }
    int s = accept_guarded(the_guard, fd);
    if (s >= 0 && addr != NULL) {
        (void)getpeername(s, addr, len); /* a peer that has gone is noticed at the next read */
    }
    return s;
}

/* ---- start ----------------------------------------------------------------------------------- */

static unsigned most_watched(void)
{
    struct rlimit lim;
    if (getrlimit(RLIMIT_NOFILE, &lim) != 0 || lim.rlim_cur / 4 > WATCHED_MAX) {
        return WATCHED_MAX;
    }
    return lim.rlim_cur >= 8 ? (unsigned)(lim.rlim_cur / 4) : 2;
}

static bool start_thread(struct guard *g)
{
    pthread_t thread;
    sigset_t  all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the event loop */
    bool ok = pthread_create(&thread, NULL, guard_thread, g) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok) {
        pthread_detach(thread);
    }
    return ok;
}

bool ct_pmix_guard_start(const char *secret)
{
    struct guard *g = calloc(1, sizeof *g);
    if (g == NULL) {
        return false;
    }
    g->secret = strdup(secret);
    g->len = strlen(secret) + 1;
    g->most = most_watched();
    g->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    pthread_mutex_init(&g->lock, NULL);
    if (g->secret == NULL || g->epoll_fd < 0 || !start_thread(g)) {
        if (g->epoll_fd >= 0) {
            close(g->epoll_fd);
        }
        free(g->secret);
        free(g);
        return false;
    }
    the_guard = g;
    return true;
}
