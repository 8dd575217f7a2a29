/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calibration: what this machine's memory and kernel cost, as thresholds are derived from. Each
 * figure begins as a built-in guess. One process of a host measures them, once for each kind of
 * machine, and keeps them in a file of the user's cache folder.
 *
 * Who measures: ctran_info --calibrate when it is asked to; else, where the file is missing or of
 * no use, the first process of a host when it leaves its job. The ranks of the host are through
 * then, so the cores are free and no rank waits for the about 30 ms that this takes. A start reads
 * one small file, in one process of the host.
 *
 * The figures of a job are one copy a host: the first process that comes puts them into memory that
 * all share (ct_calibration_share), and they stay the same until the job ends. So ranks of one host
 * may choose by them what all have to choose alike. Ranks of different hosts may not.
 *
 * The file is a text; ctran-calibration(7) has its format. A file that is damaged, of another
 * machine or of another version is refused as a whole. It is written under another name and
 * renamed, so readers see a whole file.
 */
#ifndef CT_NODE_CALIBRATION_H
#define CT_NODE_CALIBRATION_H

#include "base/base.h"
#include "node/caches.h"

/* FIGURE(name, unit, guess, least, most, help). Bounds refuse what no machine has. */
#define CT_CALIBRATION_MAP(FIGURE)                                                                 \
    FIGURE(line_near_ns, "ns", 60, 1, 100000,                                                      \
           "a cache line from the core that wrote it to one that shares its last cache")           \
    FIGURE(line_remote_ns, "ns", 150, 1, 100000,                                                   \
           "a cache line from the core that wrote it to one of another cache")                     \
    FIGURE(pause_ns, "ns", 15, 1, 10000, "one pause of a loop that polls")                         \
    FIGURE(copy_near, "bytes/us", 40000, 10, 10000000, "copies within the nearest cache")          \
    FIGURE(copy_private, "bytes/us", 20000, 10, 10000000, "copies within a core's own caches")     \
    FIGURE(copy_memory, "bytes/us", 8000, 10, 10000000, "copies larger than a core's caches")      \
    FIGURE(kernel_copy_ns, "ns", 700, 10, 1000000,                                                 \
           "a few bytes of another process by the kernel (process_vm_readv)")                      \
    FIGURE(kernel_copy_private, "bytes/us", 10000, 10, 10000000,                                   \
           "copies by the kernel within a core's own caches")                                      \
    FIGURE(kernel_copy_memory, "bytes/us", 6000, 10, 10000000,                                     \
           "copies by the kernel larger than a core's caches")                                     \
    FIGURE(attach_ns, "ns", 6000, 100, 100000000, "attaching a range of another process")          \
    FIGURE(attach_page_ns, "ns", 300, 10, 1000000, "the first access to a page of that range")     \
    FIGURE(wake_ns, "ns", 5000, 100, 1000000, "from waking a sleeper (futex) to its next step")    \
    FIGURE(switch_ns, "ns", 700, 50, 1000000, "giving a core to another thread (sched_yield)")     \
    FIGURE(syscall_ns, "ns", 150, 5, 100000, "a system call that does nothing")

enum ct_figure {
#define FIGURE(name, unit, guess, least, most, help) CT_FIGURE_##name,
    CT_CALIBRATION_MAP(FIGURE)
#undef FIGURE
        CT_FIGURES
};

struct ct_figure_info {
    const char *name, *unit, *help;
    uint64_t    guess, least, most;
};
extern const struct ct_figure_info ct_figure_info[CT_FIGURES];

enum ct_calibration_origin {
    CT_CALIBRATION_GUESS,    /* no figure was measured */
    CT_CALIBRATION_MEASURED, /* by this process, just now */
    CT_CALIBRATION_FILE,     /* earlier */
};

/* Flat: it may lie in shared memory. */
struct ct_calibration {
    uint64_t                   figure[CT_FIGURES];
    uint32_t                   measured; /* bits 1 << enum ct_figure; the others are guesses */
    enum ct_calibration_origin origin;
    int64_t                    when_s; /* of the measurement, since 1970 */
    struct ct_caches           caches;
};

/* ---- what is derived from figures ------------------------------------------------------------ */

/* What a sleep costs that ends at once, for the length of waits that come before it. A machine that
 * was busy when it was measured says too much: no more than some guesses is believed. */
static inline uint64_t ct_calibration_wake_ns(const struct ct_calibration *c)
{
    enum { LEAST_NS = 1000, MOST_NS = 20000 };
    const uint64_t ns = c->figure[CT_FIGURE_wake_ns];
    return ns < LEAST_NS ? LEAST_NS : ns > MOST_NS ? MOST_NS : ns;
}

