/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptions of clusters: lines "WORD KEY=VALUE ...", # begins a comment. The shape is the text
 * that `ctran_info --cluster` takes; ctran_sim(1) has all words.
 */
#include "sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/textfile.h"

#define GB 1e9

void sim_cluster_default(struct sim_cluster *c)
{
    *c = (struct sim_cluster){
        .name = "default",
        .shape = {.dcs = 32, .zones = 8, .racks = 256, .hosts = 2, .gpus = 8},
        .latency_us = {[CT_DIST_NODE] = 0.7,
                       [CT_DIST_NVLINK] = 0.7,
                       [CT_DIST_RACK] = 1,
                       [CT_DIST_ZONE] = 7,
                       [CT_DIST_DC] = 15,
                       [CT_DIST_BEYOND] = 30},
        .nvlink = 390 * GB,
        .nic = 50 * GB,
        .memory = 2100 * GB,
        .reduce = 1400 * GB,
        .over = {[SIM_RACK] = 1, [SIM_ZONE] = 2.8, [SIM_DC] = 2.8},
        .send_us = 0.3,
        .recv_us = 0.3,
        .eager = UINT64_MAX,
    };
}

bool sim_take_bytes(const char *text, uint64_t *out)
{
    static const char units[] = "KMGT";
    char             *end;
    double            v = strtod(text, &end);
    const char       *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (end == text || !(v >= 0)) {
        return false;
    }
    for (const char *u = units; unit != NULL && u <= unit; u++) {
        v *= 1024;
    }
    end += unit != NULL;
    *out = (uint64_t)v;
    return *end == '\0' && v < 1e18 && (double)*out == v;
}

/* A rate as 50G: decimal units, bytes a second. */
static bool take_rate(const char *text, double *out)
{
    char  *end;
    double v = strtod(text, &end);
    double unit = *end == 'T'   ? 1e12
                  : *end == 'G' ? 1e9
                  : *end == 'M' ? 1e6
                  : *end == 'K' ? 1e3
                                : 1;
    *out = v * unit;
    end += unit > 1;
    return end != text && *end == '\0' && (*out == 0 || *out >= 1) && *out <= 1e18;
}

static bool take_number(const char *text, double high, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= 0 && *out <= high;
}

enum kind { US, RATE, RATIO, COUNT, BYTES };

/* Each line's word, its keys, and where their values go. */
static const struct key {
    const char *word, *key;
    enum kind   kind;
    size_t      at;
} keys[] = {
#define AT(field) offsetof(struct sim_cluster, field)
    {"latency", "self", US, AT(latency_us[CT_DIST_SELF])},
    {"latency", "node", US, AT(latency_us[CT_DIST_NODE])},
    {"latency", "nvlink", US, AT(latency_us[CT_DIST_NVLINK])},
    {"latency", "rack", US, AT(latency_us[CT_DIST_RACK])},
    {"latency", "zone", US, AT(latency_us[CT_DIST_ZONE])},
    {"latency", "dc", US, AT(latency_us[CT_DIST_DC])},
    {"latency", "beyond", US, AT(latency_us[CT_DIST_BEYOND])},
    {"rate", "nvlink", RATE, AT(nvlink)},
    {"rate", "nic", RATE, AT(nic)},
    {"rate", "shared", RATE, AT(shared)},
    {"rate", "rack", RATE, AT(uplink[SIM_RACK])},
    {"rate", "zone", RATE, AT(uplink[SIM_ZONE])},
    {"rate", "dc", RATE, AT(uplink[SIM_DC])},
    {"rate", "memory", RATE, AT(memory)},
    {"rate", "reduce", RATE, AT(reduce)},
    {"oversubscription", "rack", RATIO, AT(over[SIM_RACK])},
    {"oversubscription", "zone", RATIO, AT(over[SIM_ZONE])},
    {"oversubscription", "dc", RATIO, AT(over[SIM_DC])},
    {"host", "nics", COUNT, AT(nics)},
    {"host", "cores", COUNT, AT(cores)},
    {"message", "send", US, AT(send_us)},
    {"message", "recv", US, AT(recv_us)},
    {"message", "step", US, AT(step_us)},
    {"message", "round", US, AT(round_us)},
    {"message", "call", US, AT(call_us)},
    {"message", "switch", US, AT(switch_us)},
    {"message", "near", US, AT(near_us)},
    {"message", "nap", US, AT(nap_us)},
    {"message", "fall", US, AT(fall_us)},
    {"message", "wake", US, AT(wake_us)},
    {"message", "move", RATE, AT(move)},
    {"message", "fresh", RATE, AT(fresh)},
    {"message", "far", RATE, AT(far)},
    {"message", "dram", RATE, AT(dram)},
    {"message", "cache", BYTES, AT(cache)},
    {"message", "llc", BYTES, AT(llc)},
    {"message", "ring", BYTES, AT(ring)},
    {"message", "eager", BYTES, AT(eager)},
#undef AT
};

static const char *const wants[] = {
    [US] = "microseconds, 0 to 1e9",
    [RATE] = "bytes a second, as 50G, 1 or more, or 0",
    [RATIO] = "a ratio, as 2.8 (or 1:2.8), above 0",
    [COUNT] = "a whole number, 0 to 4096",
    [BYTES] = "bytes, as 64K",
};

