/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files as shared memory. A file has one name at most, and who removes it has looked, under the
 * lock that excludes all others, whether it still has that: so nobody takes another's away.
 */
#include "base/shmfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int ct_shmfile_open(const char *dir, int lock)
{
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 && flock(fd, lock) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int ct_shmfile_link(int fd, const char *path)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

bool ct_shmfile_remove_left(int fd, const char *path)
{
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        return false;
    }
    if (fstat(fd, &st) == 0 && st.st_nlink > 0) {
        (void)unlink(path);
    }
    return true;
}

/* A name as those who link files make them: the prefix, and at the end 16 hexadecimal digits. */
static bool is_name(const char *name)
{
    enum { DIGITS = 16 };
    const size_t len = strlen(name);
    return len > strlen(CT_SHMFILE_PREFIX) + DIGITS &&
           strncmp(name, CT_SHMFILE_PREFIX, strlen(CT_SHMFILE_PREFIX)) == 0 &&
           name[len - DIGITS - 1] == '-' &&
           strspn(name + len - DIGITS, "0123456789abcdef") == DIGITS;
}

void ct_shmfile_sweep(const char *dir_name)
{
    DIR *dir = opendir(dir_name);
    if (dir == NULL) {
        return;
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[512];
        int  n = snprintf(path, sizeof path, "%s/%s", dir_name, e->d_name);
        if (!is_name(e->d_name) || n >= (int)sizeof path) {
            continue;
        }
        int         fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        struct stat st;
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()) {
            (void)ct_shmfile_remove_left(fd, path);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    closedir(dir);
}
