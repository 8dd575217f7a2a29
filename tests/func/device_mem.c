/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of memory of device.h. */
#include "device.h"
#include "foreign.h"

void mem_start(void)
{
    foreign_plug();
}

void *mem_new(int kind, size_t len)
{
    void *at = kind == DEVICE ? foreign_new(len) : malloc(len + 1);
    EXPECT(at != NULL);
    return at;
}

void mem_free(int kind, void *at)
{
    if (kind == DEVICE) {
        foreign_free(at);
    } else {
        free(at);
    }
}

void mem_put(int kind, void *to, const void *from, size_t len)
{
    if (kind == DEVICE) {
        foreign_put(to, from, len);
    } else {
        memcpy(to, from, len);
    }
}

void mem_get(int kind, void *to, const void *from, size_t len)
{
    if (kind == DEVICE) {
        foreign_get(to, from, len);
    } else {
        memcpy(to, from, len);
    }
}
