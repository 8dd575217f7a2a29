/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory - what the program asks for: GPU memory, registrations, and what is wrong with such calls.
 * Usage: memory gpu|none [SEED]: whether there is a GPU.
 */
#include "check.h"

enum { N = 40 };

static void registrations(void)
{
    static char block[3 * 4096];
    char       *page = block + (4096 - (uintptr_t)block % 4096);
    OK(ctran_mem_register(page, 4096));
    OK(ctran_mem_register(page, 4096));
    OK(ctran_mem_deregister(page));
    OK(ctran_mem_deregister(page));
    EXPECT_RC(CTRAN_ERR_BASE, ctran_mem_deregister(page));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_mem_register(NULL, 8));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_mem_register(page, 0));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_mem_register(page, -1));
    OK(ctran_mem_register(page, 100)); /* the last finalize takes it off */
}

static void wrong_calls(void)
{
    void *ptr = NULL;
    int   here;
    EXPECT_RC(CTRAN_ERR_ARG, ctran_mem_alloc(-1, CTRAN_INFO_NULL, &ptr));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_mem_alloc(8, CTRAN_INFO_NULL, NULL));
    EXPECT_RC(CTRAN_ERR_BASE, ctran_mem_free(&here));
    OK(ctran_mem_free(NULL));
}

static void gpu_memory(void)
{
    void    *at[N];
    uint64_t random = rng_of(1);
    for (int i = 0; i < N; i++) {
        OK(ctran_mem_alloc(rng_below(&random, 3 << 20), CTRAN_INFO_NULL, &at[i]));
        EXPECT(at[i] != NULL && (uintptr_t)at[i] % 512 == 0);
        for (int j = 0; j < i; j++) {
            EXPECT(at[j] != at[i]);
        }
    }
    OK(ctran_mem_register(at[0], 1));
    OK(ctran_mem_deregister(at[0]));
    for (int i = 1; i < N; i++) { /* the first is left for the last finalize */
        OK(ctran_mem_free(at[i]));
        EXPECT_RC(CTRAN_ERR_BASE, ctran_mem_free(at[i]));
    }
}

int main(int argc, char **argv)
{
    const bool gpu = argc > 1 && strcmp(argv[1], "gpu") == 0;
    for (int cycle = 0; cycle < 2; cycle++) {
        OK(ctran_init(&argc, &argv));
        OK(ctran_comm_rank(CTRAN_COMM_WORLD, &check_rank));
        OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
        registrations();
        wrong_calls();
        if (gpu) {
            gpu_memory();
        } else {
            void *ptr;
            EXPECT_RC(CTRAN_ERR_UNSUPPORTED_OPERATION, ctran_mem_alloc(8, CTRAN_INFO_NULL, &ptr));
        }
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        OK(ctran_finalize());
    }
    return 0;
}
