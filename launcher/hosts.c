/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of hosts; see hosts.h. Used by layout.c. */
#include "config.h"
#include "hosts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher.h"
#include "topo/topo.h"

/* ---- names ----------------------------------------------------------------------------------- */

bool ct_hosts_same(const char *a, const char *b)
{
    size_t la = strcspn(a, "."), lb = strcspn(b, ".");
    if (strcasecmp(a, b) == 0) {
        return true;
    }
    /* An address has no labels: 10.0.0.1 is not "10". */
    return (a[la] == '\0') != (b[lb] == '\0') && la == lb && strncasecmp(a, b, la) == 0 &&
           strspn(a, "0123456789") < la;
}

bool ct_hosts_is_here(const char *name)
{
    static const char *const always[] = {"localhost", "127.0.0.1", "::1", "localhost.localdomain"};
    const char              *slurm = getenv("SLURMD_NODENAME");
    char                     own[256] = "";
    for (size_t i = 0; i < CT_ARRAY_LEN(always); i++) {
        if (strcasecmp(name, always[i]) == 0) {
            return true;
        }
    }
    gethostname(own, sizeof own - 1);
    /* Under Slurm a node may have another name than its machine, and there may be more of them. */
    return ct_hosts_same(name, slurm != NULL ? slurm : own);
}

/* A name goes to an agent as an argument, so it must not look like an option, nor hold anything
 * that a shell or a list would take for its own. */
static bool is_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)text[i]) && strchr("._-@:", text[i]) == NULL) {
            return false;
        }
    }
    return len > 0 && len < 256 && text[0] != '-' && text[0] != '.' && text[0] != '@';
}

/* ---- the list -------------------------------------------------------------------------------- */

static bool add_host(struct ct_hosts *h, const char *name, size_t len, uint32_t slots,
                     uint32_t max_slots)
{
    for (uint32_t i = 0; i < h->n; i++) {
        if (strlen(h->all[i].name) == len && strncasecmp(h->all[i].name, name, len) == 0) {
            h->all[i].slots += slots;
            h->all[i].max_slots += max_slots;
            return true;
        }
    }
    struct ct_host *more = realloc(h->all, (h->n + 1) * sizeof *more);
    if (more == NULL) {
        return false;
    }
    h->all = more;
    more[h->n] = (struct ct_host){strndup(name, len), slots, max_slots};
    return more[h->n].name != NULL && h->n++ < CT_MAX_RANKS;
}

void ct_hosts_fini(struct ct_hosts *h)
{
    for (uint32_t i = 0; i < h->n; i++) {
        free(h->all[i].name);
    }
    free(h->all);
    *h = (struct ct_hosts){0};
}

uint64_t ct_hosts_slots(const struct ct_hosts *h)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < h->n; i++) {
        n += h->all[i].slots;
    }
    return n;
}

/* A whole number from 1 on that ends with the text. */
static bool read_slots(const char *text, size_t len, uint32_t *out)
{
    *out = 0;
    for (size_t i = 0; i < len && i < 6; i++) {
        if (!isdigit((unsigned char)text[i])) {
            return false;
        }
        *out = 10 * *out + (uint32_t)(text[i] - '0');
    }
    return len > 0 && len < 6 && *out > 0 && *out <= CT_MAX_RANKS;
}

/* "host", "host:4", "[::1]", "[::1]:4": the name and the number, 0 where there is none. */
static bool split_host(const char *text, size_t len, const char **name, size_t *name_len,
                       uint32_t *slots)
{
    const char *end = text[0] == '[' ? memchr(text, ']', len) : memchr(text, ':', len);
    *slots = 0;
    *name = text;
    if (text[0] == '[') {
        if (end == NULL) {
            return false;
        }
        *name = text + 1;
        *name_len = (size_t)(end - text) - 1;
        end++;
    } else {
        end = end != NULL ? end : text + len;
        *name_len = (size_t)(end - text);
    }
    size_t rest = len - (size_t)(end - text);
    return is_name(*name, *name_len) &&
           (rest == 0 || (end[0] == ':' && read_slots(end + 1, rest - 1, slots)));
}

