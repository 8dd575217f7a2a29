/* SPDX-License-Identifier: BSD-3-Clause */
/* png - writes a picture. Used by heat2d. */
#ifndef PNG_H
#define PNG_H

#include <stdint.h>

/* Writes `rgb`, width * height pixels of three bytes, row by row from the top. 0, or -1 with the
 * cause in errno. */
int png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb);

#endif
