/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctran_perf_rank - measures patterns at sizes; rank 0 prints
 *
 *     # library TEXT            what was measured
 *     # ranks N
 *     # cpus A B ...            the CPU of each rank, or "any" where it may use several
 *     PATTERN BYTES FIGURE UNIT ITERATIONS
 *
 * for ctran_perf to read. Run by hand: ctranrun -n 2 bench/ctran_perf_rank --sizes 8,1K latency bw.
 * The exit status is 1 when data arrived wrong.
 */
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf.h"

enum { MAX_SIZES = 64 };

static const char usage[] =
    "usage: ctran_perf_rank [options] [PATTERN...]\n"
    "  --sizes LIST      bytes, with K, M or G (1024 each): 0,8,1K,64K,1M\n"
    "  --time-ms MS      about how long to measure one size (10)\n"
    "  --batches N       in so many parts, whose median counts (5)\n"
    "  --window N        messages under way in bw, bibw and rate (64)\n"
    "  --memory KIND     of buffers: malloc, or alloc_mem, the call for it (malloc)\n"
    "  --touch           write messages before they are sent, and read what has come\n"
    "  --check           also look whether data arrives right\n"
    "  --copies          measure only the copies of the patterns' data\n"
    "  --list            print the patterns\n"
    "  --resident        what a rank takes in memory, in KiB\n"
    "  --spawn N         start N empty processes, no job\n";

struct options {
    size_t sizes[MAX_SIZES];
    int    nsizes, batches, window;
    double time_s;
    bool   check, resident, copies, alloc_mem, touch;
    char **patterns; /* ended by NULL */
};

static const char *const units[] = {"us", "MB/s", "kmsg/s"};

static int give_up(const char *what, const char *value)
{
    fprintf(stderr, "ctran_perf_rank: %s: %s\n%s", what, value, usage);
    return -1;
}

/* One size with its suffix; *end is what follows. Negative where there is none below 2 GiB, the
 * peers' counts being int. */
static long long parse_size(const char *text, char **end)
{
    static const char  suffixes[] = "KMG";
    unsigned long long v = strtoull(text, end, 10);
    const char        *suffix = **end != '\0' ? strchr(suffixes, **end) : NULL;
    if (*end == text || v > INT_MAX) {
        return -1;
    }
    if (suffix != NULL) {
        v <<= 10 * (suffix - suffixes + 1);
        ++*end;
    }
    return v > INT_MAX ? -1 : (long long)v;
}

/* "0,8,1K,2M" into sizes, or -1. */
static int parse_sizes(struct options *o, const char *text)
{
    char *end;
    for (o->nsizes = 0; o->nsizes < MAX_SIZES; text = end + 1) {
        long long v = parse_size(text, &end);
        if (v < 0 || (*end != ',' && *end != '\0')) {
            return -1;
        }
        o->sizes[o->nsizes++] = (size_t)v;
        if (*end == '\0') {
            return 0;
        }
    }
    return -1;
}

static const struct perf_pattern *find(const char *name)
{
    const struct perf_pattern *tables[] = {perf_pt2pt, perf_coll, perf_near, perf_onesided};
    for (int t = 0; t < 4; t++) {
        for (const struct perf_pattern *p = tables[t]; p->name != NULL; p++) {
            if (strcmp(p->name, name) == 0) {
                return p;
            }
        }
    }
    return NULL;
}

static void list(void)
{
    const struct perf_pattern *tables[] = {perf_pt2pt, perf_coll, perf_near, perf_onesided};
    for (int t = 0; t < 4; t++) {
        for (const struct perf_pattern *p = tables[t]; p->name != NULL; p++) {
            printf("%s %s %s\n", p->name, units[p->unit], p->sizeless ? "sizeless" : "sizes");
        }
    }
}