bool ct_hosts_add_list(struct ct_hosts *h, const char *list, char *why, size_t cap)
{
    const char *at = list;
    while (true) {
        const char *name;
        size_t      len = strcspn(at, ","), name_len;
        uint32_t    slots;
        if (!split_host(at, len, &name, &name_len, &slots)) {
            snprintf(why, cap, "\"%.*s\" in \"%s\" is no host; expected HOST or HOST:RANKS",
                     (int)len, at, list);
            return false;
        }
        slots = slots > 0 ? slots : 1;
        if (!add_host(h, name, name_len, slots, slots)) {
            snprintf(why, cap, "out of memory");
            return false;
        }
        if (at[len] == '\0') {
            return true;
        }
        at += len + 1;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

/* One word after the host: "slots=4" or "max_slots=8", in one of Open MPI's spellings. */
static bool take_setting(const char *word, size_t len, uint32_t *slots, uint32_t *max_slots)
{
    static const struct {
        const char *key;
        bool        most;
    } keys[] = {{"slots=", false},
                {"max_slots=", true},
                {"max-slots=", true},
                {"slots_max=", true},
                {"slots-max=", true}};
    for (size_t i = 0; i < CT_ARRAY_LEN(keys); i++) {
        size_t key_len = strlen(keys[i].key);
        if (keys[i].key[key_len - 1] == '=' && len > key_len &&
            strncmp(word, keys[i].key, key_len) == 0) {
            return read_slots(word + key_len, len - key_len, keys[i].most ? max_slots : slots);
        }
    }
    return false;
}

/* A line without its comment. Returns NULL, or what is wrong with it. */
static const char *take_line(struct ct_hosts *h, const char *line)
{
    const char *at = line + strspn(line, " \t\r\n"), *name;
    size_t      len = strcspn(at, " \t\r\n"), name_len;
    uint32_t    slots, given = 0, most = 0;
    if (len == 0) {
        return NULL;
    }
    if (!split_host(at, len, &name, &name_len, &slots)) {
        return "expected HOST, HOST:RANKS or HOST slots=RANKS max_slots=RANKS";
    }
    for (at += len; *(at += strspn(at, " \t\r\n")) != '\0'; at += len) {
        len = strcspn(at, " \t\r\n");
        if (!take_setting(at, len, &given, &most)) {
            return "after the host only slots=RANKS and max_slots=RANKS may stand, from 1 to 65536";
        }
    }
    if (slots > 0 && (given > 0 || most > 0)) {
        return "the slots are given twice, as :RANKS and as slots=RANKS; keep one";
    }
    slots = slots > 0 ? slots : given > 0 ? given : 1;
    if (most > 0 && most < slots) {
        return "max_slots is below slots";
    }
    return add_host(h, name, name_len, slots, most > 0 ? most : slots) ? NULL : "out of memory";
}

bool ct_hosts_add_file(struct ct_hosts *h, const char *path, char *why, size_t cap)
{
    FILE       *f = fopen(path, "re");
    char       *line = NULL;
    size_t      room = 0;
    const char *wrong = NULL;
    unsigned    number = 0;
    if (f == NULL) {
        snprintf(why, cap, "\"%s\" cannot be read: %s", path, strerror(errno));
        return false;
    }
    while (wrong == NULL && getline(&line, &room, f) >= 0) {
        number++;
        line[strcspn(line, "#")] = '\0';
        wrong = take_line(h, line);
    }
    fclose(f);
    if (wrong != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        snprintf(why, cap, "%s:%u: \"%.200s\": %s", path, number, line, wrong);
    } else if (h->n == 0) {
        snprintf(why, cap, "\"%s\" names no host", path);
    }
    free(line);
    return wrong == NULL && h->n > 0;
}

/* ---- Slurm ----------------------------------------------------------------------------------- */

bool ct_hosts_add_slurm(struct ct_hosts *h, char *why, size_t cap)
{
    const char *list = getenv("SLURM_JOB_NODELIST"), *tasks = getenv("SLURM_TASKS_PER_NODE");
    if (getenv("SLURM_JOB_ID") == NULL || list == NULL) {
        return true;
    }
    char **names = ct_slurmlist_hosts(list, CT_MAX_RANKS);
    bool   ok = names != NULL;
    for (uint32_t i = 0; ok && names[i] != NULL; i++) {
        uint32_t n = tasks != NULL ? ct_slurmlist_tasks(tasks, i) : 1;
        ok = n > 0 && n <= CT_MAX_RANKS && is_name(names[i], strlen(names[i])) &&
             add_host(h, names[i], strlen(names[i]), n, n);
    }
    ct_slurmlist_free(names);
    h->soft = true;
    if (!ok) {
        snprintf(why, cap,
                 "the Slurm allocation is not understood: SLURM_JOB_NODELIST is \"%s\", "
                 "SLURM_TASKS_PER_NODE is \"%s\"; name the hosts with -H",
                 list, tasks != NULL ? tasks : "");
    }
    return ok;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* One rank to each host in turn that has room, until all are given out. */
static uint64_t deal(const struct ct_hosts *h, uint64_t left, bool beyond, uint32_t *counts)
{
    bool gave = true;
    while (left > 0 && gave) {
        gave = false;
        for (uint32_t i = 0; i < h->n && left > 0; i++) {
            uint32_t room = beyond ? h->all[i].max_slots : h->all[i].slots;
            if (counts[i] < room) {
                counts[i]++;
                left--;
                gave = true;
            }
        }
    }
    return left;
}

static uint64_t fill(const struct ct_hosts *h, uint64_t left, uint32_t *counts)
{
    for (uint32_t i = 0; i < h->n; i++) {
        counts[i] = left < h->all[i].slots ? (uint32_t)left : h->all[i].slots;
        left -= counts[i];
    }
    return left;
}

/* The same number on each host, and on the last perhaps fewer. */
static uint64_t place_ppn(const struct ct_hosts *h, uint64_t left, uint32_t ppn, uint32_t *counts)
{
    for (uint32_t i = 0; i < h->n; i++) {
        counts[i] = left < ppn ? (uint32_t)left : ppn;
        left -= counts[i];
    }
    return left;
}

bool ct_hosts_place(const struct ct_hosts *h, uint32_t n, uint32_t ppn, bool in_turn,
                    uint32_t *counts, char *why, size_t cap)
{
    uint64_t left = n;
    memset(counts, 0, h->n * sizeof *counts);
    if (h->n == 1 && h->soft) {
        counts[0] = n;
        return true;
    }
    if (ppn > 0) {
        left = place_ppn(h, left, ppn, counts);
    } else {
        left = in_turn ? deal(h, left, false, counts) : fill(h, left, counts);
        left = deal(h, left, true, counts);
    }
    if (left > 0 && ppn > 0) {
        snprintf(why, cap, "%u ranks do not fit on %u host%s with --ppn %u; raise it or add hosts",
                 n, h->n, h->n == 1 ? "" : "s", ppn);
    } else if (left > 0) {
        snprintf(why, cap,
                 "%u ranks do not fit into the %llu slots of %u host%s; give the hosts more "
                 "(HOST:RANKS), add hosts, or say --ppn",
                 n, (unsigned long long)ct_hosts_slots(h), h->n, h->n == 1 ? "" : "s");
    }
    return left == 0;
}
