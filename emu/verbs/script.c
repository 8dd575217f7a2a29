/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The language of EMU_VERBS_FABRIC and EMU_VERBS_FAULTS (emu.h). Each line of the faults is carried
 * out once in the fabric: whoever comes to it first marks it. A line with a time is an event of
 * every process's heap, a line with a count of packets is looked at when a packet is sent.
 */
#include "emu.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORDS = 16, LINE = 512 };

struct words {
    char     text[LINE];
    char    *word[WORDS];
    unsigned n;
};

/* Lines after `after`, by the count of packets that this process has sent. */
static struct {
    char     text[LINE];
    uint64_t after;
    bool     counted, done;
} lines[EMU_SCRIPT_LINES];
static unsigned line_count, counted_left;

static bool wrong(const char *text, const char *why)
{
    fprintf(stderr, "emulated verbs: command \"%s\": %s\n", text, why);
    return false;
}

static bool split(const char *text, struct words *words)
{
    char *next = NULL;
    if (strlen(text) >= LINE) {
        return wrong(text, "too long");
    }
    strcpy(words->text, text);
    words->n = 0;
    for (char *word = strtok_r(words->text, " \t", &next); word != NULL;
         word = strtok_r(NULL, " \t", &next)) {
        if (words->n == WORDS) {
            return wrong(text, "too many words");
        }
        words->word[words->n++] = word;
    }
    return true;
}

/* A number with k, m or g behind it, which may be a fraction. */
static bool quantity(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    const char *unit = strchr("kmg", *end);
    if (end == text || *value < 0 || errno != 0 || unit == NULL) {
        return false;
    }
    if (*end != '\0') {
        *value *= *end == 'k' ? 1e3 : *end == 'm' ? 1e6 : 1e9;
        end++;
    }
    return *end == '\0';
}

static bool duration(const char *text, uint64_t *ns)
{
    static const struct {
        const char *unit;
        double      ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char        *end;
    const double value = strtod(text, &end);
    for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (end != text && value >= 0 && strcmp(end, units[i].unit) == 0) {
            *ns = (uint64_t)(value * units[i].ns);
            return true;
        }
    }
    return false;
}

static bool probability(const char *text, unsigned *of_2_32)
{
    double value;
    if (!quantity(text, &value) || value > 1) {
        return false;
    }
    *of_2_32 = value == 1 ? UINT32_MAX : (unsigned)(value * 4294967296.0);
    return true;
}

/* One KEY=VALUE or up or down of a link. */
static bool set_key(struct emu_shared_conf *conf, const char *word)
{
    const char *value = strchr(word, '=');
    const int   len = value != NULL ? (int)(value - word) : (int)strlen(word);
    double      number = 0;
    uint64_t    ns = 0;
    unsigned    share = 0;
    value = value != NULL ? value + 1 : "";
#define IS(key) (len == (int)strlen(key) && strncmp(word, key, (size_t)len) == 0)
    if (IS("rate") && quantity(value, &number)) {
        atomic_store(&conf->rate_bps, (uint64_t)number);
    } else if (IS("queue") && quantity(value, &number)) {
        atomic_store(&conf->queue_bytes, (uint64_t)number);
    } else if (IS("drop") && quantity(value, &number)) {
        atomic_store(&conf->drop_next, (unsigned)number);
    } else if (IS("latency") && duration(value, &ns)) {
        atomic_store(&conf->latency_ns, ns);
    } else if (IS("late") && duration(value, &ns)) {
        atomic_store(&conf->reorder_ns, ns);
    } else if (IS("loss") && probability(value, &share)) {
        atomic_store(&conf->loss, share);
    } else if (IS("reorder") && probability(value, &share)) {
        atomic_store(&conf->reorder, share);
    } else if (IS("up") || IS("down")) {
        atomic_store(&conf->down, IS("down"));
    } else {
        return false;
    }
#undef IS
    return true;
}

/* The first change of a link of its own begins with what holds for its kind. */
static struct emu_shared_conf *own_conf(struct emu_fabric *fabric, unsigned link)
{
    struct emu_shared_conf *conf = &fabric->links[link].conf;
    struct emu_link_conf    now;
    if (!atomic_load(&conf->set)) {
        emu_fabric_conf(fabric, link, &now);
        atomic_store(&conf->rate_bps, now.rate_bps);
        atomic_store(&conf->latency_ns, now.latency_ns);
        atomic_store(&conf->queue_bytes, now.queue_bytes);
        atomic_store(&conf->reorder_ns, now.reorder_ns);
        atomic_store(&conf->loss, now.loss);
        atomic_store(&conf->reorder, now.reorder);
        atomic_store(&conf->down, now.down);
        atomic_store(&conf->set, true);
    }
    return conf;
}

