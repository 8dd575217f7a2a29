/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of hosts; see list.h. Used by layout.c. */
#include "config.h"
#include "launcher/hosts/list.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"
#include "topo/topo.h"

#define BLANKS " \t\r\n"

/* ---- names ----------------------------------------------------------------------------------- */

bool ct_hosts_same(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] != '\0' && tolower((unsigned char)a[n]) == tolower((unsigned char)b[n])) {
        n++;
    }
    /* An address has no labels: 10.0.0.1 is not "10". */
    bool label_ends = (a[n] == '\0' && b[n] == '.') || (a[n] == '.' && b[n] == '\0');
    return (a[n] == '\0' && b[n] == '\0') ||
           (label_ends && memchr(a, '.', n) == NULL && strspn(a, "0123456789") < n);
}

/* Whether an interface of this machine has the address. */
static bool has_address(int family, const uint8_t *ip, size_t len)
{
    struct ifaddrs *all = NULL;
    bool            found = false;
    if (getifaddrs(&all) != 0) {
        return false;
    }
    for (const struct ifaddrs *i = all; i != NULL && !found; i = i->ifa_next) {
        const struct sockaddr *at = i->ifa_addr;
        if (at == NULL || at->sa_family != family) {
            continue;
        }
        const void *own = family == AF_INET
                              ? (const void *)&((const struct sockaddr_in *)at)->sin_addr
                              : (const void *)&((const struct sockaddr_in6 *)at)->sin6_addr;
        found = memcmp(own, ip, len) == 0;
    }
    freeifaddrs(all);
    return found;
}

/* Whether a name is an address in figures, and this machine's. */
static bool is_own_address(const char *name)
{
    uint8_t ip[16];
    if (inet_pton(AF_INET, name, ip) == 1) {
        return ct_ifaddr_is_loopback(4, ip) || has_address(AF_INET, ip, 4);
    }
    return inet_pton(AF_INET6, name, ip) == 1 &&
           (ct_ifaddr_is_loopback(6, ip) || has_address(AF_INET6, ip, 16));
}

bool ct_hosts_is_here(const char *name)
{
    static const char *const always[] = {"localhost", "localhost.localdomain", "localhost4",
                                         "localhost6", "ip6-localhost"};
    const char              *slurm = getenv("SLURMD_NODENAME");
    char                     own[256] = "";
    for (size_t i = 0; i < CT_ARRAY_LEN(always); i++) {
        if (strcasecmp(name, always[i]) == 0) {
            return true;
        }
    }
    gethostname(own, sizeof own - 1);
    /* Under Slurm a node may have another name than its machine, and there may be more of them. */
    return ct_hosts_same(name, slurm != NULL ? slurm : own) || is_own_address(name);
}

/* An agent gets the name as an argument, so the name must not look like an option, nor hold what a
 * shell or a list would interpret. */
static bool hosts_is_name(const char *text, size_t len)
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
    struct ct_host host = {strndup(name, len), slots, max_slots, false};
    if (host.name == NULL) {
        return false;
    }
    host.here = ct_hosts_is_here(host.name);
    for (uint32_t i = 0; i < h->n; i++) {
        if ((host.here && h->all[i].here) || ct_hosts_same(h->all[i].name, host.name)) {
            h->all[i].slots += slots;
            h->all[i].max_slots += max_slots;
            free(host.name);
            return true;
        }
    }
    struct ct_host *more = realloc(h->all, (h->n + 1) * sizeof *more);
    if (more == NULL) {
        free(host.name);
        return false;
    }
    h->all = more;
    more[h->n] = host;
    return h->n++ < CT_MAX_RANKS;
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

/* Splits "host", "host:4", "[::1]", "[::1]:4" into the name and the number (0: none). */
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
    return hosts_is_name(*name, *name_len) &&
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

/* A word that may follow a host. */
enum setting { SLOTS, MAX_SLOTS, FOREIGN };

struct setting_name {
    const char  *name;
    enum setting what;
    const char  *ours; /* FOREIGN: what to write instead */
};

/* The name that the line at `at` begins with, and in *value the text after its "=". Blanks may
 * stand on both sides of that. NULL: it begins with none. */
static const struct setting_name *hosts_find_setting(const char *at, const char **value)
{
    static const struct setting_name names[] = {
        {"slots", SLOTS, NULL},
        {"cpu", SLOTS, NULL},
        {"count", SLOTS, NULL},
        {"max_slots", MAX_SLOTS, NULL},
        {"max-slots", MAX_SLOTS, NULL},
        {"slots_max", MAX_SLOTS, NULL},
        {"slots-max", MAX_SLOTS, NULL},
        {"cpu_max", MAX_SLOTS, NULL},
        {"cpu-max", MAX_SLOTS, NULL},
        {"count_max", MAX_SLOTS, NULL},
        {"count-max", MAX_SLOTS, NULL},
        {"ifname", FOREIGN,
         "interfaces are chosen for all hosts: remove ifname= and use --set TCP_INTERFACES=NAME"},
        {"binding", FOREIGN, "remove binding= and use --bind-to and --map-by on the command line"},
        {"user", FOREIGN, "remove user= and name the host as USER@HOST"},
        {"username", FOREIGN, "remove username= and name the host as USER@HOST"},
        {"user_name", FOREIGN, "remove user_name= and name the host as USER@HOST"},
        {"user-name", FOREIGN, "remove user-name= and name the host as USER@HOST"}};
    size_t len = strcspn(at, "= \t\r\n");
    for (size_t i = 0; i < CT_ARRAY_LEN(names); i++) {
        if (strlen(names[i].name) == len && strncmp(at, names[i].name, len) == 0) {
            at += len + strspn(at + len, BLANKS);
            *value = *at == '=' ? at + 1 + strspn(at + 1, BLANKS) : NULL;
            return *value != NULL ? &names[i] : NULL;
        }
    }
    return NULL;
}

