/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads_objects - collectives on separate communicators at once, and the objects that threads
 * make, share and free: communicators, attributes, groups. Run by threads.c.
 */
#include "threads.h"

/* ---- collectives ----------------------------------------------------------------------------- */

enum { SERIES = 60, MOST = 3000 };

static void check_allreduce(struct member *m, ctran_comm_t comm, int n, int i)
{
    int *in = malloc((size_t)n * sizeof *in), *out = malloc((size_t)n * sizeof *out), size, rank;
    EXPECT(in != NULL && out != NULL);
    OK(ctran_comm_size(comm, &size));
    OK(ctran_comm_rank(comm, &rank));
    for (int k = 0; k < n; k++) {
        in[k] = rank + k + i + m->me;
    }
    OK(ctran_allreduce(in, out, n, CTRAN_INT, CTRAN_SUM, comm));
    for (int k = 0; k < n; k++) {
        EXPECT_EQ(size * (size - 1) / 2 + size * (k + i + m->me), out[k]);
    }
    free(in);
    free(out);
}

static void check_bcast(struct member *m, int n, int i)
{
    char *buf = malloc((size_t)n);
    int   root = i % check_size;
    EXPECT(buf != NULL);
    if (check_rank == root) {
        content_fill(buf, (size_t)n, key_of(root, m->me, i, n));
    }
    OK(ctran_bcast(buf, n, CTRAN_BYTE, root, m->comm));
    EXPECT_CONTENT(buf, (size_t)n, key_of(root, m->me, i, n));
    free(buf);
}

static void check_alltoall(struct member *m, int i)
{
    int *in = malloc((size_t)check_size * sizeof *in),
        *out = malloc((size_t)check_size * sizeof *out);
    EXPECT(in != NULL && out != NULL);
    for (int r = 0; r < check_size; r++) {
        in[r] = check_rank * 1000 + r + i * 7 + m->me;
    }
    OK(ctran_alltoall(in, 1, CTRAN_INT, out, 1, CTRAN_INT, m->comm));
    for (int r = 0; r < check_size; r++) {
        EXPECT_EQ(r * 1000 + check_rank + i * 7 + m->me, out[r]);
    }
    free(in);
    free(out);
}

static void collectives(struct member *m)
{
    for (int i = 0; i < SERIES; i++) {
        int n = 1 + rng_below(&m->seed, i % 10 == 9 ? 10 * MOST : MOST / 10);
        switch (rng_below(&m->seed, 4)) {
        case 0:
            check_allreduce(m, m->comm, n, i);
            break;
        case 1:
            check_bcast(m, n, i);
            break;
        case 2:
            check_alltoall(m, i);
            break;
        default:
            OK(ctran_barrier(m->comm));
        }
    }
}

void run_collectives(void)
{
    team_run(collectives, NULL);
}

/* ---- communicators --------------------------------------------------------------------------- */

/* Each member makes and frees communicators of its own at the same time as the others; a number
 * that were given twice would mix their messages up. */
static void comms(struct member *m)
{
    ctran_comm_t dup, half;
    char         name[CTRAN_MAX_OBJECT_NAME];
    int          len;
    for (int i = 0; i < 15; i++) {
        OK(ctran_comm_dup(m->comm, &dup));
        OK(ctran_comm_split(dup, (check_rank + m->me) % 2, -check_rank, &half));
        check_allreduce(m, dup, 10, i);
        check_allreduce(m, half, 10, i);
        OK(ctran_comm_set_name(CTRAN_COMM_WORLD, "one for all"));
        OK(ctran_comm_get_name(CTRAN_COMM_WORLD, name, &len));
        EXPECT_EQ(0, strcmp(name, "one for all"));
        OK(ctran_comm_free(&half));
        OK(ctran_comm_free(&dup));
    }
}

