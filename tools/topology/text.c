/* SPDX-License-Identifier: BSD-3-Clause */
/* Escaping; see text.h. Each writer walks over whole characters, so that none is cut in two. */
#include "tools/topology/text.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/base.h"

/* What no picture, terminal or XML 1.0 file may hold: controls, halves of pairs, marks that turn
 * the direction of what is around them (U+061C, 200E, 200F, 202A to 202E, 2066 to 2069). */
static bool is_bad(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff ||
           c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || (c & 0xfffe) == 0xfffe;
}

uint32_t text_char(const char *text, size_t *len)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char  *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    *len = 1;
    if (n == 0 || s[0] >= 0xf8) {
        return TEXT_BAD;
    }
    uint32_t c = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) { /* stops at the end of the text, too */
            return TEXT_BAD;
        }
        c = c << 6 | (s[i] & 0x3f);
    }
    *len = n;
    return c < least[n] || is_bad(c) ? TEXT_BAD : c;
}

/* The character as it came, or U+FFFD. */
static void put(FILE *to, uint32_t c, const char *text, size_t len)
{
    if (c == TEXT_BAD) {
        fputs("\xef\xbf\xbd", to);
    } else {
        fwrite(text, 1, len, to);
    }
}

void text_plain(FILE *to, const char *text)
{
    for (size_t len; *text != '\0'; text += len) {
        uint32_t c = text_char(text, &len);
        put(to, c, text, len);
    }
}

void text_json(FILE *to, const char *text)
{
    for (size_t len; *text != '\0'; text += len) {
        uint32_t c = text_char(text, &len);
        if (c == '"' || c == '\\') {
            fputc('\\', to);
        }
        if (c == TEXT_BAD && (unsigned char)*text < 0x20) { /* JSON has a word for these */
            fprintf(to, "\\u%04x", (unsigned char)*text);
        } else {
            put(to, c, text, len);
        }
    }
}

void text_xml(FILE *to, const char *text)
{
    for (size_t len; *text != '\0'; text += len) {
        uint32_t    c = text_char(text, &len);
        const char *entity = c == '<'    ? "&lt;"
                             : c == '>'  ? "&gt;"
                             : c == '&'  ? "&amp;"
                             : c == '"'  ? "&quot;"
                             : c == '\'' ? "&#39;"
                                         : NULL;
        if (entity != NULL) {
            fputs(entity, to);
        } else {
            put(to, c, text, len);
        }
    }
}

void json_text(FILE *to, const char *name, const char *text, const char *after)
{
    fprintf(to, "\"%s\": \"", name);
    text_json(to, text);
    fprintf(to, "\"%s", after);
}

void text_bytes(uint64_t bytes, char *out, size_t cap)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned                 unit = 0;
    double                   value = (double)bytes;
    while (value >= 1024 && unit + 1 < CT_ARRAY_LEN(units)) {
        value /= 1024;
        unit++;
    }
    int digits = value < 9.95 && (uint64_t)(value * 10 + 0.5) % 10 != 0;
    snprintf(out, cap, "%.*f %s", digits, value, units[unit]);
    if (bytes == 0) {
        snprintf(out, cap, "%s", "");
    }
}

void text_speed(uint32_t mbps, char *out, size_t cap)
{
    if (mbps == 0) {
        snprintf(out, cap, "%s", "");
    } else if (mbps < 1000) {
        snprintf(out, cap, "%" PRIu32 " Mb/s", mbps);
    } else {
        snprintf(out, cap, "%.*f Gb/s", mbps % 1000 != 0, (double)mbps / 1000);
    }
}
