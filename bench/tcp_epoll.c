/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_epoll - the floor under a message by TCP: two processes that send each other some bytes over
 * a connection on loopback, each through epoll, and do nothing else. Prints half a round trip in
 * us, the median of several batches. Usage: tcp_epoll BYTES MS BATCHES block|spin|SOCKETS CPU CPU
 *
 * block: epoll_wait sleeps, as a server does; spin: it is asked until there is something, as a
 * program does that has the core for itself. With a number of sockets one process sends the same
 * buffer again and again, each of them an equal part of it, and the other takes it into one of the
 * same size, in MB/s: what a stream of messages so long costs with their memory. Called
 * by bench/tcp.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20, MOST_BATCHES = 1000, WARM_UP = 1000, MOST_SOCKETS = 16 };

struct end {
    int    fd, epoll, timeout;
    size_t bytes;
};

static char buffer[MOST_BYTES];

static void need(bool ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    need(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
}

static void give(const struct end *e)
{
    for (size_t at = 0; at < e->bytes;) {
        ssize_t n = send(e->fd, buffer + at, e->bytes - at, MSG_NOSIGNAL);
        need(n > 0 || errno == EAGAIN, "send");
        at += n > 0 ? (size_t)n : 0;
    }
}

/* False: the other end has closed it. */
static bool take(const struct end *e)
{
    for (size_t at = 0; at < e->bytes;) {
        struct epoll_event event;
        while (epoll_wait(e->epoll, &event, 1, e->timeout) == 0) {
        }
        ssize_t n = recv(e->fd, buffer + at, e->bytes - at, 0);
        need(n >= 0 || errno == EAGAIN, "recv");
        if (n == 0) {
            return false;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void watch(struct end *e, int fd)
{
    int                yes = 1;
    struct epoll_event event = {.events = EPOLLIN};
    e->fd = fd;
    e->epoll = epoll_create1(0);
    need(e->epoll >= 0 && epoll_ctl(e->epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll");
    need(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0, "TCP_NODELAY");
}

static void connect_pair(int fd[2])
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t          len = sizeof addr;
    int                door = socket(AF_INET, SOCK_STREAM, 0);
    need(door >= 0 && bind(door, (struct sockaddr *)&addr, len) == 0 && listen(door, 1) == 0 &&
             getsockname(door, (struct sockaddr *)&addr, &len) == 0,
         "listen");
    fd[0] = socket(AF_INET, SOCK_STREAM, 0);
    need(fd[0] >= 0 && connect(fd[0], (struct sockaddr *)&addr, len) == 0, "connect");
    fd[1] = accept(door, NULL, NULL);
    need(fd[1] >= 0, "accept");
    close(door);
}

static uint64_t rounds_ns(const struct end *e, uint64_t rounds)
{
    uint64_t begin = now_ns();
    for (uint64_t i = 0; i < rounds; i++) {
        give(e);
        need(take(e), "the other end");
    }
    return now_ns() - begin;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* A socket, and its part of the buffer. */
struct part {
    int    fd;
    char  *begin;
    size_t bytes, at;
};

struct stream {
    struct part parts[MOST_SOCKETS];
    int         epoll;
};

static void part_out(struct stream *s, const int *fds, unsigned n, char *memory, size_t bytes,
                     uint32_t events)
{
    s->epoll = epoll_create1(0);
    for (unsigned i = 0; i < n; i++) {
        size_t             from = bytes * i / n, to = bytes * (i + 1) / n;
        struct epoll_event event = {.events = events, .data.ptr = &s->parts[i]};
        s->parts[i] = (struct part){.fd = fds[i], .begin = memory + from, .bytes = to - from};
        need(epoll_ctl(s->epoll, EPOLL_CTL_ADD, fds[i], &event) == 0, "epoll_ctl");
    }
}

/* Moves what can be moved now. -1: the other end has closed. */
static ssize_t move(const struct stream *s, bool sends)
{
    struct epoll_event events[MOST_SOCKETS];
    int                n = epoll_wait(s->epoll, events, MOST_SOCKETS, 0);
    ssize_t            all = 0;
    for (int i = 0; i < n; i++) {
        struct part *p = events[i].data.ptr;
        size_t       left = p->bytes - p->at;
        ssize_t      some = sends ? send(p->fd, p->begin + p->at, left, MSG_DONTWAIT | MSG_NOSIGNAL)
                                  : recv(p->fd, p->begin + p->at, left, MSG_DONTWAIT);
        if (some == 0 || (some < 0 && errno != EAGAIN)) {
            return -1;
        }
        some = some < 0 ? 0 : some;
        p->at = (p->at + (size_t)some) % p->bytes;
        all += some;
    }
    return all;
}

static double batch_mb_s(const struct stream *s, uint64_t ns)
{
    uint64_t begin = now_ns(), bytes = 0, now;
    do {
        ssize_t some = move(s, false);
        need(some >= 0, "the other end");
        bytes += (uint64_t)some;
        now = now_ns();
    } while (now - begin < ns);
    return (double)bytes * 1e3 / (double)(now - begin);
}

static void measure_stream(size_t bytes, uint64_t ns, size_t batches, unsigned n, char **cpus,
                           double *mb_s)
{
    static struct stream s;
    int                  fds[2][MOST_SOCKETS];
    char                *memory = malloc(bytes);
    need(memory != NULL, "malloc");
    for (unsigned i = 0; i < n; i++) {
        int pair[2];
        connect_pair(pair);
        fds[0][i] = pair[0];
        fds[1][i] = pair[1];
    }
    pid_t pid = fork();
    need(pid >= 0, "fork");
    pin(atoi(cpus[pid == 0]));
    memset(memory, 1, bytes);
    part_out(&s, fds[pid == 0], n, memory, bytes, pid == 0 ? EPOLLOUT : EPOLLIN);
    for (unsigned i = 0; i < n; i++) {
        close(fds[pid != 0][i]);
    }
    while (pid == 0 && move(&s, true) >= 0) {
    }
    if (pid == 0) {
        _exit(0);
    }
    (void)batch_mb_s(&s, ns);
    for (size_t i = 0; i < batches; i++) {
        mb_s[i] = batch_mb_s(&s, ns);
    }
    for (unsigned i = 0; i < n; i++) {
        close(fds[0][i]);
    }
    waitpid(pid, NULL, 0);
    free(memory);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure_round_trips(struct end e, double ms, size_t batches, char **cpus,
                                double *half_us)
{
    int fd[2];
    connect_pair(fd);
    pid_t pid = fork();
    need(pid >= 0, "fork");
    pin(atoi(cpus[pid == 0]));
    watch(&e, fd[pid == 0]);
    close(fd[pid != 0]);
    if (pid == 0) {
        while (take(&e)) {
            give(&e);
        }
        _exit(0);
    }
    uint64_t per_batch =
        (uint64_t)(ms * 1e6 / (double)batches / ((double)rounds_ns(&e, WARM_UP) / WARM_UP)) + 1;
    for (size_t i = 0; i < batches; i++) {
        half_us[i] = (double)rounds_ns(&e, per_batch) / (double)per_batch / 2e3;
    }
    close(e.fd);
    waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    static double figures[MOST_BATCHES];
    if (argc != 7) {
        fprintf(stderr, "usage: tcp_epoll BYTES MS BATCHES block|spin|SOCKETS CPU CPU\n");
        return 2;
    }
    struct end e = {.bytes = strtoul(argv[1], NULL, 10), .timeout = argv[4][0] == 's' ? 0 : -1};
    double     ms = strtod(argv[2], NULL);
    size_t     batches = strtoul(argv[3], NULL, 10);
    unsigned   sockets = (unsigned)strtoul(argv[4], NULL, 10);
    if (e.bytes == 0 || (sockets == 0 && e.bytes > MOST_BYTES) || sockets > MOST_SOCKETS ||
        e.bytes < sockets || batches == 0 || batches > MOST_BATCHES) {
        fprintf(stderr, "tcp_epoll: 1 to %d bytes, 1 to %d batches, up to %d sockets\n", MOST_BYTES,
                MOST_BATCHES, MOST_SOCKETS);
        return 2;
    }
    if (sockets > 0) {
        measure_stream(e.bytes, (uint64_t)(ms * 1e6 / (double)batches), batches, sockets, argv + 5,
                       figures);
    } else {
        measure_round_trips(e, ms, batches, argv + 5, figures);
    }
    qsort(figures, batches, sizeof *figures, compare);
    printf("%.4f\n", figures[batches / 2]);
    return 0;
}