static bool set_keys(struct emu_fabric *fabric, struct emu_shared_conf *conf, struct words *words)
{
    for (unsigned i = 2; i < words->n; i++) {
        if (!set_key(conf, words->word[i])) {
            return wrong(words->word[i], "give rate=, latency=, queue=, loss=, reorder=, late=, "
                                         "drop=, up or down, with a value that makes sense");
        }
    }
    atomic_store(&fabric->shaped, true);
    return true;
}

/* The port that [HOST:]emuD/P names; -1 if none. */
static int port_of(struct emu_fabric *fabric, unsigned home, const char *name)
{
    const char *colon = strchr(name, ':');
    unsigned    host = home, device, port;
    int         used = 0;
    if (colon != NULL) {
        const size_t len = (size_t)(colon - name);
        for (host = 0; host < atomic_load(&fabric->hosts); host++) {
            if (strncmp(fabric->host[host], name, len) == 0 && fabric->host[host][len] == '\0') {
                break;
            }
        }
        if (host == atomic_load(&fabric->hosts)) {
            return -1;
        }
        name = colon + 1;
    }
    if (sscanf(name, "emu%u/%u%n", &device, &port, &used) != 2 || name[used] != '\0' ||
        device >= EMU_HOST_DEVICES || port < 1 || port > EMU_DEVICE_PORTS) {
        return -1;
    }
    return (int)(host * EMU_HOST_PORTS + device * EMU_DEVICE_PORTS + port - 1);
}

static bool number_or_all(const char *text, size_t len, unsigned below, int *value)
{
    char *end;
    if (len == 1 && *text == '*') {
        *value = -1;
        return true;
    }
    const unsigned long number = strtoul(text, &end, 10);
    *value = (int)number;
    return isdigit((unsigned char)*text) && end == text + len && number < below;
}

/* Links of racks: with * only what is there already, or the kind's default, changes. */
static bool rack_links(struct emu_fabric *fabric, enum emu_link_kind kind, const char *name,
                       struct words *words)
{
    const char *slash = strchr(name, '/');
    int         rack, spine;
    if (slash == NULL || !number_or_all(name, (size_t)(slash - name), EMU_RACKS, &rack) ||
        !number_or_all(slash + 1, strlen(slash + 1), EMU_SPINES, &spine)) {
        return wrong(name, "give RACK/SPINE, each a number or *");
    }
    if (rack < 0 && spine < 0) {
        return set_keys(fabric, &fabric->defaults[kind], words);
    }
    for (int r = rack < 0 ? 0 : rack; r < (rack < 0 ? EMU_RACKS : rack + 1); r++) {
        const int spines = (int)atomic_load(&fabric->spines);
        for (int s = spine < 0 ? 0 : spine; s < (spine < 0 ? spines : spine + 1); s++) {
            const unsigned link = emu_link_of_rack((unsigned)r, (unsigned)s, kind);
            if (!set_keys(fabric, own_conf(fabric, link), words)) {
                return false;
            }
        }
    }
    return true;
}

/* All links are as they were made. */
static void all_plain(struct emu_fabric *fabric)
{
    static const struct emu_shared_conf made;
    for (unsigned kind = 0; kind < EMU_LINK_KINDS; kind++) {
        memcpy(&fabric->defaults[kind], &made, sizeof made);
    }
    for (unsigned link = 0; link < EMU_LINKS; link++) {
        if (atomic_load(&fabric->links[link].conf.set)) {
            memcpy(&fabric->links[link].conf, &made, sizeof made);
        }
    }
    atomic_store(&fabric->shaped, false);
}

