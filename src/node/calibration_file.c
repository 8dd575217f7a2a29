/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the figures of calibration.h are kept, and how the processes of a host come to one copy.
 * The shared copy has four states: not taken, one process loads it, it is there, or all use the
 * guesses, since the process that loads took too long. The last two stay.
 */
#define CT_FOLDER "node"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctran.h"
#include "node/calibration.h"

enum { NOBODY, LOADING, THERE, GUESSES };

static const char automatic[] = "auto", off[] = "off";

/* ---- the file -------------------------------------------------------------------------------- */

bool ct_calibration_path(const struct ct_config *cfg, const char *key, char *out, size_t cap)
{
    const char    *set = cfg->calibration, *cache = ct_config_foreign("XDG_CACHE_HOME");
    const char    *home = ct_config_foreign("HOME");
    const uint64_t digest = ct_fnv1a(CT_FNV1A_START, key, strlen(key));
    int            n;
    if (set[0] == '\0' || strcmp(set, off) == 0) {
        return false;
    }
    if (strcmp(set, automatic) != 0) {
        n = snprintf(out, cap, "%s", set);
    } else if (cache != NULL && cache[0] == '/') {
        n = snprintf(out, cap, "%s/ctran/calibration-%016" PRIx64, cache, digest);
    } else if (home != NULL && home[0] == '/') {
        n = snprintf(out, cap, "%s/.cache/ctran/calibration-%016" PRIx64, home, digest);
    } else {
        return false;
    }
    return n >= 0 && (size_t)n < cap;
}

int ct_calibration_read(struct ct_calibration *c, const char *path, const char *key, bool *missing,
                        char *why, size_t cap)
{
    char *text = ct_textfile_read(path, CT_CALIBRATION_TEXT);
    *missing = text == NULL && errno == ENOENT;
    if (text == NULL) {
        snprintf(why, cap, "%s", ct_textfile_why(errno));
        return CTRAN_ERR_CONFIG;
    }
    const int rc = ct_calibration_parse(c, text, key, why, cap);
    free(text);
    return rc;
}

/* The folder that the path ends in, and one above it: HOME/.cache may be missing as well. */
static void make_folders(const char *path)
{
    char  folder[512];
    char *ends[2];
    if (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        ends[i] = strrchr(folder, '/');
        if (ends[i] == NULL || ends[i] == folder) {
            return;
        }
        *ends[i] = '\0';
    }
    (void)mkdir(folder, 0700); /* if it cannot be made there is no file */
    *ends[1] = '/';
    (void)mkdir(folder, 0700);
}

static bool write_all(int fd, const char *text, size_t len)
{
    const ssize_t n = write(fd, text, len); /* to a regular file: all, or there is no room */
    if (n >= 0 && (size_t)n < len) {
        errno = ENOSPC;
    }
    return n == (ssize_t)len;
}

int ct_calibration_write(const struct ct_calibration *c, const char *path, const char *key)
{
    char         text[CT_CALIBRATION_TEXT], name[576];
    const size_t len = ct_calibration_format(c, key, text, sizeof text);
    if (len == 0 || snprintf(name, sizeof name, "%s.XXXXXX", path) >= (int)sizeof name) {
        errno = ENAMETOOLONG;
        return CTRAN_ERR_SYSTEM;
    }
    make_folders(path);
    const int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0) {
        return CTRAN_ERR_SYSTEM;
    }
    const bool good = write_all(fd, text, len);
    int        why = errno;
    if ((close(fd) != 0 && good) || !good || rename(name, path) != 0) {
        why = good ? errno : why;
        (void)unlink(name);
        errno = why;
        return CTRAN_ERR_SYSTEM;
    }
    return CTRAN_SUCCESS;
}

/* Whether a machine of several cores was too busy for the figures that take two, a day ago or more.
 */