/* 0; -1 when the arguments are wrong; 1 when this was all and the program ends well, 2 when not. */
static int parse(int argc, char **argv, struct options *o)
{
    static const struct option names[] = {{"sizes", required_argument, NULL, 's'},
                                          {"time-ms", required_argument, NULL, 't'},
                                          {"batches", required_argument, NULL, 'b'},
                                          {"window", required_argument, NULL, 'w'},
                                          {"memory", required_argument, NULL, 'm'},
                                          {"check", no_argument, NULL, 'c'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"resident", no_argument, NULL, 'r'},
                                          {"spawn", required_argument, NULL, 'S'},
                                          {"nothing", no_argument, NULL, 'n'},
                                          {"copies", no_argument, NULL, 'C'},
                                          {"touch", no_argument, NULL, 'T'},
                                          {0}};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (c) {
        case 's':
            if (parse_sizes(o, optarg) != 0) {
                return give_up("not a list of sizes below 2G", optarg);
            }
            break;
        case 't':
            o->time_s = atof(optarg) * 1e-3;
            break;
        case 'b':
            o->batches = atoi(optarg);
            break;
        case 'w':
            o->window = atoi(optarg);
            break;
        case 'm':
            if (strcmp(optarg, "malloc") != 0 && strcmp(optarg, "alloc_mem") != 0) {
                return give_up("neither malloc nor alloc_mem", optarg);
            }
            o->alloc_mem = strcmp(optarg, "alloc_mem") == 0;
            break;
        case 'c':
            o->check = true;
            break;
        case 'C':
            o->copies = true;
            break;
        case 'T':
            o->touch = true;
            break;
        case 'l':
            list();
            return 1;
        case 'r':
            o->resident = true;
            break;
        case 'S':
            return perf_spawn("/proc/self/exe", atoi(optarg)) == 0 ? 1 : 2;
        case 'n':
            return 1;
        default:
            return give_up("unknown option", argv[optind - 1]);
        }
    }
    if (o->batches < 1 || o->batches > 1000 || o->window < 1 || o->window > 65536) {
        return give_up("out of range", "--batches (1 to 1000) or --window (1 to 65536)");
    }
    for (o->patterns = argv + optind; *o->patterns != NULL; o->patterns++) {
        if (find(*o->patterns) == NULL) {
            return give_up("no such pattern, see --list", *o->patterns);
        }
    }
    o->patterns = argv + optind;
    return 0;
}

/* The only CPU of this process, or -1. */
static int own_cpu(void)
{
    cpu_set_t set;
    int       cpu = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1) {
        return -1;
    }
    while (!CPU_ISSET(cpu, &set)) {
        cpu++;
    }
    return cpu;
}

static void print_head(const struct perf_job *job)
{
    char text[CTRAN_MAX_LIBRARY_VERSION_STRING];
    int  length, cpu = own_cpu(), cpus[job->size];
    ctran_get_library_version(text, &length);
    text[strcspn(text, "\n")] = '\0';
    ctran_gather(&cpu, 1, CTRAN_INT, cpus, 1, CTRAN_INT, 0, CTRAN_COMM_WORLD);
    if (job->rank != 0) {
        return;
    }
    printf("# library %s\n# ranks %d\n# cpus", text, job->size);
    for (int r = 0; r < job->size; r++) {
        printf(cpus[r] < 0 ? " any" : " %d", cpus[r]);
    }
    printf("\n");
}

static bool is_on_one_host(const struct perf_job *job)
{
    ctran_comm_t host;
    int          size, least;
    ctran_comm_split_type(CTRAN_COMM_WORLD, CTRAN_COMM_TYPE_SHARED, job->rank, CTRAN_INFO_NULL,
                          &host);
    ctran_comm_size(host, &size);
    ctran_comm_free(&host);
    ctran_allreduce(&size, &least, 1, CTRAN_INT, CTRAN_MIN, CTRAN_COMM_WORLD);
    return least == job->size;
}

static int ranks_to_core(const struct perf_job *job)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 && job->size > cores ? (int)((job->size + cores - 1) / cores) : 1;
}

/* Memory for as many buffers as ranks have on a core, up to more than its caches hold. */
static size_t room_for_all(size_t room, int turns)
{
    const size_t most = (size_t)64 << 20;
    const size_t all = room * (size_t)turns;
    return all <= most ? all : room > most ? room : most;
}

static void *get_buffer(const struct perf_job *job)
{
    void *buf = NULL;
    if (!job->alloc_mem) {
        return aligned_alloc(4096, job->room);
    }
    int rc = ctran_alloc_mem((ptrdiff_t)job->room, CTRAN_INFO_NULL, &buf);
    return rc == CTRAN_SUCCESS ? buf : NULL;
}

static void put_buffer(const struct perf_job *job, void *buf)
{
    if (job->alloc_mem) {
        ctran_free_mem(buf);
    } else {
        free(buf);
    }
}

