/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts from users and batch systems: lists of hosts, of Slurm's nodes and of ranks, addresses, and
 * keys. */
#include "fuzz.h"

#include "base/auth.h"
#include "launcher/hosts.h"
#include "launcher/ranklist.h"
#include "launcher/slurmlist.h"
#include "launcher/strlist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz        f = {data, size};
    struct ct_hosts    h = {0};
    struct ct_auth_key key;
    uint32_t           highest, which = fuzz_below(&f, 5);
    char              *text = malloc(f.left + 1), why[600] = "";
    FUZZ_CHECK(text != NULL);
    memcpy(text, f.at, f.left);
    text[f.left] = '\0';
    if (which == 0) {
        char **names = ct_slurmlist_hosts(text, 300);
        FUZZ_CHECK(names == NULL || ct_strlist_count(names) <= 300);
        ct_strlist_free(names);
    } else if (which == 1) {
        (void)ct_slurmlist_tasks(text, 3);
    } else if (which == 2) {
        bool good = ct_hosts_add_list(&h, text, why, sizeof why);
        FUZZ_CHECK(good == (why[0] == '\0'));
        for (uint32_t i = 0; i < h.n; i++) {
            FUZZ_CHECK(h.all[i].name[0] != '-' && h.all[i].slots > 0);
        }
        ct_hosts_fini(&h);
    } else if (which == 3) {
        if (ct_ranklist_is_valid(text, &highest)) {
            FUZZ_CHECK(text[0] == 'a' || !ct_ranklist_has(text, highest + 1));
            (void)ct_ranklist_first(text);
        }
    } else {
        (void)ct_auth_key_from_hex(&key, text);
    }
    free(text);
    return 0;
}
