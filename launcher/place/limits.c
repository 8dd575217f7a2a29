/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of a node; see limits.h. Used by daemon/start.c. */
#include "config.h"
#include "launcher/place/limits.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"
#include "launcher/place/rankconfig.h"
#include "launcher/proc/proc.h"
#include "node/node.h"

/* A rank that uses PMIx is a process with one more thread, and the limits count threads like
 * processes. */
enum { TASKS_A_RANK = 2 };

/* ---- descriptors ----------------------------------------------------------------------------- */

/* Descriptors for the ranks: three for each (two pipes and the PMIx server's connection) and its
 * pid_fd, and its files and its input if it has them; and what the daemon, libevent and libpmix
 * need besides. */
static rlim_t descriptors_for(const struct ct_jobdesc *d, uint32_t n)
{
    rlim_t each = 4 + (*d->output_dir != '\0' && !d->output_hidden ? 2 : 0) +
                  (d->stdin_to == CT_STDIN_ALL ? 1 : 0);
    return each * n + 64;
}

static int check_descriptors(const struct ct_jobdesc *d, uint32_t n, char *why, size_t cap)
{
    struct rlimit lim;
    rlim_t        need = descriptors_for(d, n);
    if (getrlimit(RLIMIT_NOFILE, &lim) != 0) {
        return 0;
    }
    if (lim.rlim_cur < need) {
        lim.rlim_cur = lim.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &lim); /* the next line judges the outcome */
    }
    if (lim.rlim_max < need) {
        snprintf(why, cap,
                 "%u ranks on one node need %llu open files, the hard limit is %llu; raise the "
                 "limit (ulimit -Hn, or nofile in limits.conf) or start fewer ranks",
                 n, (unsigned long long)need, (unsigned long long)lim.rlim_max);
        return CT_EXIT_INTERNAL;
    }
    return 0;
}

uint32_t ct_limits_spare(const struct ct_jobdesc *d, uint32_t want)
{
    struct rlimit lim;
    rlim_t        need = descriptors_for(d, d->nodes[d->me].ranks);
    if (getrlimit(RLIMIT_NOFILE, &lim) != 0) {
        return 0;
    }
    if (lim.rlim_cur < need + want && lim.rlim_cur < lim.rlim_max) {
        rlim_t more = lim.rlim_max < need + want ? lim.rlim_max : need + want;
        lim.rlim_cur = setrlimit(RLIMIT_NOFILE, &(struct rlimit){more, lim.rlim_max}) == 0
                           ? more
                           : lim.rlim_cur;
    }
    return lim.rlim_cur < need          ? 0
           : lim.rlim_cur - need < want ? (uint32_t)(lim.rlim_cur - need)
                                        : want;
}

/* ---- processes ------------------------------------------------------------------------------- */

/* How many more tasks can be made by the tightest limit, and words for that limit. */
struct room {
    uint64_t left;
    char     found[PATH_MAX + 128];
    char     raise[96];
};

static void limits_narrow(struct room *r, uint64_t most, uint64_t now, const char *what,
                          const char *raise_what)
{
    uint64_t left = most > now ? most - now : 0;
    if (left < r->left) {
        r->left = left;
        snprintf(r->found, sizeof r->found, "%s is %" PRIu64 ", %" PRIu64 " are there", what, most,
                 now);
        snprintf(r->raise, sizeof r->raise, "%s", raise_what);
    }
}

/* Reads the number in a file. Returns false if there is none, as with "max". */
static bool limits_read_number(const char *path, uint64_t *out)
{
    FILE *f = fopen(path, "re");
    bool  ok = f != NULL && fscanf(f, "%" SCNu64, out) == 1;
    if (f != NULL) {
        fclose(f);
    }
    return ok;
}

/* All tasks of the system: no user has more. */
static uint64_t count_all_tasks(void)
{
    uint64_t n = 0;
    FILE    *f = fopen("/proc/loadavg", "re");
    if (f != NULL) {
        if (fscanf(f, "%*s %*s %*s %*u/%" SCNu64, &n) != 1) {
            n = 0;
        }
        fclose(f);
    }
    return n;
}

/* Counts the tasks of this user. Walks through /proc, so it is called only if the answer can
 * matter. */
static uint64_t count_our_tasks(void)
{
    uint64_t n = 0;
    DIR     *dir = opendir("/proc");
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        char        path[300];
        struct stat st;
        snprintf(path, sizeof path, "/proc/%s/task", e->d_name);
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && stat(path, &st) == 0 &&
            st.st_uid == getuid()) {
            n += st.st_nlink > 2 ? st.st_nlink - 2 : 1;
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return n;
}

static void look_at_system(struct room *r, uint64_t need)
{
    struct rlimit lim;
    uint64_t      most, all = count_all_tasks();
    if (limits_read_number("/proc/sys/kernel/pid_max", &most)) {
        limits_narrow(r, most, all, "the system's kernel.pid_max", "it with sysctl");
    }
    if (limits_read_number("/proc/sys/kernel/threads-max", &most)) {
        limits_narrow(r, most, all, "the system's kernel.threads-max", "it with sysctl");
    }
    /* The superuser is not held to this one. */
    if (getuid() != 0 && getrlimit(RLIMIT_NPROC, &lim) == 0 && lim.rlim_cur != RLIM_INFINITY &&
        all + need > lim.rlim_cur) {
        limits_narrow(r, lim.rlim_cur, count_our_tasks(), "the user's limit of processes",
                      "the limit (ulimit -u, or nproc in limits.conf)");
    }
}

