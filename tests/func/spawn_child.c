/* SPDX-License-Identifier: BSD-3-Clause */
/* The spawned processes of spawn.c, and what they and their parents say to each other. */
#include <stdlib.h>

#include "spawn.h"

/* ---- both sides ------------------------------------------------------------------------------ */

enum { LONG = 300000 };

/* Each rank sends to each of the other group, short and long. */
static void exchange(ctran_comm_t inter, int rank, int remote)
{
    char            *out = malloc(LONG), *in = malloc(LONG);
    ctran_request_t *requests = malloc((size_t)remote * sizeof *requests);
    for (size_t len = 8; len <= LONG; len = len < LONG / 2 ? LONG : LONG + 1) {
        content_fill(out, len, key_of(rank, 0, 1, (int)len));
        for (int r = 0; r < remote; r++) {
            OK(ctran_isend(out, (ctran_count_t)len, CTRAN_BYTE, r, 1, inter, &requests[r]));
        }
        for (int r = 0; r < remote; r++) {
            ctran_status_t status;
            OK(ctran_recv(in, LONG, CTRAN_BYTE, r, 1, inter, &status));
            EXPECT_STATUS(&status, r, 1, len);
            EXPECT_CONTENT(in, len, key_of(r, 0, 1, (int)len));
        }
        OK(ctran_waitall(remote, requests, CTRAN_STATUSES_IGNORE));
    }
    free(out);
    free(in);
    free(requests);
}

void sum_of_all(ctran_comm_t inter, int n, int m)
{
    int          one = 1, sum = 0, local, remote;
    ctran_comm_t all;
    OK(ctran_comm_size(inter, &local));
    OK(ctran_comm_remote_size(inter, &remote));
    EXPECT_EQ(n, local);
    EXPECT_EQ(m, remote);
    OK(ctran_allreduce(&one, &sum, 1, CTRAN_INT, CTRAN_SUM, inter));
    EXPECT_EQ(m, sum);
    OK(ctran_intercomm_merge(inter, n < m, &all));
    OK(ctran_allreduce(&one, &sum, 1, CTRAN_INT, CTRAN_SUM, all));
    EXPECT_EQ(n + m, sum);
    OK(ctran_comm_free(&all));
}

/* All collectives of an intercommunicator that move data. */
static void collectives(ctran_comm_t inter, bool first, int rank, int local, int remote)
{
    enum { MOST = 32 };
    int own[MOST], all[MOST], root = first ? (rank == 0 ? CTRAN_ROOT : CTRAN_PROC_NULL) : 0;
    EXPECT(local <= MOST && remote <= MOST);
    OK(ctran_barrier(inter));
    own[0] = first ? 77 : 0;
    OK(ctran_bcast(own, 1, CTRAN_INT, root, inter));
    EXPECT_EQ(77, own[0]);
    own[0] = rank;
    OK(ctran_allgather(own, 1, CTRAN_INT, all, 1, CTRAN_INT, inter));
    for (int r = 0; r < remote; r++) {
        EXPECT_EQ(r, all[r]);
        own[r] = 100 * rank + r;
    }
    OK(ctran_alltoall(own, 1, CTRAN_INT, all, 1, CTRAN_INT, inter));
    for (int r = 0; r < remote; r++) {
        EXPECT_EQ(100 * r + rank, all[r]);
    }
    own[0] = rank + 1;
    OK(ctran_reduce(own, all, 1, CTRAN_INT, CTRAN_SUM, root, inter));
    if (root == CTRAN_ROOT) {
        EXPECT_EQ(remote * (remote + 1) / 2, all[0]);
    }
    OK(ctran_gather(own, 1, CTRAN_INT, all, 1, CTRAN_INT, root, inter));
    for (int r = 0; root == CTRAN_ROOT && r < remote; r++) {
        EXPECT_EQ(r + 1, all[r]);
    }
}

void talk(ctran_comm_t inter, bool first)
{
    int          rank, local, remote, place;
    ctran_comm_t merged, dup, part;
    OK(ctran_comm_rank(inter, &rank));
    OK(ctran_comm_size(inter, &local));
    OK(ctran_comm_remote_size(inter, &remote));
    exchange(inter, rank, remote);
    collectives(inter, first, rank, local, remote);
    OK(ctran_comm_dup(inter, &dup));
    collectives(dup, first, rank, local, remote);
    OK(ctran_comm_free(&dup));
    OK(ctran_intercomm_merge(inter, !first, &merged));
    OK(ctran_comm_rank(merged, &place));
    EXPECT_EQ(first ? rank : remote + rank, place);
    int one = 1, sum;
    OK(ctran_allreduce(&one, &sum, 1, CTRAN_INT, CTRAN_SUM, merged));
    EXPECT_EQ(local + remote, sum);
    OK(ctran_comm_split(merged, place % 2, 0, &part));
    OK(ctran_allreduce(&one, &sum, 1, CTRAN_INT, CTRAN_SUM, part));
    EXPECT_EQ((local + remote + 1 - place % 2) / 2, sum);
    OK(ctran_comm_free(&part));
    OK(ctran_comm_free(&merged));
    OK(ctran_barrier(inter));
}