static bool command_link(struct emu_fabric *fabric, unsigned home, struct words *words)
{
    static const char *const kinds[] = {"up:", "down:", "leaf:", "spine:"};
    const char              *name = words->n > 2 ? words->word[1] : "";
    if (strcmp(name, "*") == 0 && words->n == 3 && strcmp(words->word[2], "plain") == 0) {
        all_plain(fabric);
        return true;
    }
    if (strcmp(name, "*") == 0) {
        for (unsigned kind = 0; kind < EMU_LINK_KINDS; kind++) {
            if (!set_keys(fabric, &fabric->defaults[kind], words)) {
                return false;
            }
        }
        return true;
    }
    for (unsigned kind = 0; kind < EMU_LINK_KINDS; kind++) {
        const size_t len = strlen(kinds[kind]);
        if (strncmp(name, kinds[kind], len) != 0) {
            continue;
        }
        if (kind >= EMU_LINK_LEAF) {
            return rack_links(fabric, (enum emu_link_kind)kind, name + len, words);
        }
        if (strcmp(name + len, "*") == 0) {
            return set_keys(fabric, &fabric->defaults[kind], words);
        }
        const int port = port_of(fabric, home, name + len);
        if (port >= 0) {
            const unsigned link = emu_link_of_port((unsigned)port, (enum emu_link_kind)kind);
            return set_keys(fabric, own_conf(fabric, link), words);
        }
    }
    return wrong(name,
                 "give link up:PORT, down:PORT, leaf:RACK/SPINE or spine:RACK/SPINE, or * for "
                 "any part, and what to set");
}

static bool change_port(struct emu_fabric_port *port, struct words *words)
{
    for (unsigned i = 2; i < words->n; i++) {
        if (strcmp(words->word[i], "newgid") == 0) {
            atomic_fetch_add(&port->generation, 1);
        } else if (strcmp(words->word[i], "up") == 0 || strcmp(words->word[i], "down") == 0) {
            atomic_store(&port->down, words->word[i][0] == 'd');
        } else {
            return wrong(words->word[i], "give up, down or newgid");
        }
    }
    return true;
}

static bool command_port(struct emu_fabric *fabric, unsigned home, struct words *words)
{
    const char *name = words->n > 2 ? words->word[1] : "";
    const int   port = port_of(fabric, home, name);
    bool        done = port >= 0 || strcmp(name, "*") == 0;
    if (!done) {
        return wrong(name, "give port [HOST:]emuDEVICE/PORT or *, and up, down or newgid");
    }
    for (int p = port < 0 ? 0 : port; done && p < (port < 0 ? EMU_PORTS : port + 1); p++) {
        done = change_port(&fabric->ports[p], words);
    }
    return done;
}

static bool command_registration(struct emu_registration *set, struct words *words)
{
    for (unsigned i = 1; i < words->n; i++) {
        const char *word = words->word[i];
        uint64_t    ns = 0;
        int         every = 0;
        if (strncmp(word, "base=", 5) == 0 && duration(word + 5, &ns)) {
            atomic_store(&set->base_ns, ns);
        } else if (strncmp(word, "page=", 5) == 0 && duration(word + 5, &ns)) {
            atomic_store(&set->page_ns, ns);
        } else if (strncmp(word, "spike=", 6) == 0 && duration(word + 6, &ns)) {
            atomic_store(&set->spike_ns, ns);
        } else if (strncmp(word, "every=", 6) == 0 &&
                   number_or_all(word + 6, strlen(word + 6), 1 << 30, &every) && every >= 0) {
            atomic_store(&set->every, (uint64_t)every);
        } else {
            return wrong(word, "give base=, page= or spike= with a time, or every= with a number");
        }
    }
    return true;
}

static bool command_racks(struct emu_fabric *fabric, const char *what)
{
    static const char *const kinds[] = {"none", "device", "host"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(what, kinds[i]) == 0) {
            atomic_store(&fabric->racks, i);
            return true;
        }
    }
    return wrong(what, "give racks none, device or host");
}

static bool command_spines(struct emu_fabric *fabric, const char *what)
{
    int spines;
    if (!number_or_all(what, strlen(what), EMU_SPINES + 1, &spines) || spines < 1) {
        return wrong(what, "give a number of spines of 1 to 32");
    }
    atomic_store(&fabric->spines, (unsigned)spines);
    return true;
}

bool emu_fabric_command(struct emu_fabric *fabric, unsigned home, const char *text)
{
    struct words words;
    bool         done = false;
    if (!split(text, &words)) {
        return false;
    }
    const char *verb = words.n > 0 ? words.word[0] : "";
    if (strcmp(verb, "link") == 0) {
        done = command_link(fabric, home, &words);
    } else if (strcmp(verb, "port") == 0) {
        done = command_port(fabric, home, &words);
    } else if (strcmp(verb, "registration") == 0) {
        done = command_registration(&fabric->registration, &words);
    } else if (strcmp(verb, "racks") == 0 && words.n == 2) {
        done = command_racks(fabric, words.word[1]);
    } else if (strcmp(verb, "spines") == 0 && words.n == 2) {
        done = command_spines(fabric, words.word[1]);
    } else {
        return wrong(text, "give link, port, racks, spines or registration");
    }
    if (done) {
        emu_fabric_changed(fabric);
    }
    return done;
}

