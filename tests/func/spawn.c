/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spawn - processes that start or meet later: spawned by this program as `spawn ROLE ...`, at
 * ports, over sockets. Roles of the spawned processes are in spawn_child.c.
 */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawn.h"

static char *self; /* this program */

static ctran_comm_t start(ctran_comm_t comm, int root, int n, const char *role)
{
    char        *argv[] = {(char *)role, "a word", NULL};
    int          codes[8];
    ctran_comm_t inter;
    EXPECT(n <= (int)LEN(codes));
    memset(codes, 0xff, sizeof codes);
    OK(ctran_comm_spawn(self, argv, n, CTRAN_INFO_NULL, root, comm, &inter, codes));
    for (int i = 0; i < n; i++) {
        EXPECT_EQ(CTRAN_SUCCESS, codes[i]);
    }
    int size;
    OK(ctran_comm_remote_size(inter, &size));
    EXPECT_EQ(n, size);
    return inter;
}

/* Children on one to four ranks, each root once; all kinds of traffic. */
static void test_children(void)
{
    const int most = check_quick() ? 2 : 4;
    for (int n = 1; n <= most; n++) {
        ctran_comm_t inter = start(CTRAN_COMM_WORLD, n % check_size, n, "talk");
        talk(inter, true);
        OK(ctran_comm_disconnect(&inter));
        EXPECT_PTR(CTRAN_COMM_NULL, inter);
    }
}

/* Every rank by itself, at the same time. */
static void test_selves(void)
{
    ctran_comm_t inter = start(CTRAN_COMM_SELF, 0, 1, "talk");
    talk(inter, true);
    OK(ctran_comm_disconnect(&inter));
}

/* A child that spawns; all three jobs meet in one communicator. */
static void test_grandchildren(void)
{
    ctran_comm_t inter = start(CTRAN_COMM_WORLD, 0, 2, "spawn"), family, all;
    OK(ctran_intercomm_merge(inter, 0, &family));
    /* The children are the leaders of the third job. */
    OK(ctran_intercomm_create(family, check_size, CTRAN_COMM_NULL, 0, 7, &all));
    sum_of_all(all, check_size + 2, 1);
    OK(ctran_comm_free(&all));
    OK(ctran_comm_free(&family));
    OK(ctran_comm_disconnect(&inter));
}

static void test_several_programs(void)
{
    char *const  commands[] = {self, self};
    char        *first[] = {"programs", "one", NULL}, *second[] = {"programs", "two", NULL};
    char       **argvs[] = {first, second};
    const int    maxprocs[] = {1, 2};
    ctran_info_t infos[] = {CTRAN_INFO_NULL, CTRAN_INFO_NULL};
    int          codes[3] = {-1, -1, -1}, app[3];
    ctran_comm_t inter;
    OK(ctran_comm_spawn_multiple(2, (char **)commands, argvs, maxprocs, infos, 0, CTRAN_COMM_WORLD,
                                 &inter, codes));
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(CTRAN_SUCCESS, codes[i]);
    }
    if (check_rank == 0) {
        for (int i = 0; i < 3; i++) {
            OK(ctran_recv(&app[i], 1, CTRAN_INT, i, 0, inter, CTRAN_STATUS_IGNORE));
            EXPECT_EQ(i > 0, app[i]);
        }
    }
    OK(ctran_comm_disconnect(&inter));
}

/* No such program: all ranks get the error, and the next spawn works. */
static void test_failure(void)
{
    int          codes[2] = {-1, -1}, rc;
    ctran_comm_t comm, inter = CTRAN_COMM_NULL;
    char         name[] = "/no/such/program";
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    rc = ctran_comm_spawn(name, CTRAN_ARGV_NULL, 2, CTRAN_INFO_NULL, 0, comm, &inter, codes);
    EXPECT_EQ(CTRAN_ERR_SPAWN, rc);
    EXPECT_EQ(check_rank == 0 ? CTRAN_ERR_SPAWN : -1, codes[1]);
    rc = ctran_comm_spawn(self, CTRAN_ARGV_NULL, 0, CTRAN_INFO_NULL, 0, comm, &inter, codes);
    EXPECT_EQ(CTRAN_ERR_ARG, rc);
    OK(ctran_comm_free(&comm));
    inter = start(CTRAN_COMM_WORLD, 0, 1, "talk");
    talk(inter, true);
    OK(ctran_comm_disconnect(&inter));
}

/* ---- ports ----------------------------------------------------------------------------------- */

