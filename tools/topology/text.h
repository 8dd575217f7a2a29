/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text of others, names of machines and devices, on its way into a terminal, JSON or SVG: it may
 * hold anything, and what comes out is always well-formed. A byte that is no UTF-8 and a character
 * that XML or a terminal would choke on becomes U+FFFD.
 */
#ifndef TOPOLOGY_TEXT_H
#define TOPOLOGY_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_BAD 0xfffdu

/* The character at `text`, U+FFFD for what is none or may not be shown; its bytes in *len, at least
 * one. `text` does not end there. */
uint32_t text_char(const char *text, size_t *len);

/* Text for a terminal, for the inside of a JSON string, for XML (attributes, too). */
void text_plain(FILE *to, const char *text);
void text_json(FILE *to, const char *text);
void text_xml(FILE *to, const char *text);

/* "name": "text" for JSON, and then whatever follows. */
void json_text(FILE *to, const char *name, const char *text, const char *after);

/* "1.5 TiB", "80 GiB"; "" for 0. */
void text_bytes(uint64_t bytes, char *out, size_t cap);
/* "400 Gb/s"; "" for 0. */
void text_speed(uint32_t mbps, char *out, size_t cap);

#endif
