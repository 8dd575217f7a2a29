/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin of hwloc with a discovery component "cuda" that finds nothing. It adds a line to the
 * file $CT_HWLOC_NOTES when it is opened and when its component is enabled; see hwloc.py.
 */
#include <fcntl.h>
#include <hwloc.h>
#include <hwloc/plugins.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void note(const char *what)
{
    const char *path = getenv("CT_HWLOC_NOTES");
    char        line[64];
    const int   fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    const int   len = snprintf(line, sizeof line, "%s\n", what);
    if (fd >= 0 && write(fd, line, (size_t)len) != len) {
        abort();
    }
    if (fd >= 0) {
        close(fd);
    }
}

__attribute__((constructor)) static void on_open(void)
{
    note("opened");
}

static struct hwloc_backend *enable(struct hwloc_topology *t, struct hwloc_disc_component *c,
                                    unsigned excluded, const void *a, const void *b, const void *d)
{
    (void)t;
    (void)c;
    (void)excluded;
    (void)a;
    (void)b;
    (void)d;
    note("enabled");
    return NULL;
}

static struct hwloc_disc_component cuda = {.name = "cuda",
                                           .phases = HWLOC_DISC_PHASE_IO,
                                           .excluded_phases = HWLOC_DISC_PHASE_GLOBAL,
                                           .instantiate = enable,
                                           .priority = 10,
                                           .enabled_by_default = 1};

#define PUBLIC __attribute__((visibility("default")))
extern PUBLIC const struct hwloc_component hwloc_cuda_component;

PUBLIC const struct hwloc_component hwloc_cuda_component = {
    .abi = HWLOC_COMPONENT_ABI,
    .type = HWLOC_COMPONENT_TYPE_DISC,
    .data = &cuda,
};