/* The least cost of giving up a core and getting it back, by the same rule. */
static inline uint64_t ct_calibration_switch_ns(const struct ct_calibration *c)
{
    enum { LEAST_NS = 200, MOST_NS = 3000 };
    const uint64_t ns = c->figure[CT_FIGURE_switch_ns];
    return ns < LEAST_NS ? LEAST_NS : ns > MOST_NS ? MOST_NS : ns;
}

/* A cache line between any two cores of the machine. */
static inline uint64_t ct_calibration_line_ns(const struct ct_calibration *c)
{
    const bool remote = (c->measured >> CT_FIGURE_line_remote_ns & 1) != 0;
    return c->figure[remote ? CT_FIGURE_line_remote_ns : CT_FIGURE_line_near_ns];
}

/* Polls with a pause in between that take as long as so many lines from core to core; bounded. */
static inline uint32_t ct_calibration_polls(const struct ct_calibration *c, uint32_t lines)
{
    enum { LEAST = 16, MOST = 4096 };
    const uint64_t n = lines * ct_calibration_line_ns(c) / c->figure[CT_FIGURE_pause_ns];
    return n < LEAST ? LEAST : n > MOST ? MOST : (uint32_t)n;
}

/* Bytes that come from another core in the time of a switch between two processes of one core, a
 * few lines being under way at a time. */
static inline uint64_t ct_calibration_switch_bytes(const struct ct_calibration *c)
{
    enum { AT_A_TIME = 4 };
    return (uint64_t)AT_A_TIME * CT_CACHE_LINE * ct_calibration_switch_ns(c) /
           ct_calibration_line_ns(c);
}

/* ---- making and keeping ---------------------------------------------------------------------- */

enum { CT_CALIBRATION_KEY = 256, CT_CALIBRATION_TEXT = 4096 };

/* The guesses: what serves until something better is known. */
void ct_calibration_guess(struct ct_calibration *c);

/* A line that is equal on equal machines under equal kernels and versions of ctran: processor,
 * cores, caches, kernel, version. */
void ct_calibration_key(const struct ct_caches *caches, char out[CT_CALIBRATION_KEY]);

/* The measured figures as a file's text. Returns its length; 0: it does not fit. */
size_t ct_calibration_format(const struct ct_calibration *c, const char *key, char *out,
                             size_t cap);
/* Sets figures, `measured`, when_s and origin by a file's text. CTRAN_ERR_CONFIG with the reason in
 * `why`, and *c unchanged: the text is not one that _format makes, or has another key. */
int ct_calibration_parse(struct ct_calibration *c, const char *text, const char *key, char *why,
                         size_t cap);

/* Where figures are kept: the file that CTRAN_CALIBRATION names, else one in XDG_CACHE_HOME/ctran
 * or HOME/.cache/ctran, for this key. False: nowhere, since there is no such folder or
 * CTRAN_CALIBRATION is "off". */
bool ct_calibration_path(const struct ct_config *cfg, const char *key, char *out, size_t cap);
/* The file at `path` into *c, which holds guesses. CTRAN_ERR_CONFIG with the reason in `why`: it
 * cannot be read or is refused; *missing: there is none. */
int ct_calibration_read(struct ct_calibration *c, const char *path, const char *key, bool *missing,
                        char *why, size_t cap);
/* Writes the file, and the last folder of its path if need be. CTRAN_ERR_SYSTEM with errno. */
int ct_calibration_write(const struct ct_calibration *c, const char *path, const char *key);

/* Guesses, the caches of this machine, and what the user's file has. A file that is refused is told
 * of at level info, one that CTRAN_CALIBRATION names at level warn. Returns whether the figures are
 * worth measuring: the file is missing or refused, and may be written. */
bool ct_calibration_load(struct ct_calibration *c, const struct ct_config *cfg,
                         const struct ct_log *log);

/* Measures all figures that this machine lets it measure, in some 30 ms, or some 100 beside other
 * programs. It starts and ends threads, and needs 32 MiB for a moment. What cannot be measured
 * stays a guess. */
void ct_calibration_measure(struct ct_calibration *c);
/* Measures and writes the user's file. Errors are told of at level info: the next job tries. */
void ct_calibration_renew(const struct ct_config *cfg, const struct ct_log *log);

/* In memory that the processes of a host share; it begins as zeros. */
struct ct_calibration_shared {
    _Atomic uint32_t      state; /* see calibration_file.c */
    struct ct_wake        wake;
    struct ct_calibration figures;
};

/* The figures of all: loads them where this process is the first. Where the first one takes longer
 * than limit_ms, all use the guesses. NULL: there is no such memory, and guesses serve. Returns
 * whether this process is to call ct_calibration_renew at the end. */
enum { CT_CALIBRATION_SHARE_MS = 1000 };
bool ct_calibration_share(struct ct_calibration_shared *s, const struct ct_config *cfg,
                          const struct ct_log *log, uint32_t limit_ms, struct ct_calibration *out);

#endif