static bool is_poor(const struct ct_calibration *c)
{
    enum { DAY_S = 24 * 60 * 60 };
    const uint32_t lines = UINT32_C(1) << CT_FIGURE_line_near_ns | UINT32_C(1)
                                                                       << CT_FIGURE_line_remote_ns;
    return (c->measured & lines) == 0 && sysconf(_SC_NPROCESSORS_ONLN) > 1 &&
           time(NULL) - c->when_s > DAY_S;
}

bool ct_calibration_load(struct ct_calibration *c, const struct ct_config *cfg,
                         const struct ct_log *log)
{
    char key[CT_CALIBRATION_KEY], path[512], why[256];
    bool missing;
    ct_calibration_guess(c);
    ct_caches_find(&c->caches);
    ct_calibration_key(&c->caches, key);
    if (!ct_calibration_path(cfg, key, path, sizeof path)) {
        return false;
    }
    if (ct_calibration_read(c, path, key, &missing, why, sizeof why) == CTRAN_SUCCESS) {
        return is_poor(c);
    }
    if (!missing && strcmp(cfg->calibration, automatic) != 0) {
        ct_warn(log,
                "CTRAN_CALIBRATION=\"%s\" is not used: %s; it is measured anew when the job ends, "
                "or now by ctran_info --calibrate",
                path, why);
    } else if (!missing) {
        ct_info(log, "%s is not used: %s; it is measured anew when the job ends", path, why);
    }
    return true;
}

void ct_calibration_renew(const struct ct_config *cfg, const struct ct_log *log)
{
    char                  key[CT_CALIBRATION_KEY], path[512];
    struct ct_calibration c;
    ct_calibration_guess(&c);
    ct_caches_find(&c.caches);
    ct_calibration_key(&c.caches, key);
    if (!ct_calibration_path(cfg, key, path, sizeof path)) {
        return;
    }
    ct_calibration_measure(&c);
    if (ct_calibration_write(&c, path, key) != CTRAN_SUCCESS) {
        ct_info(log, "cannot keep what this machine's memory costs in %s: %s", path,
                strerror(errno));
    }
}

/* ---- one copy a host ------------------------------------------------------------------------- */

static bool calibration_file_change(struct ct_calibration_shared *s, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&s->state, &from, to, memory_order_seq_cst,
                                                   memory_order_seq_cst);
}

static uint32_t state_of(struct ct_calibration_shared *s)
{
    return atomic_load_explicit(&s->state, memory_order_seq_cst);
}

/* The first process's part. If the others have given up by now it uses guesses, as they do. */
static bool calibration_file_bring(struct ct_calibration_shared *s, const struct ct_config *cfg,
                                   const struct ct_log *log, struct ct_calibration *out)
{
    const bool renews = ct_calibration_load(&s->figures, cfg, log);
    *out = s->figures;
    if (!calibration_file_change(s, LOADING, THERE)) {
        ct_calibration_guess(out);
    }
    ct_wake_signal(&s->wake);
    return renews;
}

static void calibration_file_await(struct ct_calibration_shared *s, uint32_t limit_ms)
{
    const uint64_t end_ns = ct_clock_ns() + limit_ms * (uint64_t)CT_NS_PER_MS;
    uint64_t       now;
    while (state_of(s) == LOADING && (now = ct_clock_ns()) < end_ns) {
        ct_wake_announce(&s->wake);
        if (state_of(s) == LOADING) {
            ct_wake_sleep(&s->wake, end_ns - now);
        }
    }
}

bool ct_calibration_share(struct ct_calibration_shared *s, const struct ct_config *cfg,
                          const struct ct_log *log, uint32_t limit_ms, struct ct_calibration *out)
{
    if (s != NULL && calibration_file_change(s, NOBODY, LOADING)) {
        return calibration_file_bring(s, cfg, log, out);
    }
    ct_calibration_guess(out);
    if (s != NULL) {
        calibration_file_await(s, limit_ms);
        (void)calibration_file_change(s, LOADING, GUESSES);
        if (state_of(s) == THERE) {
            *out = s->figures;
        }
    }
    return false;
}
