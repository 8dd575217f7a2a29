/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of fault.h: start, the mode's part, finalize. */
#include "fault.h"

#include <sys/resource.h>
#include <unistd.h>

#include "../func/foreign.h"

enum { STATUS_NO_START = 9 };

/* The rank that the launcher gave, for a victim that may die before ctran knows. */
static int launched_rank(void)
{
    const char *rank = getenv("PMIX_RANK");
    EXPECT(rank != NULL);
    return atoi(rank);
}

static void start(struct fault_plan *plan, char **argv)
{
    const char *ranks = getenv("CT_RANKS");
    EXPECT(ranks != NULL);
    check_seed = strtoull(argv[2], NULL, 10);
    check_rank = launched_rank();
    check_size = atoi(ranks);
    fault_draw(plan, argv[1], check_size);
    if (fault_is_mode(plan, "init")) {
        fault_arm(plan, check_rank);
    }
    check_errors_return();
    if (ctran_init(NULL, NULL) != CTRAN_SUCCESS) {
        printf("nostart %d\n", check_rank);
        exit(STATUS_NO_START);
    }
    foreign_from_environment();
    int rank, size;
    OK(ctran_comm_rank(CTRAN_COMM_WORLD, &rank));
    OK(ctran_comm_size(CTRAN_COMM_WORLD, &size));
    EXPECT_EQ(check_rank, rank);
    EXPECT_EQ(check_size, size);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
}

/* Made of those that live by themselves, so it works whoever is dead by now. */
static ctran_comm_t make_alive(const struct fault_plan *plan)
{
    ctran_group_t world, group;
    ctran_comm_t  alive = CTRAN_COMM_NULL;
    int           dead[FAULT_MOST_VICTIMS];
    for (int i = 0; i < plan->nvictims; i++) {
        dead[i] = plan->victim[i].rank;
    }
    OK(ctran_comm_group(CTRAN_COMM_WORLD, &world));
    OK(ctran_group_excl(world, plan->nvictims, dead, &group));
    if (!fault_is_victim(plan, check_rank)) {
        OK(ctran_comm_create_group(CTRAN_COMM_WORLD, group, 0, &alive));
    }
    OK(ctran_group_free(&group));
    OK(ctran_group_free(&world));
    return alive;
}

int main(int argc, char **argv)
{
    struct fault_plan plan;
    struct rlimit     none = {0, 0};
    EXPECT(argc == 3 && setrlimit(RLIMIT_CORE, &none) == 0);
    start(&plan, argv);
    ctran_comm_t alive = make_alive(&plan);
    if (fault_is_mode(&plan, "coll") || fault_is_mode(&plan, "icoll")) {
        fault_run_collectives(&plan, alive);
    } else {
        fault_run_traffic(&plan, alive);
    }
    if (alive != CTRAN_COMM_NULL) {
        OK(ctran_comm_free(&alive));
    }
    if (fault_is_mode(&plan, "finalize")) {
        fault_arm(&plan, check_rank);
    }
    OK(ctran_finalize());
    while (fault_is_victim(&plan, check_rank)) {
        pause(); /* it was late */
    }
    printf("done %d\n", check_rank);
    return 0;
}
