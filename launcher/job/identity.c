/* SPDX-License-Identifier: BSD-3-Clause */
/* Random names and keys; see identity.h. Used by ctranrun.c, hosts/layout.c and
 * family/spawned.c. */
#include "config.h"
#include "launcher/job/identity.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/base.h"

void ct_job_make_id(char *out, size_t cap)
{
    uint32_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
        bits = (uint32_t)ct_clock_ns() ^ (uint32_t)getpid() << 8;
    }
    snprintf(out, cap, "%06x", bits & 0xffffff);
}

/* As many random bytes as `bytes` says, in hexadecimal digits; NULL: none. */
static char *random_hex(size_t bytes)
{
    uint8_t bits[32];
    char   *text = bytes <= sizeof bits ? malloc(2 * bytes + 1) : NULL;
    if (text == NULL || getrandom(bits, bytes, 0) != (ssize_t)bytes) {
        free(text);
        return NULL;
    }
    for (size_t i = 0; i < bytes; i++) {
        snprintf(text + 2 * i, 3, "%02x", bits[i]);
    }
    return text;
}

char *ct_job_make_name(const char *id)
{
    char *bits = random_hex(16), *name = NULL;
    if (bits == NULL || asprintf(&name, "ctran-%s-%s", id, bits) < 0) {
        name = NULL;
    }
    free(bits);
    return name;
}

char *ct_job_make_key(void)
{
    return random_hex(32);
}