/* ---- roles ----------------------------------------------------------------------------------- */

static void spawn_further(ctran_comm_t parent, char *program)
{
    char        *argv[] = {"talk and join", "a word", NULL};
    ctran_comm_t inter, family, children, all;
    OK(ctran_comm_spawn(program, argv, 1, CTRAN_INFO_NULL, 0, CTRAN_COMM_WORLD, &inter,
                        CTRAN_ERRCODES_IGNORE));
    talk(inter, true);
    OK(ctran_intercomm_merge(inter, 0, &children));
    OK(ctran_intercomm_merge(parent, 1, &family));
    /* The first child knows both the family and its own child. */
    int leader, size;
    OK(ctran_comm_size(family, &size));
    leader = size - check_size;
    OK(ctran_intercomm_create(family, leader, children, check_size, 7, &all));
    sum_of_all(all, size, 1);
    OK(ctran_comm_free(&all));
    OK(ctran_comm_free(&family));
    OK(ctran_comm_free(&children));
    OK(ctran_comm_disconnect(&inter));
}

/* The child of a child: meets the whole family. */
static void join_family(ctran_comm_t parent)
{
    ctran_comm_t mine, all;
    int          size;
    talk(parent, false);
    OK(ctran_intercomm_merge(parent, 1, &mine));
    OK(ctran_comm_size(mine, &size));
    OK(ctran_intercomm_create(CTRAN_COMM_WORLD, 0, mine, 0, 7, &all));
    int n;
    OK(ctran_comm_remote_size(all, &n));
    sum_of_all(all, 1, n);
    OK(ctran_comm_free(&all));
    OK(ctran_comm_free(&mine));
}

static void serve(ctran_comm_t parent)
{
    char         port[CTRAN_MAX_PORT_NAME] = "";
    ctran_comm_t inter;
    if (check_rank == 0) {
        OK(ctran_open_port(CTRAN_INFO_NULL, port));
        OK(ctran_publish_name("spawn-service", CTRAN_INFO_NULL, port));
        OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
        EXPECT_EQ(CTRAN_ERR_SERVICE, ctran_publish_name("spawn-service", CTRAN_INFO_NULL, port));
    }
    OK(ctran_barrier(parent));
    OK(ctran_comm_accept(port, CTRAN_INFO_NULL, 0, CTRAN_COMM_WORLD, &inter));
    talk(inter, true);
    OK(ctran_comm_disconnect(&inter));
    if (check_rank == 0) {
        OK(ctran_unpublish_name("spawn-service", CTRAN_INFO_NULL, port));
        OK(ctran_close_port(port));
    }
    OK(ctran_barrier(parent));
}

static void use(void)
{
    char         port[CTRAN_MAX_PORT_NAME] = "";
    ctran_comm_t inter;
    if (check_rank == 1) { /* another root than 0 */
        OK(ctran_lookup_name("spawn-service", CTRAN_INFO_NULL, port));
    }
    OK(ctran_comm_connect(port, CTRAN_INFO_NULL, 1, CTRAN_COMM_WORLD, &inter));
    talk(inter, false);
    OK(ctran_comm_disconnect(&inter));
}

/* Which of the programs it is: by the attribute, and by its arguments. */
static void tell_program(ctran_comm_t parent, const char *word)
{
    int *app, flag;
    OK(ctran_comm_get_attr(CTRAN_COMM_WORLD, CTRAN_APPNUM, &app, &flag));
    EXPECT(flag);
    EXPECT_EQ(strcmp(word, "two") == 0, *app);
    OK(ctran_send(app, 1, CTRAN_INT, 0, 0, parent));
}

int be_child(int argc, char **argv)
{
    ctran_comm_t parent, again;
    const char  *role = argv[1];
    EXPECT_EQ(3, argc);
    if (strcmp(role, "die") == 0 && getenv("CT_DIE_EARLY") != NULL) {
        _Exit(9);
    }
    check_start(1, argv);
    if (strcmp(role, "die") == 0) {
        _Exit(9);
    }
    OK(ctran_comm_get_parent(&parent));
    EXPECT(parent != CTRAN_COMM_NULL);
    if (strcmp(role, "talk") == 0) {
        EXPECT(strcmp(argv[2], "a word") == 0);
        talk(parent, false);
    } else if (strcmp(role, "talk and join") == 0) {
        join_family(parent);
    } else if (strcmp(role, "spawn") == 0) {
        spawn_further(parent, argv[0]);
    } else if (strcmp(role, "serve") == 0) {
        serve(parent);
    } else if (strcmp(role, "use") == 0) {
        use();
    } else if (strcmp(role, "programs") == 0) {
        tell_program(parent, argv[2]);
    } else {
        check_fail(__FILE__, __LINE__, "no role %s", role);
    }
    OK(ctran_comm_disconnect(&parent));
    OK(ctran_comm_get_parent(&again));
    EXPECT_PTR(CTRAN_COMM_NULL, again);
    OK(ctran_finalize());
    return 0;
}