static bool take_value(struct sim_cluster *c, const struct key *k, const char *text)
{
    void  *to = (char *)c + k->at;
    double v = 0;
    bool   good = false;
    switch (k->kind) {
    case US:
        good = take_number(text, 1e9, &v);
        break;
    case RATE:
        good = take_rate(text, &v);
        break;
    case RATIO:
        good = take_number(strncmp(text, "1:", 2) == 0 ? text + 2 : text, 1e6, &v) && v > 0;
        break;
    case COUNT:
        good = take_number(text, 4096, &v) && v == (uint32_t)v;
        *(uint32_t *)to = good ? (uint32_t)v : 0;
        return good;
    case BYTES:
        return sim_take_bytes(text, to);
    }
    *(double *)to = v;
    return good;
}

/* The keys of a word, for the one who looks for them; "" for a word that is none. */
static void list_keys(const char *word, char *out, size_t cap)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < CT_ARRAY_LEN(keys); i++) {
        if (strcmp(keys[i].word, word) == 0 && at < cap) {
            at += (size_t)snprintf(out + at, cap - at, "%s%s", at > 0 ? ", " : "", keys[i].key);
        }
    }
}

static int read_pair(struct sim_cluster *c, const char *word, char *pair, char *why, size_t cap)
{
    char  list[160];
    char *value = strchr(pair, '=');
    if (value == NULL) {
        (void)snprintf(why, cap, "expected KEY=VALUE, not \"%.64s\"", pair);
        return CTRAN_ERR_ARG;
    }
    *value++ = '\0';
    for (size_t i = 0; i < CT_ARRAY_LEN(keys); i++) {
        if (strcmp(keys[i].word, word) == 0 && strcmp(keys[i].key, pair) == 0) {
            if (take_value(c, &keys[i], value)) {
                return CTRAN_SUCCESS;
            }
            (void)snprintf(why, cap, "%s %s=\"%.64s\": expected %s", word, pair, value,
                           wants[keys[i].kind]);
            return CTRAN_ERR_ARG;
        }
    }
    list_keys(word, list, sizeof list);
    (void)snprintf(why, cap, "%s has no \"%.64s\"; it has %s", word, pair, list);
    return CTRAN_ERR_ARG;
}

static int read_line(struct sim_cluster *c, char *line, char *why, size_t cap)
{
    static const char blanks[] = " \t\r\n";
    char              list[160], *next;
    line[strcspn(line, "#")] = '\0';
    char *word = strtok_r(line, blanks, &next);
    if (word == NULL) {
        return CTRAN_SUCCESS;
    }
    if (strcmp(word, "cluster") == 0) {
        return ct_cluster_parse(&c->shape, next, why, cap);
    }
    list_keys(word, list, sizeof list);
    if (list[0] == '\0') {
        (void)snprintf(why, cap,
                       "\"%.64s\" is no word of a description: cluster, latency, rate, "
                       "oversubscription, host or message",
                       word);
        return CTRAN_ERR_ARG;
    }
    int rc = CTRAN_SUCCESS;
    for (char *pair; rc == CTRAN_SUCCESS && (pair = strtok_r(NULL, blanks, &next)) != NULL;) {
        rc = read_pair(c, word, pair, why, cap);
    }
    return rc;
}

/* What would make a message last for ever. */
static int check(const struct sim_cluster *c, char *why, size_t cap)
{
    const struct {
        const char *name;
        double      rate;
    } needed[] = {
        {"nvlink", c->nvlink}, {"nic", c->nic}, {"memory", c->memory}, {"reduce", c->reduce}};
    for (size_t i = 0; i < CT_ARRAY_LEN(needed); i++) {
        if (!(needed[i].rate > 0)) {
            (void)snprintf(why, cap, "rate %s=0: expected more than 0", needed[i].name);
            return CTRAN_ERR_ARG;
        }
    }
    return CTRAN_SUCCESS;
}

int sim_cluster_read(struct sim_cluster *c, const char *path, char *why, size_t cap)
{
    enum { MOST_BYTES = 1 << 20 };
    char     reason[256] = "", *text = ct_textfile_read(path, MOST_BYTES), *next = text;
    unsigned number = 0;
    int      rc = CTRAN_SUCCESS;
    if (text == NULL) {
        const int error = errno;
        (void)snprintf(why, cap, "%s: %s", path, ct_textfile_why(error));
        return error == ENOMEM ? CTRAN_ERR_NO_MEM : CTRAN_ERR_ARG;
    }
    for (char *line; rc == CTRAN_SUCCESS && (line = strsep(&next, "\n")) != NULL;) {
        number += line[0] != '\0' || next != NULL;
        rc = read_line(c, line, reason, sizeof reason);
    }
    rc = rc == CTRAN_SUCCESS ? check(c, reason, sizeof reason) : rc;
    if (rc != CTRAN_SUCCESS) {
        (void)snprintf(why, cap, "%s:%u: %s", path, number, reason);
    }
    const char *base = strrchr(path, '/');
    (void)snprintf(c->name, sizeof c->name, "%s", base != NULL ? base + 1 : path);
    free(text);
    return rc;
}
