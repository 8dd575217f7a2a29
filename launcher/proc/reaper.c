/* SPDX-License-Identifier: BSD-3-Clause */
/* Descendants, from /proc; see reaper.h. Used by head/run.c and ctrand.c. */
#include "config.h"
#include "launcher/proc/reaper.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

/* One process in a picture of the process table. */
struct seen {
    pid_t    pid, parent;
    uint64_t start;
    uint64_t ticks; /* of CPU time, without that of its children */
    uint64_t pages; /* resident */
    unsigned flags; /* the kernel's PF_ bits */
    char     state;
    bool     below; /* descends from this process */
};

struct picture {
    struct seen *all;
    size_t       n, cap;
};

/* Reads /proc/PID/stat. The name in it may hold anything, so its last ')' is looked for. */
static bool read_stat(pid_t pid, struct seen *out)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    text[len > 0 ? len : 0] = '\0';
    char              *after = strrchr(text, ')');
    long               parent;
    unsigned long long start, user, system, pages;
    if (after == NULL ||
        sscanf(after + 1,
               " %c %ld %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu %*d %*d "
               "%*d %*d %*d %*d %llu %*u %llu",
               &out->state, &parent, &out->flags, &user, &system, &start, &pages) != 7) {
        return false;
    }
    out->ticks = user + system;
    out->pages = pages;
    out->pid = pid;
    out->parent = (pid_t)parent;
    out->start = start;
    out->below = false;
    return true;
}

uint64_t ct_reaper_start_time(pid_t pid)
{
    struct seen s;
    return read_stat(pid, &s) && s.state != 'Z' ? s.start : 0;
}

bool ct_reaper_is_dying(pid_t pid)
{
    enum { PF_EXITING = 4 };
    struct seen s;
    return !read_stat(pid, &s) || s.state == 'Z' || (s.flags & PF_EXITING) != 0;
}

static bool reaper_append(struct picture *p, const struct seen *s)
{
    if (p->n == p->cap) {
        size_t       cap = p->cap ? 2 * p->cap : 1024;
        struct seen *more = realloc(p->all, cap * sizeof *more);
        if (more == NULL) {
            return false;
        }
        p->all = more;
        p->cap = cap;
    }
    p->all[p->n++] = *s;
    return true;
}

static int by_pid(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* All processes, ordered by pid. */
static void reaper_read_all_processes(struct picture *p)
{
    *p = (struct picture){0};
    DIR *dir = opendir("/proc");
    if (dir == NULL) {
        return;
    }
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        struct seen s;
        if (isdigit((unsigned char)e->d_name[0]) && read_stat((pid_t)atol(e->d_name), &s) &&
            !reaper_append(p, &s)) {
            break;
        }
    }
    closedir(dir);
    if (p->n > 0) {
        qsort(p->all, p->n, sizeof *p->all, by_pid);
    }
}

static bool reaper_is_one_of(pid_t pid, const pid_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i] == pid) {
            return true;
        }
    }
    return false;
}

/* Marks the descendants of this process. A child usually has a higher pid than its parent, so one
 * round is nearly always enough; after a wrap-around of pids there are more. */
static void mark_below(struct picture *p, const pid_t *spare, size_t nspare)
{
    pid_t self = getpid();
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < p->n; i++) {
            struct seen *s = &p->all[i], key = {.pid = s->parent};
            if (s->below || reaper_is_one_of(s->pid, spare, nspare)) {
                continue;
            }
            struct seen *parent = p->n > 0 ? bsearch(&key, p->all, p->n, sizeof key, by_pid) : NULL;
            if (s->parent == self || (parent != NULL && parent->below)) {
                s->below = changed = true;
            }
        }
    }
}

bool ct_reaper_children(pid_t **out, size_t *n)
{
    /* Asking for children first spares the walk through /proc in the usual case: none. */
    siginfo_t info;
    *out = NULL;
    *n = 0;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        return true;
    }
    struct picture p;
    pid_t          self = getpid();
    reaper_read_all_processes(&p);
    *out = calloc(p.n + 1, sizeof **out);
    for (size_t i = 0; *out != NULL && i < p.n; i++) {
        if (p.all[i].parent == self) {
            (*out)[(*n)++] = p.all[i].pid;
        }
    }
    free(p.all);
    return *out != NULL;
}

size_t ct_reaper_signal(int signo, const pid_t *spare, size_t nspare)
{
    struct picture p;
    size_t         live = 0;
    reaper_read_all_processes(&p);
    mark_below(&p, spare, nspare);
    for (size_t i = 0; i < p.n; i++) {
        if (p.all[i].below && p.all[i].state != 'Z') {
            live++;
            (void)kill(p.all[i].pid, signo); /* it may have ended meanwhile */
        }
    }
    free(p.all);
    return live;
}

/* The place in `use` of the process that `s` is or descends from; n for none. */
static size_t find_owner(const struct picture *p, const struct seen *s, const struct ct_usage *use,
                         size_t n)
{
    while (s != NULL) {
        for (size_t i = 0; i < n; i++) {
            if (use[i].pid == s->pid) {
                return i;
            }
        }
        struct seen key = {.pid = s->parent};
        s = bsearch(&key, p->all, p->n, sizeof key, by_pid);
    }
    return n;
}

void ct_reaper_usage(struct ct_usage *use, size_t n)
{
    struct picture p;
    uint64_t       tick_ms = 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t       page = (uint64_t)sysconf(_SC_PAGESIZE);
    reaper_read_all_processes(&p);
    mark_below(&p, NULL, 0);
    for (size_t k = 0; k < p.n; k++) {
        const struct seen *s = &p.all[k];
        size_t             i = s->below ? find_owner(&p, s, use, n) : n;
        if (i < n) {
            use[i].state = use[i].pid == s->pid ? s->state : use[i].state;
            use[i].cpu_ms += s->ticks * tick_ms;
            use[i].resident_bytes += s->pages * page;
        }
    }
    free(p.all);
}

bool ct_reaper_collect(ct_reaper_fn fn, void *arg)
{
    while (true) {
        int   status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid > 0) {
            fn(arg, pid, status);
        } else if (pid == 0 || errno != EINTR) {
            return pid == 0;
        }
    }
}

bool ct_reaper_kill_all(const pid_t *spare, size_t nspare, ct_reaper_fn fn, void *arg, int limit_ms)
{
    uint64_t end = ct_clock_ns() + (uint64_t)limit_ms * CT_NS_PER_MS;
    long     pause_ns = 100000;
    while (true) {
        size_t live = ct_reaper_signal(SIGKILL, spare, nspare);
        bool   children = ct_reaper_collect(fn, arg);
        /* A process that moved while the picture was taken is still a child afterwards. */
        if (!children || (live == 0 && nspare > 0)) {
            return true;
        }
        if (ct_clock_ns() > end) {
            return false;
        }
        /* Killed processes take a moment to go; there is nothing to sleep on for all of them. */
        nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        pause_ns = pause_ns < 8000000 ? 2 * pause_ns : pause_ns;
    }
}
