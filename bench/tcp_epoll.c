/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_epoll - the floor under a message by TCP: two processes that send each other some bytes over
 * a connection on loopback, each through epoll, and do nothing else. Prints half a round trip in
 * us, the median of several batches. Usage: tcp_epoll BYTES MS BATCHES block|spin CPU CPU
 *
 * block: epoll_wait sleeps, as a server does; spin: it is asked until there is something, as a
 * program does that has the core for itself. Called by bench/tcp.
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

enum { MOST_BYTES = 1 << 20, MOST_BATCHES = 1000, WARM_UP = 1000 };

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

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    static double half_us[MOST_BATCHES];
    int           fd[2];
    if (argc != 7) {
        fprintf(stderr, "usage: tcp_epoll BYTES MS BATCHES block|spin CPU CPU\n");
        return 2;
    }
    struct end e = {.bytes = strtoul(argv[1], NULL, 10), .timeout = argv[4][0] == 's' ? 0 : -1};
    double     ms = strtod(argv[2], NULL);
    size_t     batches = strtoul(argv[3], NULL, 10);
    if (e.bytes == 0 || e.bytes > MOST_BYTES || batches == 0 || batches > MOST_BATCHES) {
        fprintf(stderr, "tcp_epoll: 1 to %d bytes, 1 to %d batches\n", MOST_BYTES, MOST_BATCHES);
        return 2;
    }
    connect_pair(fd);
    pid_t pid = fork();
    need(pid >= 0, "fork");
    pin(atoi(argv[pid == 0 ? 6 : 5]));
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
    qsort(half_us, batches, sizeof *half_us, compare);
    printf("%.4f\n", half_us[batches / 2]);
    return 0;
}