/* Looks at a control group and all above it. `path` is cut short on the way. */
static void limits_look_up(struct room *r, const char *mount, char *path)
{
    while (true) {
        char     file[PATH_MAX], what[PATH_MAX + 64];
        uint64_t most, now;
        snprintf(file, sizeof file, "%.1000s%.2000s/pids.max", mount, path);
        bool limited = limits_read_number(file, &most);
        snprintf(file, sizeof file, "%.1000s%.2000s/pids.current", mount, path);
        if (limited && limits_read_number(file, &now)) {
            snprintf(what, sizeof what, "pids.max of control group %s", *path != '\0' ? path : "/");
            limits_narrow(
                r, most, now, what,
                "the limit (systemd: TasksMax; containers: --pids-limit; Slurm: its cgroup)");
        }
        char *slash = strrchr(path, '/');
        if (slash == NULL) {
            return;
        }
        *slash = '\0';
    }
}

/* The groups of this process, in the unified hierarchy and in that for pids. In a container their
 * paths may not be visible; then the mount's root counts. */
static void look_at_groups(struct room *r)
{
    char  line[2048];
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *first = strchr(line, ':'), *second = first != NULL ? strchr(first + 1, ':') : NULL;
        if (second == NULL) {
            continue;
        }
        *second = '\0';
        if (strcmp(first + 1, "pids") == 0) {
            limits_look_up(r, "/sys/fs/cgroup/pids", second + 1);
        } else if (first[1] == '\0') {
            limits_look_up(r, "/sys/fs/cgroup", second + 1);
        }
    }
    if (f != NULL) {
        fclose(f);
    }
}

static int check_processes(uint32_t n, char *why, size_t cap)
{
    uint64_t    likely = (uint64_t)TASKS_A_RANK * n;
    struct room r = {.left = UINT64_MAX};
    look_at_groups(&r);
    look_at_system(&r, likely);
    if (r.left < n) {
        snprintf(why, cap,
                 "%u ranks need as many processes, only %" PRIu64 " more can be made: %s; raise %s "
                 "or start fewer ranks",
                 n, r.left, r.found, r.raise);
        return CT_EXIT_INTERNAL;
    }
    if (r.left < likely) {
        snprintf(why, cap,
                 "warning: %u ranks that use PMIx are %" PRIu64 " tasks, only %" PRIu64
                 " more can be made: %s; raise %s if the ranks fail",
                 n, likely, r.left, r.found, r.raise);
    }
    return 0;
}

/* ---- room for files -------------------------------------------------------------------------- */

/* Returns how many bytes this user may write to the file system of a directory. */
static bool free_bytes(const char *dir, uint64_t *out)
{
    struct statvfs fs;
    bool           ok = statvfs(dir, &fs) == 0;
    *out = ok ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
    return ok;
}

/* libpmix maps its store of the job's data from files of the session directory: a page that does
 * not fit kills the process that touches it. */
static int check_session_room(uint32_t n, char *why, size_t cap)
{
    uint64_t    store = n < CT_PMIX_SHARED_FROM ? 256 << 10 : 8 << 20, left;
    uint64_t    need = store + (uint64_t)n * 4096;
    const char *dir = ct_session_base();
    if (!free_bytes(dir, &left) || left >= need) {
        return 0;
    }
    snprintf(why, cap,
             "%u ranks need %" PRIu64 " KiB for the job's files, %s has %" PRIu64
             " KiB free; make room there or set TMPDIR to another directory",
             n, need >> 10, dir, left >> 10);
    return CT_EXIT_INTERNAL;
}

/* The shared memory of ctran's ranks lies in files only with CTRAN_SHM_BACKING=file. Then each rank
 * takes its segment at its start, or fails (net/shm_segment.c). */
#include "node/node.h"
static void check_shared_memory(const struct ct_jobdesc *d, uint32_t n, char *why, size_t cap)
{
    enum { BACKING_FILE = 2 };
    struct ct_config cfg;
    uint64_t         left, need;
    ct_rankconfig_load(&cfg, d);
    need = n * ct_shmsize_segment(cfg.shm_ring_size, n);
    if (cfg.shm_backing == BACKING_FILE && free_bytes(cfg.shm_dir, &left) && left < need) {
        snprintf(why, cap,
                 "warning: %u ranks of ctran share %" PRIu64
                 " KiB in %s (CTRAN_SHM_BACKING=file), which "
                 "has %" PRIu64
                 " KiB free; enlarge the file system (mount -o remount,size=; containers: "
                 "--shm-size), lower CTRAN_SHM_RING_SIZE, or set CTRAN_SHM_BACKING=memfd",
                 n, need >> 10, cfg.shm_dir, left >> 10);
    }
    ct_config_fini(&cfg);
}

int ct_limits_check(const struct ct_jobdesc *d, char *why, size_t cap)
{
    uint32_t n = d->nodes[d->me].ranks;
    why[0] = '\0';
    int status = check_descriptors(d, n, why, cap);
    if (status == 0) {
        status = check_session_room(n, why, cap);
    }
    if (status == 0) {
        check_shared_memory(d, n, why, cap);
        status = check_processes(n, why, cap);
    }
    return status;
}
