/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hardware - communicators by hardware: who comes together under each name, for ranks that are
 * bound or not, against what the kernel says of CPUs; which names there are; and how often the
 * machine was read. For one host. Usage: hardware [SEED]; HARDWARE=loose takes odd ranks' binding.
 */
#include <glob.h>
#include <sched.h>

#include "check.h"

/* Kinds from large to small, as a list of the CPUs of each object, which is asked for each CPU. */
enum { PACKAGE, DIE, NUMA, L3, L2, L1, CORE, PU, KINDS };
static const char *const names[KINDS] = {"hwloc://Package", "hwloc://Die",     "hwloc://NUMANode",
                                         "hwloc://L3Cache", "hwloc://L2Cache", "hwloc://L1Cache",
                                         "hwloc://Core",    "hwloc://PU"};

/* ---- what the kernel says -------------------------------------------------------------------- */

static bool read_line(const char *path, char *out, int cap)
{
    FILE *file = fopen(path, "r");
    bool  got = file != NULL && fgets(out, cap, file) != NULL;
    if (file != NULL) {
        fclose(file);
    }
    if (got) {
        out[strcspn(out, "\n")] = '\0';
    }
    return got;
}

/* Whether "0-3,8" has the CPU. */
static bool list_has(const char *list, int cpu)
{
    for (char *at = (char *)list; *at != '\0';) {
        const long first = strtol(at, &at, 10), last = *at == '-' ? strtol(at + 1, &at, 10) : first;
        if (first <= cpu && cpu <= last) {
            return true;
        }
        at += *at == ',';
    }
    return false;
}

/* The first file of the pattern whose list has the CPU; caches: of that level, and no
 * instructions'. */
static bool list_with(const char *pattern, const char *level, int cpu, char *out, int cap)
{
    glob_t found = {0};
    bool   got = false;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && !got; i++) {
            char beside[512], text[64];
            got = read_line(found.gl_pathv[i], out, cap) && list_has(out, cpu);
            const int folder = (int)(strrchr(found.gl_pathv[i], '/') - found.gl_pathv[i]);
            snprintf(beside, sizeof beside, "%.*s/level", folder, found.gl_pathv[i]);
            got = got && (level == NULL ||
                          (read_line(beside, text, sizeof text) && strcmp(text, level) == 0));
            snprintf(beside, sizeof beside, "%.*s/type", folder, found.gl_pathv[i]);
            got =
                got && (level == NULL || (read_line(beside, text, sizeof text) && text[0] != 'I'));
        }
        globfree(&found);
    }
    return got;
}

/* The CPUs of the object of a kind that has this one; false: there is none. */
static bool object_of(int kind, int cpu, char *out, int cap)
{
    static const char *const files[KINDS] = {[PACKAGE] = "topology/package_cpus_list",
                                             [L3] = "3",
                                             [L2] = "2",
                                             [L1] = "1",
                                             [CORE] = "topology/core_cpus_list"};
    char                     path[256];
    if (kind == NUMA) {
        return list_with("/sys/devices/system/node/node*/cpulist", NULL, cpu, out, cap);
    }
    if (kind == L3 || kind == L2 || kind == L1) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index*/shared_cpu_list",
                 cpu);
        return list_with(path, files[kind], cpu, out, cap);
    }
    if (kind == PU) {
        return snprintf(out, (size_t)cap, "%d", cpu) > 0;
    }
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, files[kind]);
    return read_line(path, out, cap);
}

/* What this rank is confined to: a number for each object, the same on all ranks; -1: nothing. */
static long confined(int kind)
{
    cpu_set_t cpus;
    char      first[256] = "", other[256];
    long      lowest = -1;
    EXPECT_EQ(0, sched_getaffinity(0, sizeof cpus, &cpus));
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &cpus)) {
            char *to = lowest < 0 ? first : other;
            if (!object_of(kind, i, to, sizeof other) ||
                (to == other && strcmp(first, other) != 0)) {
                return -1;
            }
            lowest = lowest < 0 ? strtol(first, NULL, 10) : lowest;
        }
    }
    return lowest;
}

/* hwloc leaves out dies that are packages, and this test with it. */
static bool is_told(int kind)
{
    return kind != DIE;
}

/* ---- who comes together ---------------------------------------------------------------------- */

static long *places; /* of all ranks: check_size times KINDS */

