/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bottom - CTRAN_BOTTOM in every call that takes a data buffer (bottom.h). Usage: bottom [SEED].
 *
 * CT_MEMORY=host has the calls on the host's memory alone; mixed, on memory of other kinds too
 * (device.h); stream, the stream-ordered calls alone, which need a CUDA driver.
 */
#include "bottom.h"

#include "device.h"
#include "gpu.h"

enum { BUFFER_BYTES = 8 << 20, DRAWS = 14 };

bool            memory_varies;
static CUstream stream;
static bool     on_stream;
static char     buffered[BUFFER_BYTES]; /* for buffered sends */

/* ---- teams ----------------------------------------------------------------------------------- */

static struct team teams[3];
static int         nteams;

static struct team *team_new(unsigned kind, ctran_comm_t comm)
{
    struct team *t = &teams[nteams++];
    *t = (struct team){.kind = kind, .comm = comm};
    OK(ctran_comm_size(comm, &t->group_n));
    OK(ctran_comm_rank(comm, &t->group_me));
    return t;
}

static void make_world(void)
{
    struct team *t = team_new(ON_WORLD, CTRAN_COMM_WORLD);
    for (t->n = 0; t->n < check_size; t->n++) {
        t->peers[t->n] = t->n;
    }
}

/* A ring: each rank has two neighbours, who may be one rank, or itself. */
static void make_ring(void)
{
    const int    periodic = 1;
    ctran_comm_t ring;
    OK(ctran_cart_create(CTRAN_COMM_WORLD, 1, &check_size, &periodic, 0, &ring));
    struct team *t = team_new(ON_RING, ring);
    OK(ctran_cart_shift(ring, 0, 1, &t->peers[0], &t->peers[1]));
    t->n = 2;
}

/* Ranks with even and with odd numbers; the root is among the even ones. */
static void make_groups(void)
{
    const int    odd = check_rank % 2;
    ctran_comm_t half, inter;
    if (check_size < 2) {
        return;
    }
    OK(ctran_comm_split(CTRAN_COMM_WORLD, odd, 0, &half));
    OK(ctran_intercomm_create(half, 0, CTRAN_COMM_WORLD, 1 - odd, 0, &inter));
    OK(ctran_comm_free(&half));
    struct team *t = team_new(ON_GROUPS, inter);
    t->root_group = !odd;
    for (int r = 1 - odd; r < check_size; r += 2) {
        t->peers[t->n++] = r;
    }
}

static void free_teams(void)
{
    for (int i = 1; i < nteams; i++) {
        OK(ctran_comm_free(&teams[i].comm));
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A row that changes nothing on any rank tests nothing. */
static void expect_changes(const struct row *row, const struct team *t, int changes)
{
    int all;
    OK(ctran_allreduce(&changes, &all, 1, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD));
    if (all == 0 && check_size > 1) {
        check_fail(__FILE__, __LINE__, "%s on team %u has changed no result in %d draws", row->name,
                   t->kind, DRAWS);
    }
}

static void run_row(const struct row *row, const struct team *t)
{
    uint64_t seeds = rng_of((uint64_t)(row - bottom_rows) * 8 + t->kind);
    int      changes = 0;
    for (int i = 0; i < DRAWS; i++) {
        struct args a;
        case_draw(&a, row, t, rng_next(&seeds));
        a.stream = (ctran_stream_t)stream;
        changes += case_run(&a);
        case_free(&a);
    }
    expect_changes(row, t, changes);
}

static void run_rows(void)
{
    const char *only = getenv("CT_CALL");
    const bool  has_kernels = getenv("CTRAN_GPU_KERNELS") != NULL;
    for (size_t i = 0; i < bottom_nrows; i++) {
        const struct row *row = &bottom_rows[i];
        if ((row->form >= ON_STREAM) != on_stream || (row->form == BY_KERNEL && !has_kernels) ||
            (only != NULL && strstr(row->name, only) == NULL)) {
            continue;
        }
        for (int k = 0; k < nteams; k++) {
            if ((row->shape->teams & teams[k].kind) != 0 &&
                !(on_stream && teams[k].kind == ON_GROUPS)) {
                run_row(row, &teams[k]);
            }
        }
    }
}

static void several_kinds(void)
{
    for (int k = 0; memory_varies && k < nteams; k++) {
        if (teams[k].kind == ON_RING) {
            bottom_kinds(&teams[k]);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {{"all calls", run_rows},
                                              {"several kinds", several_kinds}};
    const char                 *memory = getenv("CT_MEMORY");
    void                       *back;
    ctran_count_t               size;
    check_start(argc, argv);
    EXPECT(check_size <= PEERS);
    on_stream = memory != NULL && strcmp(memory, "stream") == 0;
    memory_varies = memory != NULL && strcmp(memory, "mixed") == 0;
    if (memory_varies || on_stream) {
        mem_start();
    }
    if (on_stream) {
        EXPECT(device_open());
        stream = device_stream();
    }
    make_world();
    make_ring();
    make_groups();
    OK(ctran_buffer_attach(buffered, sizeof buffered));
    check_run(subjects, LEN(subjects));
    OK(ctran_buffer_detach(&back, &size));
    free_teams();
    if (on_stream) {
        CU(cuStreamDestroy(stream));
        device_close();
    }
    return check_end();
}
