/* SPDX-License-Identifier: BSD-3-Clause */
/* Where this host is reached, and lists of addresses as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmi/wire/wire.h"

uint32_t ct_addr_reach(const char *names, bool here, struct ct_addr reach[CT_WIRE_REACH_MAX])
{
    struct ct_ifaddr all[CT_IFADDR_MAX];
    int              n = ct_ifaddr_list(names, here, all);
    uint32_t         found = 0;
    for (uint8_t family = 4; family <= 6; family = (uint8_t)(family + 2)) {
        for (int i = 0; i < n; i++) {
            if (all[i].family == family) {
                reach[found] = (struct ct_addr){.family = family};
                memcpy(reach[found++].ip, all[i].ip, sizeof reach->ip);
            }
        }
    }
    return found;
}

struct ct_addr ct_addr_listen_on(const struct ct_addr *reach, uint32_t nreach)
{
    struct ct_addr any = {.family = 4};
    for (uint32_t i = 0; i < nreach; i++) {
        any.family = reach[i].family == 6 ? 6 : any.family;
    }
    return nreach == 1 ? reach[0] : any;
}

void ct_addr_format_list(const struct ct_addr *list, uint32_t n, char text[CT_WIRE_LIST_SIZE])
{
    size_t len = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < n && i < CT_WIRE_REACH_MAX; i++) {
        char one[CT_WIRE_ADDR_SIZE];
        ct_addr_format(&list[i], one, sizeof one);
        len += (size_t)snprintf(text + len, CT_WIRE_LIST_SIZE - len, "%s%s", i > 0 ? "," : "", one);
    }
}

uint32_t ct_addr_parse_list(struct ct_addr list[CT_WIRE_REACH_MAX], const char *text)
{
    char     copy[CT_WIRE_LIST_SIZE], *rest = NULL;
    uint32_t n = 0;
    if (strlen(text) >= sizeof copy) {
        return 0;
    }
    memcpy(copy, text, strlen(text) + 1);
    for (char *one = strtok_r(copy, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest)) {
        if (n == CT_WIRE_REACH_MAX || ct_addr_parse(&list[n++], one) != CTRAN_SUCCESS) {
            return 0;
        }
    }
    return n;
}