static void gather_places(void)
{
    long own[KINDS];
    for (int k = 0; k < KINDS; k++) {
        own[k] = is_told(k) ? confined(k) : -1;
    }
    OK(ctran_allgather(own, sizeof own, CTRAN_BYTE, places, sizeof own, CTRAN_BYTE,
                       CTRAN_COMM_WORLD));
}

static long place(int rank, int kind)
{
    return places[rank * KINDS + kind];
}

static ctran_comm_t split(ctran_comm_t comm, int type, int key, const char *name)
{
    ctran_comm_t made = CTRAN_COMM_SELF;
    ctran_info_t info = CTRAN_INFO_NULL;
    if (name != NULL) {
        OK(ctran_info_create(&info));
        OK(ctran_info_set(info, "mpi_hw_resource_type", name));
    }
    OK(ctran_comm_split_type(comm, type, key, info, &made));
    if (name != NULL) {
        OK(ctran_info_free(&info));
    }
    return made;
}

/* The ranks with this rank's place, backwards, and no others. Frees it. */
static void expect_mates(ctran_comm_t *comm, int kind)
{
    int           n = 0, size = -1, mates[4096], worlds[4096], wanted[4096];
    ctran_group_t group, world;
    if (place(check_rank, kind) < 0) {
        EXPECT_PTR(CTRAN_COMM_NULL, *comm);
        return;
    }
    for (int r = check_size - 1; r >= 0; r--) {
        if (place(r, kind) == place(check_rank, kind)) {
            wanted[n] = r;
            mates[n] = n;
            n++;
        }
    }
    EXPECT(*comm != CTRAN_COMM_NULL);
    OK(ctran_comm_size(*comm, &size));
    EXPECT_EQ(n, size);
    OK(ctran_comm_group(*comm, &group));
    OK(ctran_comm_group(CTRAN_COMM_WORLD, &world));
    OK(ctran_group_translate_ranks(group, n, mates, world, worlds));
    for (int i = 0; i < n; i++) {
        EXPECT_EQ(wanted[i], worlds[i]);
    }
    OK(ctran_group_free(&group));
    OK(ctran_group_free(&world));
    OK(ctran_barrier(*comm));
    OK(ctran_comm_free(comm));
}

static void guided(void)
{
    static const int types[] = {CTRAN_COMM_TYPE_HW_GUIDED, CTRAN_COMM_TYPE_RESOURCE_GUIDED};
    for (size_t t = 0; t < LEN(types); t++) {
        for (int k = 0; k < KINDS; k++) {
            if (is_told(k)) {
                ctran_comm_t comm = split(CTRAN_COMM_WORLD, types[t], -check_rank, names[k]);
                expect_mates(&comm, k);
            }
        }
    }
    ctran_comm_t comm = split(CTRAN_COMM_WORLD, types[0], -check_rank, "core");
    expect_mates(&comm, CORE);
}

/* The whole host, by two names; and what is no name. */
static void other_names(void)
{
    static const char *const hosts[] = {"mpi_shared_memory", "hwloc://Machine"};
    static const char *const none[] = {NULL,   "",    "hwloc://",        "hwloc://core",
                                       "Core", "gpu", "hwloc://L9Cache", "hwloc://NUMANode "};
    for (size_t i = 0; i < LEN(hosts); i++) {
        int          n = -1;
        ctran_comm_t comm = split(CTRAN_COMM_WORLD, CTRAN_COMM_TYPE_HW_GUIDED, 0, hosts[i]);
        OK(ctran_comm_size(comm, &n));
        EXPECT_EQ(check_size, n);
        OK(ctran_comm_free(&comm));
    }
    for (size_t i = 0; i < LEN(none); i++) {
        EXPECT_PTR(CTRAN_COMM_NULL, split(CTRAN_COMM_WORLD, CTRAN_COMM_TYPE_HW_GUIDED, 0, none[i]));
    }
}

