/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading gzipped IDX files. Nothing in a file is believed: sizes are bounded, and the
 * file must end where its header says. */
#include "idx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

enum { TYPE_BYTE = 8, MAX_DIMS = 3, MAX_COUNT = 10000000, MAX_SIDE = 4096 };

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Exactly len bytes; -1 where the file ends before or is damaged. */
static int read_all(gzFile file, const char *path, uint8_t *to, size_t len)
{
    while (len > 0) {
        unsigned part = len < 1 << 20 ? (unsigned)len : 1 << 20;
        int      got = gzread(file, to, part);
        if (got <= 0) {
            int         code;
            const char *text = gzerror(file, &code);
            fprintf(stderr, "%s: %s, %zu bytes are missing\n", path,
                    got < 0 ? text : "the file is cut short", len);
            return -1;
        }
        to += got;
        len -= (size_t)got;
    }
    return 0;
}

static int read_header(gzFile file, const char *path, int dims, struct idx *out)
{
    uint8_t        header[4 + 4 * MAX_DIMS];
    const uint32_t want = TYPE_BYTE << 8 | (uint32_t)dims;
    if (read_all(file, path, header, 4 + 4 * (size_t)dims) != 0) {
        return -1;
    }
    if (big_endian(header) != want) {
        fprintf(stderr, "%s: magic number 0x%08x, expected 0x%08x: bytes in %d dimension%s\n", path,
                big_endian(header), want, dims, dims == 1 ? "" : "s");
        return -1;
    }
    out->count = big_endian(header + 4);
    out->rows = dims == 3 ? big_endian(header + 8) : 1;
    out->cols = dims == 3 ? big_endian(header + 12) : 1;
    if (out->count == 0 || out->count > MAX_COUNT || out->rows == 0 || out->rows > MAX_SIDE ||
        out->cols == 0 || out->cols > MAX_SIDE) {
        fprintf(stderr, "%s: the header says %zu elements of %zu x %zu, which is not credible\n",
                path, out->count, out->rows, out->cols);
        return -1;
    }
    return 0;
}

static int read_body(gzFile file, const char *path, struct idx *out)
{
    const size_t len = out->count * out->rows * out->cols;
    uint8_t      extra;
    out->data = malloc(len);
    if (out->data == NULL) {
        fprintf(stderr, "%s: no memory for %zu bytes\n", path, len);
        return -1;
    }
    if (read_all(file, path, out->data, len) != 0) {
        return -1;
    }
    const int got = gzread(file, &extra, 1); /* also compares the checksum */
    if (got != 0) {
        int code;
        fprintf(stderr, "%s: %s after the %zu bytes that its header says\n", path,
                got < 0 ? gzerror(file, &code) : "the file goes on", len);
        return -1;
    }
    return 0;
}

int idx_read(const char *dir, const char *name, int dims, struct idx *out)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    *out = (struct idx){0};
    gzFile file = gzopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    int rc = read_header(file, path, dims, out);
    if (rc == 0) {
        rc = read_body(file, path, out);
    }
    gzclose(file);
    if (rc != 0) {
        free(out->data);
        out->data = NULL;
    }
    return rc;
}