/* Buffers for the largest size, every page written. */
static bool prepare(struct perf_job *job, const struct options *o)
{
    size_t room = 64;
    for (int i = 0; i < o->nsizes; i++) {
        room = o->sizes[i] > room ? o->sizes[i] : room;
    }
    const size_t places = o->touch ? perf_places_bytes(room, o->window) : 0;
    room *= (size_t)(job->size > PERF_NEAR ? job->size : PERF_NEAR);
    room = room > places ? room : places;
    job->turns = o->copies ? ranks_to_core(job) : 1;
    job->room = (room_for_all(room, job->turns) + 4095) & ~(size_t)4095;
    job->window = o->window;
    job->touch = o->touch;
    job->alloc_mem = o->alloc_mem;
    job->sbuf = get_buffer(job);
    job->rbuf = get_buffer(job);
    job->requests = calloc((size_t)o->window * 2 + 1, sizeof *job->requests);
    job->counts = calloc((size_t)job->size, sizeof *job->counts);
    job->displs = calloc((size_t)job->size, sizeof *job->displs);
    if (!job->sbuf || !job->rbuf || !job->requests || !job->counts || !job->displs) {
        return false;
    }
    memset(job->sbuf, 1, job->room);
    memset(job->rbuf, 2, job->room);
    return perf_near_open(job);
}

static void finish(struct perf_job *job)
{
    perf_near_close(job);
    perf_window_close(job);
    put_buffer(job, job->sbuf);
    put_buffer(job, job->rbuf);
    free(job->requests);
    free(job->counts);
    free(job->displs);
}

/* Whether the pattern means something at this size and number of ranks. */
static bool has_size(const struct perf_job *job, size_t bytes)
{
    const struct perf_pattern *p = job->pattern;
    if (p->one_sided && (job->size < 2 || (bytes == 0 && !p->sizeless))) {
        return false;
    }
    if (p->pairs) {
        return job->size > 1 && (bytes > 0 || p->unit != PERF_MB_S);
    }
    return p->sizeless || (bytes > 0 && (p->combine == PERF_MOVES || bytes % sizeof(float) == 0));
}

static void set_size(struct perf_job *job, size_t bytes)
{
    size_t of_one = job->pattern->combine != PERF_MOVES ? sizeof(float) : 1;
    job->bytes = bytes;
    for (int r = 0; r < job->size; r++) {
        job->counts[r] = (ctran_count_t)(bytes / of_one);
        job->displs[r] = job->counts[r] * r;
    }
}

/* false when data arrived wrong. */
static bool measure(struct perf_job *job, const struct options *o)
{
    bool right = true;
    long iterations;
    int  nsizes = job->pattern->sizeless ? 1 : o->nsizes;
    if (job->pattern->one_sided && !perf_window_open(job)) {
        return false;
    }
    for (int i = 0; i < nsizes; i++) {
        size_t bytes = job->pattern->sizeless ? 0 : o->sizes[i];
        if (!has_size(job, bytes)) {
            continue;
        }
        set_size(job, bytes);
        double figure = perf_measure(job, o->time_s, o->batches, &iterations);
        right &= !o->check || (job->pattern->one_sided ? perf_window_check(job) : perf_check(job));
        if (job->rank == 0) {
            printf("%s %zu %.6g %s %ld\n", job->pattern->name, job->bytes, figure,
                   units[job->pattern->unit], iterations);
            fflush(stdout);
        }
    }
    return right;
}

int main(int argc, char **argv)
{
    struct options  o = {.sizes = {8}, .nsizes = 1, .batches = 5, .window = 64, .time_s = 0.01};
    struct perf_job job = {0};
    bool            right = true;
    int             early = parse(argc, argv, &o);
    if (early != 0) {
        return early == 1 ? 0 : 2;
    }
    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return 1;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &job.rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &job.size);
    if (o.resident) {
        right = perf_resident(&job);
        print_head(&job);
        return ctran_finalize() == CTRAN_SUCCESS && right ? 0 : 1;
    }
    if (*o.patterns == NULL) { /* a job that only starts and ends */
        ctran_barrier(CTRAN_COMM_WORLD);
        return ctran_finalize() == CTRAN_SUCCESS ? 0 : 1;
    }
    if (!prepare(&job, &o)) {
        fprintf(stderr, "ctran_perf_rank: out of memory\n");
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
    print_head(&job);
    job.one_host = is_on_one_host(&job);
    for (char **name = o.patterns; *name != NULL; name++) {
        struct perf_pattern floor;
        job.pattern = find(*name);
        if (o.copies) {
            if (!perf_floor(job.pattern, &floor)) {
                continue;
            }
            job.pattern = &floor;
        }
        right &= measure(&job, &o);
    }
    finish(&job);
    return ctran_finalize() == CTRAN_SUCCESS && right ? 0 : 1;
}