/* Process sets, in any case of letters; by RESOURCE_GUIDED alone, where no hardware is named. */
static void psets(void)
{
    const struct {
        const char *pset, *hardware;
        int         type, size;
    } rows[] = {
        {"mpi://WORLD", NULL, CTRAN_COMM_TYPE_RESOURCE_GUIDED, check_size},
        {"mpi://world", NULL, CTRAN_COMM_TYPE_RESOURCE_GUIDED, check_size},
        {"mpi://SELF", NULL, CTRAN_COMM_TYPE_RESOURCE_GUIDED, 1},
        {"mpi://SELF", "mpi_shared_memory", CTRAN_COMM_TYPE_RESOURCE_GUIDED, check_size},
        {"mpi://WORLD", "no kind", CTRAN_COMM_TYPE_RESOURCE_GUIDED, 0},
        {"mpi://WORLD", NULL, CTRAN_COMM_TYPE_HW_GUIDED, 0},
        {"mpi://NOWHERE", NULL, CTRAN_COMM_TYPE_RESOURCE_GUIDED, 0},
        {"", NULL, CTRAN_COMM_TYPE_RESOURCE_GUIDED, 0},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        ctran_info_t info;
        ctran_comm_t comm = CTRAN_COMM_SELF;
        int          n = 0, rank = -1;
        OK(ctran_info_create(&info));
        OK(ctran_info_set(info, "mpi_pset_name", rows[i].pset));
        if (rows[i].hardware != NULL) {
            OK(ctran_info_set(info, "mpi_hw_resource_type", rows[i].hardware));
        }
        OK(ctran_comm_split_type(CTRAN_COMM_WORLD, rows[i].type, -check_rank, info, &comm));
        OK(ctran_info_free(&info));
        EXPECT_EQ(rows[i].size > 0, comm != CTRAN_COMM_NULL);
        if (comm != CTRAN_COMM_NULL) {
            OK(ctran_comm_size(comm, &n));
            OK(ctran_comm_rank(comm, &rank));
            EXPECT_EQ(n == 1 ? 0 : check_size - 1 - check_rank, rank);
            OK(ctran_comm_free(&comm));
        }
        EXPECT_EQ(rows[i].size, n);
    }
}

/* What the program was started with stays as it was. */
static void unguided_into_env(void)
{
    int          before = -1, after = -1;
    ctran_comm_t part;
    OK(ctran_info_get_nkeys(CTRAN_INFO_ENV, &before));
    OK(ctran_comm_split_type(CTRAN_COMM_WORLD, CTRAN_COMM_TYPE_HW_UNGUIDED, 0, CTRAN_INFO_ENV,
                             &part));
    OK(ctran_info_get_nkeys(CTRAN_INFO_ENV, &after));
    EXPECT_EQ(before, after);
    if (part != CTRAN_COMM_NULL) {
        OK(ctran_comm_free(&part));
    }
}

/* ---- unguided -------------------------------------------------------------------------------- */

static bool in(ctran_group_t group, int world_rank)
{
    ctran_group_t world;
    int           rank;
    OK(ctran_comm_group(CTRAN_COMM_WORLD, &world));
    OK(ctran_group_translate_ranks(world, 1, &world_rank, group, &rank));
    OK(ctran_group_free(&world));
    return rank != CTRAN_UNDEFINED;
}

/* The largest kind that parts the ranks of a group; KINDS: none. */
static int expected_kind(ctran_group_t group)
{
    for (int k = 0; k < KINDS; k++) {
        long first = -2;
        bool some = false, apart = false;
        for (int r = 0; r < check_size; r++) {
            if (in(group, r)) {
                first = first == -2 ? place(r, k) : first;
                apart = apart || place(r, k) != first;
                some = some || place(r, k) >= 0;
            }
        }
        if (some && apart) {
            return k;
        }
    }
    return KINDS;
}

/* Down to where nothing parts. Kinds with the same objects part alike: the larger is named. */
static void unguided(void)
{
    ctran_comm_t comm, part;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    for (int depth = 0; comm != CTRAN_COMM_NULL; depth++) {
        ctran_group_t group;
        ctran_info_t  info;
        char          told[64] = "";
        int           n = -1, size = -1, len = sizeof told, flag = -1;
        OK(ctran_info_create(&info));
        OK(ctran_comm_group(comm, &group));
        OK(ctran_comm_size(comm, &size));
        const int kind = expected_kind(group);
        OK(ctran_comm_split_type(comm, CTRAN_COMM_TYPE_HW_UNGUIDED, 0, info, &part));
        OK(ctran_info_get_string(info, "mpi_hw_resource_type", &len, told, &flag));
        const bool confined_here = kind < KINDS && place(check_rank, kind) >= 0;
        EXPECT_EQ(confined_here, part != CTRAN_COMM_NULL);
        EXPECT_EQ(confined_here, flag);
        EXPECT(depth <= KINDS);
        if (confined_here) {
            EXPECT_EQ(0, strcmp(names[kind], told));
            OK(ctran_comm_size(part, &n));
            EXPECT(n < size);
            for (int r = 0, mates = 0; r < check_size; r++) {
                mates += in(group, r) && place(r, kind) == place(check_rank, kind);
                EXPECT(r < check_size - 1 || mates == n);
            }
        }
        OK(ctran_info_free(&info));
        OK(ctran_group_free(&group));
        OK(ctran_comm_free(&comm));
        comm = part;
    }
}

