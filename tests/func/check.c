/* SPDX-License-Identifier: BSD-3-Clause */
/* check - the parts of check.h that are no macros. */
#include "check.h"

#include <stdarg.h>

#include "foreign.h"

static const char *check_subject = "start";
int                check_rank = -1, check_size = 0;
uint64_t           check_seed = 1;

void check_fail(const char *file, int line, const char *fmt, ...)
{
    char    text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s:%d: rank %d of %d, %s, seed %" PRIu64 ": %s\n", file, line, check_rank,
            check_size, check_subject, check_seed, text);
    fflush(NULL);
    ctran_abort(CTRAN_COMM_WORLD, 1);
    _Exit(1);
}

void check_errors_return(void)
{
    EXPECT(setenv("CTRAN_INITIAL_ERRHANDLER", "return", 1) == 0);
}

void check_eq(const char *file, int line, const char *what, long long wanted, long long found)
{
    if (wanted != found) {
        check_fail(file, line, "%s: wanted %lld, found %lld", what, wanted, found);
    }
}

void check_rc(const char *file, int line, const char *call, int wanted, int found)
{
    if (wanted != found) {
        char a[CTRAN_MAX_ERROR_STRING] = "?", b[CTRAN_MAX_ERROR_STRING] = "?";
        int  len;
        (void)ctran_error_string(wanted, a, &len); /* "?" stays for what is no code */
        (void)ctran_error_string(found, b, &len);
        check_fail(file, line, "%s: wanted %d (%s), found %d (%s)", call, wanted, a, found, b);
    }
}

void check_status(const char *file, int line, const ctran_status_t *status, int source, int tag,
                  size_t bytes)
{
    ctran_count_t count = -1;
    check_eq(file, line, "status source", source, status->CTRAN_SOURCE);
    check_eq(file, line, "status tag", tag, status->CTRAN_TAG);
    check_rc(file, line, "ctran_get_count", CTRAN_SUCCESS,
             ctran_get_count(status, CTRAN_BYTE, &count));
    check_eq(file, line, "status bytes", (long long)bytes, (long long)count);
}

void content_fill(void *buf, size_t len, uint64_t key)
{
    size_t at = 0;
    for (; at + 8 <= len; at += 8) {
        uint64_t word = content_word(key, at / 8);
        memcpy((char *)buf + at, &word, 8);
    }
    if (at < len) {
        uint64_t word = content_word(key, at / 8);
        memcpy((char *)buf + at, &word, len - at);
    }
}

bool content_is(const void *buf, size_t len, uint64_t key, size_t *bad)
{
    size_t at = 0;
    for (; at < len; at += 8) {
        uint64_t     wanted = content_word(key, at / 8), found = 0;
        const size_t part = len - at < 8 ? len - at : 8;
        if (part < 8) {
            memcpy(&found, (const char *)buf + at, part);
            memset((char *)&wanted + part, 0, 8 - part);
        } else {
            memcpy(&found, (const char *)buf + at, 8);
        }
        if (wanted != found) {
            *bad = at;
            return false;
        }
    }
    return true;
}

void check_content(const char *file, int line, const void *buf, size_t len, uint64_t key)
{
    size_t bad;
    if (!content_is(buf, len, key, &bad)) {
        uint64_t wanted = content_word(key, bad / 8), found = 0;
        memcpy(&found, (const char *)buf + bad, len - bad < 8 ? len - bad : 8);
        check_fail(file, line,
                   "content of %zu bytes: wanted %016" PRIx64 " at %zu, found %016" PRIx64, len,
                   wanted, bad, found);
    }
}

void *guarded_new(size_t len)
{
    unsigned char *base = malloc(len + 2 * CANARY_BYTES);
    if (base == NULL) {
        check_fail(__FILE__, __LINE__, "no memory for %zu bytes", len);
    }
    memset(base, CANARY, len + 2 * CANARY_BYTES);
    return base + CANARY_BYTES;
}

/* Compared with itself one byte on, which takes no time, whatever this is compiled with. */
static bool all_canaries(const unsigned char *p, size_t n)
{
    return p[0] == CANARY && memcmp(p, p + 1, n - 1) == 0;
}

void check_guarded(const char *file, int line, const void *buf, size_t len, size_t written)
{
    const unsigned char *p = buf;
    EXPECT(written <= len);
    for (size_t i = 0; i < CANARY_BYTES; i++) {
        if (p[-1 - (ptrdiff_t)i] != CANARY) {
            check_fail(file, line, "%zu bytes before a buffer: wanted %02x, found %02x", i + 1,
                       CANARY, p[-1 - (ptrdiff_t)i]);
        }
    }
    if (all_canaries(p + written, len - written + CANARY_BYTES)) {
        return;
    }
    for (size_t i = written; i < len + CANARY_BYTES; i++) {
        if (p[i] != CANARY) {
            check_fail(file, line,
                       "byte %zu, after the %zu of a message in a buffer of %zu: "
                       "wanted %02x, found %02x",
                       i, written, len, CANARY, p[i]);
        }
    }
}

void guarded_reset(void *buf, size_t len)
{
    memset(buf, CANARY, len);
}

void guarded_free(void *buf)
{
    free((unsigned char *)buf - CANARY_BYTES);
}

bool check_quick(void)
{
    const char *quick = getenv("CT_CHECK_QUICK");
    return quick != NULL && strcmp(quick, "1") == 0;
}

size_t size_setting(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    if (text == NULL || *text == '\0') {
        return otherwise;
    }
    char  *end;
    size_t size = strtoull(text, &end, 0);
    size_t unit = *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : *end == 'G' ? 1 << 30 : 1;
    return size * unit;
}

void check_start_threads(int argc, char **argv, int level)
{
    int         provided = -1;
    const char *seed = argc > 1 ? argv[1] : getenv("CT_SEED");
    check_seed = seed != NULL ? strtoull(seed, NULL, 0) : 1;
    OK(ctran_init_thread(&argc, &argv, level, &provided));
    EXPECT_EQ(level, provided);
    OK(ctran_comm_rank(CTRAN_COMM_WORLD, &check_rank));
    OK(ctran_comm_size(CTRAN_COMM_WORLD, &check_size));
    EXPECT(check_rank >= 0 && check_rank < check_size);
    foreign_from_environment();
}

void check_start(int argc, char **argv)
{
    check_start_threads(argc, argv, CTRAN_THREAD_SINGLE);
}

void check_run(const struct subject *subjects, size_t count)
{
    const char *only = getenv("CT_ONLY");
    for (size_t i = 0; i < count; i++) {
        if (only != NULL && strstr(subjects[i].name, only) == NULL) {
            continue;
        }
        check_subject = subjects[i].name;
        if (getenv("CT_VERBOSE") != NULL && check_rank == 0) {
            fprintf(stderr, "%8.3f %s\n", ctran_wtime(), check_subject);
        }
        subjects[i].run();
    }
    check_subject = "the end";
}

int check_end(void)
{
    OK(ctran_finalize());
    return 0;
}
