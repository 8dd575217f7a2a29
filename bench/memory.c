/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory - what it costs to know a GPU's memory: to ask what kind of memory a pointer is in, to
 * register and export a buffer at its first use and later, to import a peer's; and how long a
 * datatype of 1 MiB in blocks takes to the host and back beside one block. Each figure is the best
 * of several turns.
 *
 *     ctranrun -n 2 build/bench/memory       on GPUs; or LD_LIBRARY_PATH=build/emu/cuda before it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/func/check.h"
#include "../tests/func/gpu.h"

#include "api/api.h"
#include "mem/mem.h"

enum { TURNS = 20, CALLS = 10000, BUFFER = 1 << 20 };

static struct ct_process *p;

/* ---- turns ----------------------------------------------------------------------------------- */

struct best {
    double ns;
};

static void note(struct best *b, uint64_t since_ns, unsigned calls)
{
    const double ns = (double)(ct_clock_ns() - since_ns) / calls;
    b->ns = b->ns == 0 || ns < b->ns ? ns : b->ns;
}

/* ---- pointers -------------------------------------------------------------------------------- */

static double kind_ns(const void *ptr)
{
    struct best b = {0};
    for (int t = 0; t < TURNS; t++) {
        const uint64_t start = ct_clock_ns();
        for (int i = 0; i < CALLS; i++) {
            (void)ct_mem_is_device(p, ptr); /* asks the driver: it is not left out */
        }
        note(&b, start, CALLS);
    }
    return b.ns;
}

static void pointers(void)
{
    char  here;
    void *buf = device_new(BUFFER);
    printf("kind of a pointer: the host's %.0f ns, a GPU's %.0f ns\n", kind_ns(&here),
           kind_ns(buf));
    device_free(buf);
}

/* ---- registrations --------------------------------------------------------------------------- */

static void registrations(void)
{
    struct ct_mem_export e;
    struct best          first = {0}, again = {0};
    for (int t = 0; t < TURNS; t++) {
        char    *buf = device_new(BUFFER);
        uint64_t start = ct_clock_ns();
        OK(ct_mem_export(p, buf, BUFFER, &e));
        note(&first, start, 1);
        start = ct_clock_ns();
        for (int i = 0; i < CALLS; i++) {
            OK(ct_mem_export(p, buf + i, 64, &e));
        }
        note(&again, start, CALLS);
        device_free(buf);
    }
    printf("registration and export: at first use %.0f ns, then %.0f ns\n", first.ns, again.ns);
}

/* ---- imports --------------------------------------------------------------------------------- */

/* Rank 1 imports what rank 0 exports. */
static void imports(void)
{
    struct ct_mem_import *import;
    struct ct_mem_export  e;
    struct best           first = {0}, again = {0};
    CUdeviceptr           at;
    int                   mine;
    OK(ct_gpu_mine(p->gpu, &mine));
    for (int t = 0; t < TURNS; t++) {
        if (check_rank == 0) {
            char *buf = device_new(BUFFER);
            OK(ct_mem_export(p, buf, BUFFER, &e));
            OK(ctran_send(&e, sizeof e, CTRAN_BYTE, 1, 0, CTRAN_COMM_WORLD));
            OK(ctran_recv(NULL, 0, CTRAN_BYTE, 1, 0, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
            device_free(buf);
            continue;
        }
        OK(ctran_recv(&e, sizeof e, CTRAN_BYTE, 0, 0, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        uint64_t start = ct_clock_ns();
        OK(ct_mem_import(p, mine, &e, true, &import, &at));
        note(&first, start, 1);
        ct_mem_import_put(p, import);
        start = ct_clock_ns();
        for (int i = 0; i < CALLS; i++) {
            OK(ct_mem_import(p, mine, &e, true, &import, &at));
            ct_mem_import_put(p, import);
        }
        note(&again, start, CALLS);
        OK(ctran_send(NULL, 0, CTRAN_BYTE, 0, 0, CTRAN_COMM_WORLD));
    }
    if (check_rank == 1) {
        printf("import of a peer's buffer: at first use %.0f ns, then %.0f ns\n", first.ns,
               again.ns);
    }
}

/* ---- datatypes ------------------------------------------------------------------------------- */

/* Microseconds there and back. */
static void area_us(const struct ct_piece *pieces, uint32_t n, char *dev, char *flat, double us[2])
{
    struct ct_area area = ct_area_make(dev, pieces, n, 1, 0);
    struct best    in = {0}, out = {0};
    ct_area_set_memory(&area, &p->memory);
    for (int t = 0; t < TURNS; t++) {
        uint64_t start = ct_clock_ns();
        EXPECT(ct_area_gather_all(&area, &(size_t){0}, flat, area.len_bytes));
        note(&out, start, 1);
        start = ct_clock_ns();
        EXPECT(ct_area_scatter_all(&area, &(size_t){0}, flat, area.len_bytes));
        note(&in, start, 1);
    }
    us[0] = out.ns / 1000;
    us[1] = in.ns / 1000;
}

static void datatypes(void)
{
    static const size_t lens[] = {8, 64, 512, 4096, 32768};
    struct ct_piece     one = {.len_bytes = BUFFER, .reps = 1}, *apart;
    char               *dev = device_new(3 * BUFFER), *flat = ct_mem_pinned_get(p, BUFFER);
    double              us[2];
    EXPECT(flat != NULL);
    area_us(&one, 1, dev, flat, us);
    printf("1 MiB to the host and back: one block %.1f and %.1f us\n", us[0], us[1]);
    for (size_t i = 0; i < LEN(lens); i++) {
        const struct ct_piece rows = {
            .len_bytes = lens[i], .reps = BUFFER / lens[i], .stride_bytes = 2 * (ptrdiff_t)lens[i]};
        area_us(&rows, 1, dev, flat, us);
        printf("1 MiB in equal blocks of %zu bytes: %.1f and %.1f us\n", lens[i], us[0], us[1]);
    }
    const uint32_t n = BUFFER / 4096;
    apart = calloc(n, sizeof *apart);
    EXPECT(apart != NULL);
    for (uint32_t i = 0; i < n; i++) {
        apart[i] = (struct ct_piece){.from_bytes = i * 4096ul,
                                     .at_bytes = (ptrdiff_t)(i * 8192 + i * i % 61 * 64),
                                     .len_bytes = 4096,
                                     .reps = 1};
    }
    area_us(apart, n, dev, flat, us);
    printf("1 MiB in blocks of 4096 bytes anywhere: %.1f and %.1f us\n", us[0], us[1]);
    free(apart);
    ct_mem_pinned_put(p, flat, BUFFER);
    device_free(dev);
}

int main(int argc, char **argv)
{
    check_start(argc, argv);
    if (check_size != 2) {
        fprintf(stderr, "memory: run it on two ranks\n");
        return 2;
    }
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    p = ct_api_process();
    if (check_rank == 0) {
        pointers();
        registrations();
        datatypes();
        fflush(stdout);
    }
    imports();
    device_close();
    return check_end();
}