/* The next command of a text, without blanks around it; false at the end. */
static bool next_line(const char **text, char line[LINE])
{
    while (**text != '\0') {
        *text += strspn(*text, " \t\n;");
        size_t len = strcspn(*text, "\n;");
        snprintf(line, LINE, "%.*s", (int)len, *text);
        *text += len;
        while (len > 0 && len < LINE && isspace((unsigned char)line[len - 1])) {
            line[--len] = '\0';
        }
        if (*line != '\0' && *line != '#') {
            return true;
        }
    }
    return false;
}

void emu_script_configure(struct emu_fabric *fabric, unsigned host)
{
    const char *text = emu_set.fabric;
    for (char line[LINE]; next_line(&text, line);) {
        if (!emu_fabric_command(fabric, host, line)) {
            exit(1);
        }
    }
}

static void bad_line(const char *line)
{
    fprintf(stderr,
            "emulated verbs: EMU_VERBS_FAULTS has \"%s\"; give at most %d lines of: at TIME "
            "COMMAND, or: after PACKETS COMMAND\n",
            line, EMU_SCRIPT_LINES);
    exit(1);
}

void emu_script_start(void)
{
    const char *text = emu_set.faults;
    line_count = counted_left = 0;
    for (char line[LINE]; next_line(&text, line); line_count++) {
        int                used = 0;
        char               when[32];
        uint64_t           ns = 0;
        unsigned long long packets = 0;
        if (line_count == EMU_SCRIPT_LINES) {
            bad_line(line);
        }
        if (sscanf(line, "at %31s %n", when, &used) == 1 && used > 0 && duration(when, &ns)) {
            emu_later(ns * EMU_PS_PER_NS, EMU_EV_SCRIPT, line_count, 0, NULL);
        } else if (sscanf(line, "after %llu %n", &packets, &used) == 1 && used > 0) {
            counted_left++;
        } else {
            bad_line(line);
        }
        snprintf(lines[line_count].text, LINE, "%s", line + used);
        lines[line_count].after = packets;
        lines[line_count].counted = packets > 0;
        lines[line_count].done = false;
    }
}

void emu_script_run(unsigned line)
{
    if (!atomic_exchange(&emu_nic.fabric->line_done[line], true)) {
        (void)emu_fabric_command(emu_nic.fabric, emu_nic.place.host, lines[line].text);
    }
}

void emu_script_sent(uint64_t packets)
{
    for (unsigned i = 0; counted_left > 0 && i < line_count; i++) {
        if (lines[i].counted && !lines[i].done && packets > lines[i].after) {
            lines[i].done = true;
            counted_left--;
            emu_script_run(i);
        }
    }
}

int emu_verbs_command(const char *text)
{
    bool done = emu_nic_start();
    for (char line[LINE]; done && next_line(&text, line);) {
        emu_lock();
        done = emu_fabric_command(emu_nic.fabric, emu_nic.place.host, line);
        emu_unlock();
    }
    return done ? 0 : EINVAL;
}

int emu_verbs_counts(const char *link, struct emu_link_counts *counts)
{
    unsigned a, b;
    int      used = 0, port;
    if (!emu_nic_start()) {
        return ENODEV;
    }
    const bool up = strncmp(link, "up:", 3) == 0;
    if (up || strncmp(link, "down:", 5) == 0) {
        port = port_of(emu_nic.fabric, emu_nic.place.host, strchr(link, ':') + 1);
        a = port < 0 ? 0 : emu_link_of_port((unsigned)port, up ? EMU_LINK_UP : EMU_LINK_DOWN);
    } else {
        const bool leaf = strncmp(link, "leaf:", 5) == 0;
        port = sscanf(link, leaf ? "leaf:%u/%u%n" : "spine:%u/%u%n", &a, &b, &used) == 2 &&
                       link[used] == '\0' && a < EMU_RACKS && b < EMU_SPINES
                   ? 0
                   : -1;
        a = port < 0 ? 0 : emu_link_of_rack(a, b, leaf ? EMU_LINK_LEAF : EMU_LINK_SPINE);
    }
    if (port < 0) {
        return EINVAL;
    }
    emu_fabric_counts(emu_nic.fabric, a, counts);
    return 0;
}
