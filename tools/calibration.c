/* SPDX-License-Identifier: BSD-3-Clause */
/* ctran_info --calibration; see calibration.h. */
#define CT_FOLDER "ctran_info"
#include "tools/calibration.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "node/node.h"

/* What would be read, and by whom. */
struct source {
    char key[CT_CALIBRATION_KEY], path[512];
    bool has_path;
};

static void find(struct source *s, struct ct_calibration *c, const struct ct_config *cfg)
{
    ct_calibration_guess(c);
    ct_caches_find(&c->caches);
    ct_calibration_key(&c->caches, s->key);
    s->has_path = ct_calibration_path(cfg, s->key, s->path, sizeof s->path);
}

static void print_figures(const struct ct_calibration *c)
{
    for (int i = 0; i < CT_FIGURES; i++) {
        const struct ct_figure_info *info = &ct_figure_info[i];
        printf("  %-20s %8" PRIu64 " %-8s  %-8s  %s\n", info->name, c->figure[i], info->unit,
               (c->measured >> i & 1) != 0 ? "measured" : "guess", info->help);
    }
    printf("  caches: %zu bytes nearest to a core, %zu of its own, %zu its share of the last\n",
           c->caches.near_bytes, c->caches.private_bytes, c->caches.share_bytes);
}

static void print_time(const struct ct_calibration *c)
{
    const time_t when = (time_t)c->when_s;
    struct tm    tm;
    char         text[64] = "at an unknown time";
    if (gmtime_r(&when, &tm) != NULL) {
        (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm);
    }
    printf("  measured %s\n", text);
}

bool calibration_show(const struct ct_config *cfg, const struct ct_log *log)
{
    struct source         s;
    struct ct_calibration c;
    char                  why[256];
    bool                  missing;
    (void)log;
    find(&s, &c, cfg);
    printf("machine %s\n", s.key);
    if (!s.has_path) {
        printf("  guesses: %s\n", strcmp(cfg->calibration, "off") == 0
                                      ? "CTRAN_CALIBRATION is off"
                                      : "there is no folder to keep figures in; set "
                                        "CTRAN_CALIBRATION to a file");
    } else if (ct_calibration_read(&c, s.path, s.key, &missing, why, sizeof why) == CTRAN_SUCCESS) {
        printf("  from %s\n", s.path);
        print_time(&c);
    } else {
        printf("  guesses: %s: %s; the end of the next job measures, or ctran_info --calibrate\n",
               s.path, missing ? "nothing was measured so far" : why);
    }
    print_figures(&c);
    return true;
}

bool calibration_measure(const struct ct_config *cfg, const struct ct_log *log)
{
    struct source         s;
    struct ct_calibration c;
    bool                  kept = false;
    find(&s, &c, cfg);
    ct_calibration_measure(&c);
    printf("machine %s\n", s.key);
    if (!s.has_path) {
        ct_error(log,
                 "the figures are not kept: CTRAN_CALIBRATION is \"%s\", and has to name a "
                 "file, or XDG_CACHE_HOME or HOME a folder",
                 cfg->calibration);
    } else if (ct_calibration_write(&c, s.path, s.key) != CTRAN_SUCCESS) {
        ct_error(log, "the figures are not kept: %s: %s", s.path, strerror(errno));
    } else {
        kept = true;
        printf("  kept in %s\n", s.path);
    }
    print_time(&c);
    print_figures(&c);
    return kept;
}
