/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts that users write; see text.h. What is read may hold anything: all is bounded by its end. */
#include "topo/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Messages go to terminals: no byte of the text may steer one. */
static void make_plain(char *why)
{
    for (; *why != '\0'; why++) {
        *why = (unsigned char)*why < ' ' || *why == 0x7f ? '?' : *why;
    }
}

static int fail_file(struct ct_text *t, const char *path, const char *reason)
{
    (void)snprintf(t->why, t->cap, "%s: %s", path, reason);
    make_plain(t->why);
    ct_text_close(t);
    return CTRAN_ERR_ARG;
}

int ct_text_open_file(struct ct_text *t, const char *path, char *why, size_t cap)
{
    *t = (struct ct_text){.name = path, .why = why, .cap = cap};
    t->owned = malloc(CT_TEXT_MAX + 1);
    if (t->owned == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer ends at once */
    if (fd < 0) {
        return fail_file(t, path, strerror(errno));
    }
    size_t  len = 0;
    ssize_t n = 0;
    do {
        n = read(fd, t->owned + len, CT_TEXT_MAX + 1 - len);
        len += n > 0 ? (size_t)n : 0;
    } while ((n > 0 && len <= CT_TEXT_MAX) || (n < 0 && errno == EINTR));
    int error = errno;
    (void)close(fd);
    if (n < 0) {
        return fail_file(t, path, strerror(error));
    }
    if (len > CT_TEXT_MAX) {
        return fail_file(t, path, "the file is longer than 256 KiB");
    }
    if (memchr(t->owned, '\0', len) != NULL) {
        return fail_file(t, path, "the file is no text: it has a zero byte");
    }
    t->owned[len] = '\0';
    t->begin = t->at = t->owned;
    return CTRAN_SUCCESS;
}

int ct_text_open(struct ct_text *t, const char *name, const char *value, char *why, size_t cap)
{
    if (value[0] == '@') {
        return ct_text_open_file(t, value + 1, why, cap);
    }
    *t = (struct ct_text){.name = name, .begin = value, .at = value, .why = why, .cap = cap};
    return CTRAN_SUCCESS;
}

void ct_text_close(struct ct_text *t)
{
    free(t->owned);
    t->owned = NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct ct_word text_trimmed(const char *at, size_t len)
{
    while (len > 0 && is_blank(at[0])) {
        at++;
        len--;
    }
    while (len > 0 && is_blank(at[len - 1])) {
        len--;
    }
    return (struct ct_word){at, len};
}

bool ct_text_entry(struct ct_text *t, struct ct_word *entry)
{
    while (*t->at != '\0') {
        const char *from = t->at;
        size_t      len = strcspn(from, ";#\n");
        size_t      rest = from[len] == '#' ? strcspn(from + len, "\n") : 0;
        t->at = from + len + rest + (from[len + rest] != '\0');
        *entry = text_trimmed(from, len);
        if (entry->len > 0) {
            return true;
        }
    }
    return false;
}

bool ct_word_split(struct ct_word *rest, char mark, struct ct_word *part)
{
    if (rest->at == NULL) {
        return false;
    }
    const char *end = rest->len > 0 ? memchr(rest->at, mark, rest->len) : NULL;
    size_t      len = end != NULL ? (size_t)(end - rest->at) : rest->len;
    *part = text_trimmed(rest->at, len);
    *rest =
        end != NULL ? (struct ct_word){end + 1, rest->len - len - 1} : (struct ct_word){NULL, 0};
    return true;
}

bool ct_word_next(struct ct_word *rest, struct ct_word *word)
{
    struct ct_word w = text_trimmed(rest->at, rest->len);
    size_t         len = 0;
    bool           quoted = false;
    while (len < w.len && (quoted || !is_blank(w.at[len]))) {
        quoted ^= w.at[len++] == '"';
    }
    *word = (struct ct_word){w.at, len};
    *rest = (struct ct_word){w.at + len, w.len - len};
    return len > 0;
}

bool ct_word_is(struct ct_word w, const char *text)
{
    return strlen(text) == w.len && memcmp(w.at, text, w.len) == 0;
}

bool ct_word_number(struct ct_word w, uint64_t max, uint64_t *number)
{
    uint64_t n = 0;
    for (size_t i = 0; i < w.len; i++) {
        unsigned digit = (unsigned char)w.at[i] - '0';
        if (digit > 9 || n > max / 10 || n * 10 > max - digit) {
            return false;
        }
        n = n * 10 + digit;
    }
    *number = n;
    return w.len > 0;
}

bool ct_word_copy(struct ct_word w, char *out, size_t cap)
{
    if (w.len >= cap) {
        return false;
    }
    memcpy(out, w.at, w.len);
    memset(out + w.len, 0, cap - w.len);
    return true;
}

int ct_text_fail(const struct ct_text *t, const char *at, const char *fmt, ...)
{
    unsigned    line = 1;
    const char *start = t->begin;
    for (const char *c = t->begin; c < at; c++) {
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    }
    int n = snprintf(t->why, t->cap, "%s:%u:%u: ", t->name, line, (unsigned)(at - start) + 1);
    if (n > 0 && (size_t)n < t->cap) {
        va_list args;
        va_start(args, fmt);
        (void)vsnprintf(t->why + n, t->cap - (size_t)n, fmt, args);
        va_end(args);
    }
    make_plain(t->why);
    return CTRAN_ERR_ARG;
}
