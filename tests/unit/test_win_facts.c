/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks say of themselves when they make a window: what cannot be true is found. */
#include <limits.h>

#include "unit.h"

#include "mem/mem.h"
#include "rma/make.h"

static const struct ct_win_fact plain = {.size_bytes = 64, .disp_unit = 1};

static void expect_fault(struct ct_win_fact fact, const char *wanted)
{
    const char *found = ct_win_fact_fault(&fact);
    assert_non_null(found);
    assert_non_null(strstr(found, wanted));
}

static void test_true(void **state)
{
    struct ct_win_fact fact = plain;
    (void)state;
    assert_null(ct_win_fact_fault(&fact));
    fact = (struct ct_win_fact){.size_bytes = 0,
                                .disp_unit = INT_MAX,
                                .key_bytes = CT_EP_MAX_RKEY,
                                .ctl_key_bytes = CT_EP_MAX_RKEY,
                                .export_bytes = sizeof(struct ct_mem_export)};
    assert_null(ct_win_fact_fault(&fact));
}

static void test_false(void **state)
{
    struct ct_win_fact fact = plain;
    (void)state;
    fact.size_bytes = -1;
    expect_fault(fact, "a negative size");
    fact = plain;
    fact.disp_unit = 0;
    expect_fault(fact, "displacement unit");
    fact.disp_unit = (int64_t)INT_MAX + 1;
    expect_fault(fact, "displacement unit");
    fact = plain;
    fact.key_bytes = CT_EP_MAX_RKEY + 1;
    expect_fault(fact, "longer than any key");
    fact = plain;
    /* Both lengths together are small in 32 bits. */
    fact.key_bytes = 0xffffff00;
    fact.ctl_key_bytes = 0x200;
    expect_fault(fact, "longer than any key");
    fact = plain;
    fact.ctl_key_bytes = CT_EP_MAX_RKEY + 1;
    expect_fault(fact, "longer than any key");
    fact = plain;
    fact.export_bytes = 1;
    expect_fault(fact, "GPU");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_true),
        cmocka_unit_test(test_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