/* Two jobs that do not know each other meet by a published name. */
static void test_names(void)
{
    char         port[CTRAN_MAX_PORT_NAME];
    ctran_comm_t first = start(CTRAN_COMM_WORLD, 0, 2, "serve");
    OK(ctran_barrier(first)); /* it has published */
    ctran_comm_t second = start(CTRAN_COMM_WORLD, 0, 2, "use");
    OK(ctran_barrier(first)); /* they have met, and it has unpublished */
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    EXPECT_EQ(CTRAN_ERR_NAME, ctran_lookup_name("spawn-service", CTRAN_INFO_NULL, port));
    EXPECT_EQ(CTRAN_ERR_SERVICE, ctran_unpublish_name("spawn-service", CTRAN_INFO_NULL, "p"));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_ARE_FATAL));
    OK(ctran_comm_disconnect(&second));
    OK(ctran_comm_disconnect(&first));
}

/* The halves of the world meet, several times at one port; then the port is closed. */
static void test_ports(void)
{
    char         port[CTRAN_MAX_PORT_NAME] = "";
    ctran_comm_t half, inter;
    if (check_size < 2) {
        return;
    }
    const bool calls = check_rank % 2 != 0;
    OK(ctran_comm_split(CTRAN_COMM_WORLD, calls, check_rank, &half));
    OK(ctran_comm_set_errhandler(half, CTRAN_ERRORS_RETURN));
    if (check_rank == 0) {
        OK(ctran_open_port(CTRAN_INFO_NULL, port));
    }
    OK(ctran_bcast(port, sizeof port, CTRAN_CHAR, 0, CTRAN_COMM_WORLD));
    for (int i = 0; i < 3; i++) {
        OK(calls ? ctran_comm_connect(port, CTRAN_INFO_NULL, 0, half, &inter)
                 : ctran_comm_accept(port, CTRAN_INFO_NULL, 0, half, &inter));
        talk(inter, calls);
        OK(ctran_comm_disconnect(&inter));
    }
    if (calls) { /* nobody accepts */
        ctran_info_t info;
        OK(ctran_info_create(&info));
        OK(ctran_info_set(info, "timeout", "0"));
        EXPECT_EQ(CTRAN_ERR_PORT, ctran_comm_connect(port, info, 0, half, &inter));
        OK(ctran_info_free(&info));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (check_rank == 0) {
        OK(ctran_close_port(port));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (calls) {
        EXPECT_EQ(CTRAN_ERR_PORT, ctran_comm_connect(port, CTRAN_INFO_NULL, 0, half, &inter));
        EXPECT_EQ(CTRAN_ERR_PORT, ctran_comm_connect("no port", CTRAN_INFO_NULL, 0, half, &inter));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* rank 0 has to answer before it waits outside of ctran */
    OK(ctran_comm_free(&half));
}

/* Ranks 0 and 1 join over a socket; and one with itself, which has no way. */
static void test_join(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t          len = sizeof at;
    ctran_comm_t       inter;
    int                fd = socket(AF_INET, SOCK_STREAM, 0), number = check_rank, other;
    if (check_size < 2 || check_rank > 1) {
        close(fd);
        return;
    }
    if (check_rank == 0) {
        EXPECT(bind(fd, (struct sockaddr *)&at, len) == 0 && listen(fd, 1) == 0 &&
               getsockname(fd, (struct sockaddr *)&at, &len) == 0);
        OK(ctran_send(&at, sizeof at, CTRAN_BYTE, 1, 0, CTRAN_COMM_WORLD));
        int call = accept(fd, NULL, NULL);
        close(fd);
        fd = call;
    } else {
        OK(ctran_recv(&at, sizeof at, CTRAN_BYTE, 0, 0, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        EXPECT(connect(fd, (struct sockaddr *)&at, len) == 0);
    }
    OK(ctran_comm_join(fd, &inter));
    EXPECT(inter != CTRAN_COMM_NULL);
    OK(ctran_sendrecv(&number, 1, CTRAN_INT, 0, 0, &other, 1, CTRAN_INT, 0, 0, inter,
                      CTRAN_STATUS_IGNORE));
    EXPECT_EQ(1 - check_rank, other);
    OK(ctran_comm_disconnect(&inter));
    close(fd);
}

/* ---- the program ----------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"children", test_children},
        {"selves", test_selves},
        {"grandchildren", test_grandchildren},
        {"several programs", test_several_programs},
        {"failure", test_failure},
        {"names", test_names},
        {"ports", test_ports},
        {"join", test_join},
    };
    ctran_comm_t parent;
    self = argv[0];
    if (argc > 2) {
        return be_child(argc, argv);
    }
    const bool dying = argc > 1 && strcmp(argv[1], "dying") == 0;
    check_start(dying ? 1 : argc, argv);
    OK(ctran_comm_get_parent(&parent));
    EXPECT_PTR(CTRAN_COMM_NULL, parent);
    if (dying) {
        (void)start(CTRAN_COMM_WORLD, 0, 2, "die");
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        pause(); /* the launcher ends this job, too */
    }
    check_run(subjects, LEN(subjects));
    return check_end();
}
