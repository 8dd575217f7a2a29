/* SPDX-License-Identifier: BSD-3-Clause */
/* The caches as /sys has them; see caches.h. Called once a process. */
#include "node/caches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/textfile.h"
#include "base/util.h"

size_t ct_cache_share_of(const char *size, const char *cpus)
{
    char        *unit;
    const size_t number = strtoul(size, &unit, 10), most = (size_t)CT_CACHE_MOST_SHARE;
    const size_t bytes = *unit == 'K' ? number << 10 : *unit == 'M' ? number << 20 : number;
    size_t       sharing = 0;
    for (; *cpus != '\0'; cpus++) {
        const char digit[] = {*cpus, '\0'};
        sharing += (size_t)__builtin_popcountl(strtoul(digit, NULL, 16));
    }
    return sharing > 0 ? ct_min_size(bytes / sharing, most) : 0;
}

/* The text of a file of a cache of the first processor, which the caller frees; NULL: there is
 * none. */
static char *read_of(unsigned index, const char *name)
{
    enum { MOST = 8192 };
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%u/%s", index, name);
    return ct_textfile_read(path, MOST);
}

/* Caches of instructions alone are passed over. Deeper ones have higher indices. */
static bool find_cache(unsigned index, struct ct_caches *out)
{
    char      *level = read_of(index, "level"), *type = read_of(index, "type");
    char      *size = read_of(index, "size"), *cpus = read_of(index, "shared_cpu_map");
    const bool there = level != NULL && type != NULL && size != NULL && cpus != NULL;
    if (there && type[0] != 'I') {
        const size_t   share = ct_cache_share_of(size, cpus);
        const unsigned depth = (unsigned)strtoul(level, NULL, 10);
        *(depth == 1   ? &out->near_bytes
          : depth == 2 ? &out->private_bytes
                       : &out->share_bytes) = share;
    }
    free(level);
    free(type);
    free(size);
    free(cpus);
    return there;
}

void ct_caches_find(struct ct_caches *out)
{
    enum { MOST_CACHES = 8 };
    *out = (struct ct_caches){.share_bytes = 0};
    for (unsigned i = 0; i < MOST_CACHES && find_cache(i, out); i++) {
    }
    out->near_bytes = out->near_bytes > 0 ? out->near_bytes : CT_CACHE_NEAR;
    out->private_bytes = ct_max_size(out->private_bytes > 0 ? out->private_bytes : CT_CACHE_PRIVATE,
                                     out->near_bytes);
}
