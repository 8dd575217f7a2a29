/* SPDX-License-Identifier: BSD-3-Clause */
/* environment - memory, hardware and the rest that a rank asks of its environment. */
#include <limits.h>

#include "check.h"

static void memory(void)
{
    static const ctran_aint_t sizes[] = {0, 1, 63, 4096, 5000000};
    static const char *const  aligns[] = {NULL,  "1",  "256", "65536",
                                          "100", "-1", "x",   "99999999999"};
    static const size_t       wanted[] = {64, 64, 256, 65536, 64, 64, 64, 64};
    for (size_t a = 0; a < LEN(aligns); a++) {
        ctran_info_t info;
        OK(ctran_info_create(&info));
        if (aligns[a] != NULL) {
            OK(ctran_info_set(info, "mpi_minimum_memory_alignment", aligns[a]));
        }
        for (size_t i = 0; i < LEN(sizes); i++) {
            char *base = NULL;
            OK(ctran_alloc_mem(sizes[i], info, &base));
            EXPECT_EQ(0, (uintptr_t)base % wanted[a]);
            content_fill(base, (size_t)sizes[i], key_of(check_rank, 0, 1, (int)i));
            EXPECT_CONTENT(base, (size_t)sizes[i], key_of(check_rank, 0, 1, (int)i));
            OK(ctran_free_mem(base));
        }
        OK(ctran_info_free(&info));
    }
    OK(ctran_free_mem(NULL));
}

static void memory_refused(void)
{
    char *kept = (char *)memory_refused, *base = kept;
    EXPECT_RC(CTRAN_ERR_ARG, ctran_alloc_mem(-1, CTRAN_INFO_NULL, &base));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_alloc_mem(8, CTRAN_INFO_NULL, NULL));
    EXPECT_RC(CTRAN_ERR_INFO, ctran_alloc_mem(8, NULL, &base));
    EXPECT_RC(CTRAN_ERR_NO_MEM, ctran_alloc_mem(PTRDIFF_MAX, CTRAN_INFO_NULL, &base));
    EXPECT(base == kept);
    OK(ctran_alloc_mem(8, CTRAN_INFO_NULL, &base));
    EXPECT_RC(CTRAN_ERR_BASE, ctran_free_mem(base + 1));
    OK(ctran_free_mem(base));
}

/* What it names, split_type can split by. */
static void hardware(void)
{
    ctran_info_t hw;
    ctran_comm_t comm;
    char         key[CTRAN_MAX_INFO_KEY], value[8];
    int          n = -1, len = sizeof value, flag = -1;
    OK(ctran_get_hw_resource_info(&hw));
    OK(ctran_info_get_nkeys(hw, &n));
    EXPECT(n > 0);
    for (int i = 0; i < n; i++) {
        ctran_info_t by;
        OK(ctran_info_get_nthkey(hw, i, key));
        len = sizeof value;
        OK(ctran_info_get_string(hw, key, &len, value, &flag));
        EXPECT(strcmp(value, "true") == 0 || strcmp(value, "false") == 0);
        OK(ctran_info_create(&by));
        OK(ctran_info_set(by, "mpi_hw_resource_type", key));
        OK(ctran_comm_split_type(CTRAN_COMM_WORLD, CTRAN_COMM_TYPE_RESOURCE_GUIDED, 0, by, &comm));
        EXPECT((comm != CTRAN_COMM_NULL) == (strcmp(value, "true") == 0));
        OK(ctran_info_free(&by));
        if (comm != CTRAN_COMM_NULL) {
            OK(ctran_comm_free(&comm));
        }
    }
    OK(ctran_info_free(&hw));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_get_hw_resource_info(NULL));
}

static void rest(void)
{
    char         name[CTRAN_MAX_PROCESSOR_NAME];
    int          len = -1;
    ctran_comm_t comm, fixed = CTRAN_COMM_WORLD;
    OK(ctran_get_processor_name(name, &len));
    EXPECT_EQ(strlen(name), len);
    OK(ctran_pcontrol(0));
    OK(ctran_pcontrol(INT_MIN, "anything", 3.0));
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_disconnect(&comm));
    EXPECT_PTR(CTRAN_COMM_NULL, comm);
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_disconnect(&comm));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_disconnect(&fixed));
}

/* What the launcher says of the job: as the environment says, "none" where it says nothing. */
static void expect_known(int keyval, const char *expected)
{
    const char *want = getenv(expected);
    int         flag = -1, *value = NULL;
    OK(ctran_comm_get_attr(CTRAN_COMM_WORLD, keyval, &value, &flag));
    if (want != NULL) {
        EXPECT_EQ(strcmp(want, "none") != 0, flag);
    }
    if (want != NULL && flag) {
        EXPECT_EQ(atoi(want), *value);
    }
    if (flag) {
        EXPECT(*value >= (keyval == CTRAN_UNIVERSE_SIZE ? check_size : 0));
    }
}

static void launched(void)
{
    expect_known(CTRAN_APPNUM, "EXPECT_APPNUM");
    expect_known(CTRAN_UNIVERSE_SIZE, "EXPECT_UNIVERSE_SIZE");
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"memory", memory},     {"memory refused", memory_refused},
        {"hardware", hardware}, {"rest", rest},
        {"launched", launched},
    };
    void *base = NULL;
    check_errors_return();
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_alloc_mem(8, CTRAN_INFO_NULL, &base));
    check_start(argc, argv);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    check_run(subjects, LEN(subjects));
    return check_end();
}
