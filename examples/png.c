/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * png - the smallest PNG there is: a head, all pixels in one compressed chunk, an end. Source: PNG
 * specification (ISO/IEC 15948), sec. 5 and 11; zlib does the compression and the checksums.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "png.h"

/* Numbers are big-endian. */
static void put32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++) {
        to[i] = (uint8_t)(v >> (24 - 8 * i));
    }
}

/* Length, type, data, and a checksum of the last two. */
static void write_chunk(FILE *f, const char *type, const uint8_t *data, uint32_t len)
{
    uint8_t number[4];
    uLong   crc = crc32(crc32(0, NULL, 0), (const uint8_t *)type, 4);
    if (len > 0) {
        crc = crc32(crc, data, len);
    }
    put32(number, len);
    fwrite(number, 1, 4, f);
    fwrite(type, 1, 4, f);
    fwrite(data, 1, len, f);
    put32(number, (uint32_t)crc);
    fwrite(number, 1, 4, f);
}

/* Each row begins with a byte that says how it is filtered: 0, not at all. */
static uint8_t *pack(uint32_t width, uint32_t height, const uint8_t *rgb, uLong *packed_len)
{
    size_t   row = 3 * (size_t)width;
    uLong    len = (uLong)(height * (row + 1));
    uint8_t *rows = malloc(len), *packed = NULL;
    *packed_len = compressBound(len);
    for (size_t y = 0; rows != NULL && y < height; y++) {
        rows[y * (row + 1)] = 0;
        memcpy(rows + y * (row + 1) + 1, rgb + y * row, row);
    }
    if (rows != NULL && (packed = malloc(*packed_len)) != NULL &&
        compress(packed, packed_len, rows, len) != Z_OK) {
        free(packed);
        packed = NULL;
    }
    free(rows);
    return packed;
}

int png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb)
{
    uint8_t  head[13] = {[8] = 8 /* bits a sample */, [9] = 2 /* red, green, blue */};
    uLong    len;
    uint8_t *packed = pack(width, height, rgb, &len);
    FILE    *f = packed != NULL ? fopen(path, "wb") : NULL;
    int      failed = f == NULL;
    if (packed == NULL) {
        errno = ENOMEM;
    }
    if (f != NULL) {
        put32(head, width);
        put32(head + 4, height);
        fwrite("\x89PNG\r\n\x1a\n", 1, 8, f);
        write_chunk(f, "IHDR", head, sizeof head);
        write_chunk(f, "IDAT", packed, (uint32_t)len);
        write_chunk(f, "IEND", NULL, 0);
        failed = ferror(f);
        failed |= fclose(f) != 0;
    }
    free(packed);
    return failed ? -1 : 0;
}
