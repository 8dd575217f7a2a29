/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a sysfs tree; see sysfs.h. Paths that are too long are files that are not there. */
#include "topo/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "topo/load.h"

/* False: it is too long. */
static bool path_of(char path[PATH_MAX], const char *fmt, va_list args)
{
    const int n = vsnprintf(path, PATH_MAX, fmt, args);
    return n > 0 && n < PATH_MAX;
}

/* Pipes and devices, which no sysfs has, are not waited for. */
static bool read_line(char *out, size_t cap, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t   n = fd >= 0 ? read(fd, out, cap - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    for (size_t len = strlen(out); len > 0 && isspace((unsigned char)out[len - 1]);) {
        out[--len] = '\0';
    }
    for (char *c = out; *c != '\0'; c++) {
        *c = (char)(isprint((unsigned char)*c) ? *c : '?');
    }
    return out[0] != '\0';
}

bool ct_sysfs_read(char *out, size_t cap, const char *fmt, ...)
{
    char    path[PATH_MAX];
    va_list args;
    va_start(args, fmt);
    const bool fits = path_of(path, fmt, args);
    va_end(args);
    out[0] = '\0';
    return fits && read_line(out, cap, path);
}

long ct_sysfs_number(long missing, const char *fmt, ...)
{
    char    path[PATH_MAX], text[64], *end = text;
    va_list args;
    va_start(args, fmt);
    const bool fits = path_of(path, fmt, args);
    va_end(args);
    if (!fits || !read_line(text, sizeof text, path)) {
        return missing;
    }
    errno = 0;
    const long value = strtol(text, &end, 0);
    return end != text && *end == '\0' && errno == 0 ? value : missing;
}

bool ct_sysfs_is_dir(const char *fmt, ...)
{
    char        path[PATH_MAX];
    struct stat st;
    va_list     args;
    va_start(args, fmt);
    const bool fits = path_of(path, fmt, args);
    va_end(args);
    return fits && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool ct_sysfs_link(char *out, size_t cap, const char *fmt, ...)
{
    char    path[PATH_MAX], to[PATH_MAX];
    va_list args;
    va_start(args, fmt);
    const bool fits = path_of(path, fmt, args);
    va_end(args);
    const ssize_t n = fits ? readlink(path, to, sizeof to - 1) : -1;
    to[n > 0 ? n : 0] = '\0';
    const char *last = strrchr(to, '/');
    ct_machine_text(out, cap, last != NULL ? last + 1 : to);
    return out[0] != '\0';
}

/* /sys/devices/pci0000:00/0000:00:03.0/virtio2: the last component that is an address. */
struct ct_pci ct_sysfs_pci(const char *fmt, ...)
{
    struct ct_pci pci = {0};
    char          path[PATH_MAX], real[PATH_MAX];
    va_list       args;
    va_start(args, fmt);
    const bool fits = path_of(path, fmt, args);
    va_end(args);
    if (!fits || realpath(path, real) == NULL) {
        return pci;
    }
    for (char *slash; (slash = strrchr(real, '/')) != NULL && !ct_pci_parse(slash + 1, &pci);) {
        *slash = '\0';
    }
    return pci;
}

static int is_shown(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

void ct_sysfs_each(const char *folder, void (*visit)(void *arg, const char *name), void *arg)
{
    struct dirent **names;
    const int       n = scandir(folder, &names, is_shown, alphasort);
    for (int i = 0; i < n; i++) {
        visit(arg, names[i]->d_name);
        free(names[i]);
    }
    if (n >= 0) {
        free(names);
    }
}