/* Reads what follows the host, to the end of the line. Returns NULL, or what is wrong. */
static const char *take_settings(const char *at, uint32_t *slots, uint32_t *max_slots)
{
    while (*(at += strspn(at, BLANKS)) != '\0') {
        const char                *value = NULL;
        const struct setting_name *s = hosts_find_setting(at, &value);
        if (s != NULL && s->what == FOREIGN) {
            return s->ours;
        }
        size_t len = s != NULL ? strcspn(value, BLANKS) : 0;
        if (s == NULL || !read_slots(value, len, s->what == MAX_SLOTS ? max_slots : slots)) {
            return "after the host only slots=RANKS and max_slots=RANKS may stand, from 1 to 65536";
        }
        at = value + len;
    }
    return NULL;
}

/* Reads a line without its comment. Returns NULL, or what is wrong. */
static const char *take_line(struct ct_hosts *h, const char *line)
{
    const char *at = line + strspn(line, BLANKS), *name;
    size_t      len = strcspn(at, BLANKS), name_len;
    uint32_t    slots, given = 0, most = 0;
    if (len == 0) {
        return NULL;
    }
    if (!split_host(at, len, &name, &name_len, &slots)) {
        return "expected HOST, HOST:RANKS or HOST slots=RANKS max_slots=RANKS";
    }
    const char *wrong = take_settings(at + len, &given, &most);
    if (wrong != NULL) {
        return wrong;
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
    bool broken = wrong == NULL && ferror(f) != 0; /* a directory can be opened, and fails here */
    int  err = errno;
    fclose(f);
    if (wrong != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        snprintf(why, cap, "%s:%u: \"%.200s\": %s", path, number, line, wrong);
    } else if (broken) {
        snprintf(why, cap, "\"%s\" cannot be read: %s", path, strerror(err));
    } else if (h->n == 0) {
        snprintf(why, cap, "\"%s\" names no host", path);
    }
    free(line);
    return wrong == NULL && !broken && h->n > 0;
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
        ok = n > 0 && n <= CT_MAX_RANKS && hosts_is_name(names[i], strlen(names[i])) &&
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

/* Returns up to how many ranks a host is filled. */
enum limit { TO_SLOTS, TO_MAX_SLOTS, TO_ANY };

static uint32_t room_of(const struct ct_host *host, enum limit limit)
{
    return limit == TO_SLOTS ? host->slots : limit == TO_MAX_SLOTS ? host->max_slots : UINT32_MAX;
}

/* One rank to each host in turn that has room, until all are given out. */
static uint64_t hosts_give_in_turn(const struct ct_hosts *h, uint64_t left, enum limit limit,
                                   uint32_t *counts)
{
    bool gave = true;
    while (left > 0 && gave) {
        gave = false;
        for (uint32_t i = 0; i < h->n && left > 0; i++) {
            if (counts[i] < room_of(&h->all[i], limit)) {
                counts[i]++;
                left--;
                gave = true;
            }
        }
    }
    return left;
}

static uint64_t hosts_fill_slots(const struct ct_hosts *h, uint64_t left, uint32_t *counts)
{
    for (uint32_t i = 0; i < h->n; i++) {
        counts[i] = left < h->all[i].slots ? (uint32_t)left : h->all[i].slots;
        left -= counts[i];
    }
    return left;
}

/* The same number on each host; the last may have fewer. */
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
        left = in_turn ? hosts_give_in_turn(h, left, TO_SLOTS, counts)
                       : hosts_fill_slots(h, left, counts);
        left = hosts_give_in_turn(h, left, TO_MAX_SLOTS, counts);
        left = h->over ? hosts_give_in_turn(h, left, TO_ANY, counts) : left;
    }
    if (left > 0 && ppn > 0) {
        snprintf(why, cap,
                 "%u ranks do not fit on %u host%s with --ppn %u; raise --ppn or add hosts", n,
                 h->n, h->n == 1 ? "" : "s", ppn);
    } else if (left > 0) {
        snprintf(why, cap,
                 "%u ranks do not fit into the %llu slots of %u host%s; give the hosts more "
                 "(HOST:RANKS), add hosts, or use --ppn or --oversubscribe",
                 n, (unsigned long long)ct_hosts_slots(h), h->n, h->n == 1 ? "" : "s");
    }
    return left == 0;
}
