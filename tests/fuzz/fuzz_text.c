/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts from users and batch systems: lists and files of hosts, lists of Slurm's nodes and of
 * ranks, and keys. */
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/auth.h"
#include "launcher/hosts/list.h"
#include "launcher/job/ranklist.h"
#include "topo/slurmlist.h"

static void check_hosts(struct ct_hosts *h, bool good, const char *why)
{
    FUZZ_CHECK(good == (why[0] == '\0'));
    for (uint32_t i = 0; i < h->n; i++) {
        FUZZ_CHECK(h->all[i].name[0] != '-' && h->all[i].slots > 0);
    }
    ct_hosts_fini(h);
}

/* The text as a file, which need not end with a line, and may hold what no text does. */
static void host_file(const char *text, size_t len)
{
    char            path[64], why[600] = "";
    struct ct_hosts h = {0};
    int             fd = memfd_create("hosts", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, text, len) == (ssize_t)len);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool good = ct_hosts_add_file(&h, path, why, sizeof why);
    check_hosts(&h, good, why);
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz        f = {data, size};
    struct ct_hosts    h = {0};
    struct ct_auth_key key;
    uint32_t           highest, which = fuzz_below(&f, 6);
    char              *text = malloc(f.left + 1), why[600] = "";
    FUZZ_CHECK(text != NULL);
    memcpy(text, f.at, f.left);
    text[f.left] = '\0';
    if (which == 0) {
        char **names = ct_slurmlist_hosts(text, 300);
        for (uint32_t n = 0; names != NULL && names[n] != NULL; n++) {
            FUZZ_CHECK(n < 300);
        }
        ct_slurmlist_free(names);
    } else if (which == 1) {
        (void)ct_slurmlist_tasks(text, 3);
    } else if (which == 2) {
        bool good = ct_hosts_add_list(&h, text, why, sizeof why);
        check_hosts(&h, good, why);
    } else if (which == 3) {
        if (ct_ranklist_is_valid(text, &highest)) {
            FUZZ_CHECK(text[0] == 'a' || !ct_ranklist_has(text, highest + 1));
            (void)ct_ranklist_first(text);
        }
    } else if (which == 4) {
        host_file(text, f.left);
    } else {
        (void)ct_auth_key_from_hex(&key, text);
    }
    free(text);
    return 0;
}
