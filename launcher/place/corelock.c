/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks for cores; see corelock.h. Used by places.c. */
#include "config.h"
#include "launcher/place/corelock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/base.h"
#include "node/node.h"

/* OTHERS_MAX: files of other users that are looked at. */
enum { OTHERS_MAX = 256, LIMIT_MS = 1000 };

static const char FILE_PREFIX[] = CT_SHMFILE_PREFIX "cores-"; /* 16 digits follow: the user id */

/* ---- other users' files ---------------------------------------------------------------------- */

struct file {
    unsigned  major, minor;
    uintmax_t inode;
};

static unsigned list_others(const char *dir_name, struct file files[OTHERS_MAX])
{
    unsigned       n = 0;
    DIR           *dir = opendir(dir_name);
    struct dirent *e;
    struct stat    st;
    while (dir != NULL && n < OTHERS_MAX && (e = readdir(dir)) != NULL) {
        if (strncmp(e->d_name, FILE_PREFIX, sizeof FILE_PREFIX - 1) == 0 &&
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
            st.st_uid != geteuid()) {
            files[n++] = (struct file){major(st.st_dev), minor(st.st_dev), st.st_ino};
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return n;
}

static bool corelock_is_one_of(const struct file *f, const struct file *files, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (files[i].major == f->major && files[i].minor == f->minor &&
            files[i].inode == f->inode) {
            return true;
        }
    }
    return false;
}

/* One line of /proc/locks: "3: OFDLCK ADVISORY  WRITE -1 00:1a:42 5 5", from byte to byte. */
static void read_lock(struct ct_corelock *c, const char *line, const struct file *files, unsigned n)
{
    struct file f;
    unsigned    first, last;
    if (sscanf(line, "%*s OFDLCK %*s WRITE %*s %x:%x:%ju %u %u", &f.major, &f.minor, &f.inode,
               &first, &last) == 5 &&
        corelock_is_one_of(&f, files, n)) {
        for (unsigned cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++) {
            CPU_SET(cpu, &c->others);
        }
    }
}

static void look_at_others(struct ct_corelock *c, const char *dir)
{
    struct file files[OTHERS_MAX];
    unsigned    n = list_others(dir, files);
    FILE       *locks = n > 0 ? fopen("/proc/locks", "re") : NULL;
    char        line[256];
    while (locks != NULL && fgets(line, sizeof line, locks) != NULL) {
        read_lock(c, line, files, n);
    }
    if (locks != NULL) {
        fclose(locks);
    }
}

/* ---- the user's own file --------------------------------------------------------------------- */

/* Only a deed of another user is reported. Without such a folder no job can do better. */
static void tell_why(struct ct_corelock *c, enum ct_shmfile_step step)
{
    struct stat st;
    if (step == CT_SHMFILE_TRUST && lstat(c->path, &st) == 0) {
        snprintf(
            c->why, sizeof c->why,
            "two jobs of yours may be given the same cores: %s has to belong to user %u alone, "
            "and is user %u's with mode %03o; remove the file",
            c->path, geteuid(), st.st_uid, st.st_mode & 0777);
    }
}

void ct_corelock_open(struct ct_corelock *c, const char *dir)
{
    enum ct_shmfile_step step = CT_SHMFILE_OPEN;
    *c = (struct ct_corelock){.fd = -1};
    snprintf(c->path, sizeof c->path, "%s/%s%016" PRIx64, dir, FILE_PREFIX, (uint64_t)geteuid());
    c->fd = ct_shmfile_share(
        &(struct ct_shmfile_common){.dir = dir,
                                    .path = c->path,
                                    .len_bytes = 1,
                                    .head = "",
                                    .head_bytes = 1,
                                    .nap_ns = CT_NS_PER_MS,
                                    .end_ns = ct_clock_ns() + LIMIT_MS * CT_NS_PER_MS},
        &step);
    if (c->fd < 0) {
        tell_why(c, step);
    }
    look_at_others(c, dir);
}

void ct_corelock_close(struct ct_corelock *c)
{
    if (c->fd >= 0) {
        (void)ct_shmfile_remove_left(c->fd,
                                     c->path); /* nobody else has the file open, or they keep it */
        close(c->fd);
        c->fd = -1;
    }
}

/* ---- cores ----------------------------------------------------------------------------------- */

bool ct_corelock_hold(struct ct_corelock *c, unsigned cpu)
{
    struct flock one = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)cpu, .l_len = 1};
    return c->fd < 0 || fcntl(c->fd, F_OFD_SETLK, &one) == 0 ||
           (errno != EAGAIN && errno != EACCES); /* only another job's lock counts */
}

void ct_corelock_let_go(struct ct_corelock *c)
{
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (c->fd >= 0) {
        (void)fcntl(c->fd, F_OFD_SETLK, &all);
    }
}

bool ct_corelock_is_others(const struct ct_corelock *c, unsigned cpu)
{
    return cpu < CPU_SETSIZE && CPU_ISSET(cpu, &c->others);
}