void run_comms(void)
{
    OK(ctran_comm_set_name(CTRAN_COMM_WORLD, "one for all"));
    team_run(comms, NULL);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static atomic_int copies, deletions;

static int copy(ctran_comm_t comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    int is_main;
    (void)comm, (void)keyval, (void)extra;
    OK(ctran_is_thread_main(&is_main)); /* the library may be called here */
    memcpy(out, &in, sizeof in);
    *flag = 1;
    atomic_fetch_add(&copies, 1);
    return CTRAN_SUCCESS;
}

static int del(ctran_comm_t comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    atomic_fetch_add(&deletions, 1);
    return CTRAN_SUCCESS;
}

/* The key of main is on all communicators, this member's own on the shared one. */
static void attributes(struct member *m)
{
    int         *shared = m->arg, key, flag, values[2];
    void        *got = NULL;
    ctran_comm_t dup;
    for (int i = 0; i < 30; i++) {
        OK(ctran_comm_create_keyval(CTRAN_COMM_NULL_COPY_FN, del, &key, NULL));
        OK(ctran_comm_set_attr(CTRAN_COMM_WORLD, key, &values[0]));
        OK(ctran_comm_set_attr(CTRAN_COMM_WORLD, key, &values[1])); /* deletes the first */
        OK(ctran_comm_get_attr(CTRAN_COMM_WORLD, key, &got, &flag));
        EXPECT_EQ(1, flag);
        EXPECT_PTR(&values[1], got);
        OK(ctran_comm_set_attr(m->comm, *shared, &values[0]));
        OK(ctran_comm_dup(m->comm, &dup));
        OK(ctran_comm_get_attr(dup, *shared, &got, &flag));
        EXPECT_EQ(1, flag);
        EXPECT_PTR(&values[0], got);
        OK(ctran_comm_delete_attr(m->comm, *shared));
        OK(ctran_comm_free(&dup));
        OK(ctran_comm_delete_attr(CTRAN_COMM_WORLD, key));
        OK(ctran_comm_free_keyval(&key));
        OK(ctran_comm_set_attr(CTRAN_COMM_WORLD, *shared, &values[1])); /* all at the same one */
    }
    team_meet();
}

void run_attributes(void)
{
    int key;
    copies = deletions = 0;
    OK(ctran_comm_create_keyval(copy, del, &key, NULL));
    team_run(attributes, &key);
    OK(ctran_comm_delete_attr(CTRAN_COMM_WORLD, key));
    OK(ctran_comm_free_keyval(&key));
    EXPECT_EQ(30 * MEMBERS, copies);
    /* Of its own key 2, of main's 2 on own communicators and 1 on the shared one, each round. */
    EXPECT_EQ(5 * 30 * MEMBERS, deletions);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void groups(struct member *m)
{
    for (int i = 0; i < 200; i++) {
        ctran_group_t all, some, rest;
        int           first = rng_below(&m->mine, check_size), rank, size;
        int           zero = 0;
        OK(ctran_comm_group(CTRAN_COMM_WORLD, &all));
        OK(ctran_group_incl(all, 1, &first, &some));
        OK(ctran_group_difference(all, some, &rest));
        OK(ctran_group_translate_ranks(some, 1, &zero, all, &rank));
        EXPECT_EQ(first, rank);
        OK(ctran_group_size(rest, &size));
        EXPECT_EQ(check_size - 1, size);
        OK(ctran_group_free(&all));
        OK(ctran_group_free(&some));
        if (size > 0) {
            OK(ctran_group_free(&rest));
        }
    }
}

void run_groups(void)
{
    team_run(groups, NULL);
}

/* ---- hardware -------------------------------------------------------------------------------- */

/* All are the first to ask for the machine. */
static void hardware(struct member *m)
{
    ctran_info_t hw;
    ctran_comm_t comm;
    int          n = -1, size = -1;
    OK(ctran_get_hw_resource_info(&hw));
    OK(ctran_info_get_nkeys(hw, &n));
    EXPECT(n > 1);
    OK(ctran_info_set(hw, "mpi_hw_resource_type", "hwloc://Machine"));
    OK(ctran_comm_split_type(m->comm, CTRAN_COMM_TYPE_HW_GUIDED, 0, hw, &comm));
    OK(ctran_info_free(&hw));
    OK(ctran_comm_size(comm, &size));
    EXPECT(size >= 1 && size <= check_size);
    OK(ctran_comm_free(&comm));
    OK(ctran_comm_split_type(m->comm, CTRAN_COMM_TYPE_HW_UNGUIDED, 0, CTRAN_INFO_NULL, &comm));
    if (comm != CTRAN_COMM_NULL) {
        OK(ctran_comm_size(comm, &n));
        EXPECT(n < check_size);
        OK(ctran_comm_free(&comm));
    }
}

void run_hardware(void)
{
    team_run(hardware, NULL);
}
