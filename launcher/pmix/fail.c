/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures of the PMIx server in words; see fail.h. Used by server.c. */
#include "config.h"
#include "launcher/pmix/fail.h"

#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/ifaddr.h"

/* libpmix listens on 127.0.0.1 and does not say which address it lacks. */
static bool loopback_is_down(void)
{
    struct ct_ifaddr list[CT_IFADDR_MAX];
    return ct_ifaddr_list("127.0.0.0/8", true, list) == 0;
}

void ct_pmix_fail_explain(const char *step, pmix_status_t rc, char *why, size_t cap)
{
    snprintf(why, cap, "cannot %s: %s%s", step, PMIx_Error_string(rc),
             loopback_is_down() ? "; the loopback interface has no address 127.0.0.1 or is down: "
                                  "try \"ip link set lo up\""
                                : "");
}