/* Rank 0 takes no part; the others are parted, or not, as if it were not there. */
static void unguided_without_one(void)
{
    const int    mine = check_rank == 0 ? CTRAN_UNDEFINED : CTRAN_COMM_TYPE_HW_UNGUIDED;
    ctran_comm_t comm = split(CTRAN_COMM_WORLD, mine, -check_rank, NULL);
    bool         apart = false;
    for (int i = KINDS; i < check_size * KINDS; i++) {
        apart = apart || places[i] != places[KINDS + i % KINDS];
    }
    EXPECT(check_rank > 0 || comm == CTRAN_COMM_NULL);
    EXPECT(apart || comm == CTRAN_COMM_NULL);
    if (comm != CTRAN_COMM_NULL) {
        OK(ctran_barrier(comm));
        OK(ctran_comm_free(&comm));
    }
}

/* Even and odd ranks on the two sides: parts have ranks of both, else there is none. */
static void between_groups(void)
{
    ctran_comm_t half, inter;
    if (check_size < 2) {
        return;
    }
    OK(ctran_comm_split(CTRAN_COMM_WORLD, check_rank % 2, 0, &half));
    OK(ctran_intercomm_create(half, 0, CTRAN_COMM_WORLD, 1 - check_rank % 2, 5, &inter));
    int mates = 0, others = 0, n = -1, m = -1, flag = -1;
    for (int r = 0; r < check_size; r++) {
        if (place(r, CORE) == place(check_rank, CORE) && place(r, CORE) >= 0) {
            mates += r % 2 == check_rank % 2;
            others += r % 2 != check_rank % 2;
        }
    }
    ctran_comm_t part = split(inter, CTRAN_COMM_TYPE_HW_GUIDED, 0, names[CORE]);
    EXPECT_EQ(mates > 0 && others > 0, part != CTRAN_COMM_NULL);
    if (part != CTRAN_COMM_NULL) {
        OK(ctran_comm_test_inter(part, &flag));
        OK(ctran_comm_size(part, &n));
        OK(ctran_comm_remote_size(part, &m));
        EXPECT_EQ(1, flag);
        EXPECT_EQ(mates, n);
        EXPECT_EQ(others, m);
        OK(ctran_comm_free(&part));
    }
    part = split(inter, CTRAN_COMM_TYPE_HW_UNGUIDED, 0, NULL);
    if (part != CTRAN_COMM_NULL) {
        OK(ctran_comm_size(part, &n));
        OK(ctran_comm_remote_size(part, &m));
        EXPECT(n + m < check_size);
        OK(ctran_comm_free(&part));
    }
    OK(ctran_comm_free(&inter));
    OK(ctran_comm_free(&half));
}

/* ---- inquiry --------------------------------------------------------------------------------- */

static void inquiry(void)
{
    ctran_info_t hw;
    char         value[8], list[256];
    OK(ctran_get_hw_resource_info(&hw));
    for (int k = 0; k < KINDS; k++) {
        int len = sizeof value, flag = -1;
        OK(ctran_info_get_string(hw, names[k], &len, value, &flag));
        if (is_told(k)) {
            EXPECT_EQ(object_of(k, 0, list, sizeof list), flag);
        }
        if (flag && is_told(k)) {
            EXPECT_EQ(place(check_rank, k) >= 0, strcmp(value, "true") == 0);
        }
    }
    OK(ctran_info_free(&hw));
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"guided", guided},
        {"other names", other_names},
        {"process sets", psets},
        {"unguided", unguided},
        {"unguided, into CTRAN_INFO_ENV", unguided_into_env},
        {"unguided without one", unguided_without_one},
        {"between groups", between_groups},
        {"inquiry", inquiry},
    };
    check_start(argc, argv);
    const char *loose = getenv("HARDWARE");
    if (loose != NULL && strcmp(loose, "loose") == 0 && check_rank % 2 == 1) {
        cpu_set_t all;
        memset(&all, 0xff, sizeof all);
        EXPECT_EQ(0, sched_setaffinity(0, sizeof all, &all));
    }
    places = calloc((size_t)check_size * KINDS, sizeof *places);
    EXPECT(places != NULL);
    gather_places();
    check_run(subjects, LEN(subjects));
    free(places);
    return check_end();
}
