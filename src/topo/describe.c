/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions of machines; see synthetic.h. Whatever the text, indices stay in their arrays. */
#include <string.h>

#include "topo/find.h"
#include "topo/load.h"
#include "topo/synthetic.h"

struct reading {
    struct ct_machine *m;
    struct ct_text     t;
};

/* A field of text: its whole length is the limit. */
static int set_text(const struct reading *r, struct ct_word value, char *field, size_t cap)
{
    return ct_word_copy(value, field, cap)
               ? CTRAN_SUCCESS
               : ct_text_fail(&r->t, value.at, "longer than %zu characters", cap - 1);
}

static int set_bool(const struct reading *r, struct ct_word value, const char *yes, const char *no,
                    bool *field)
{
    *field = ct_word_is(value, yes);
    return *field || ct_word_is(value, no)
               ? CTRAN_SUCCESS
               : ct_text_fail(&r->t, value.at, "expected %s or %s, not \"%.*s\"", yes, no,
                              CT_WORD_ARG(value));
}

/* A number with a unit, which multiplies by 1, `step`, step^2, ... in the order of `units`. */
static int read_amount(const struct reading *r, struct ct_word value, const char *units,
                       uint64_t step, uint64_t max, uint64_t *amount)
{
    struct ct_word digits = value;
    const char    *unit = value.len > 0 ? strchr(units, value.at[value.len - 1]) : NULL;
    digits.len -= unit != NULL;
    bool good = ct_word_number(digits, max, amount);
    for (; good && unit != NULL && unit > units; unit--) {
        good = *amount <= max / step;
        *amount *= good ? step : 1;
    }
    return good ? CTRAN_SUCCESS
                : ct_text_fail(&r->t, value.at,
                               "\"%.*s\" is no amount: a number, and one of %s behind it",
                               CT_WORD_ARG(value), units);
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/* "18", to each other GPU, or "1:4,2:4"; both ends of a link know it. */
static int set_links(struct reading *r, uint32_t gpu, struct ct_word value)
{
    struct ct_machine *m = r->m;
    struct ct_word     item;
    uint64_t           n;
    if (ct_word_number(value, UINT8_MAX, &n)) {
        for (uint32_t i = 0; i < m->ngpus; i++) {
            m->gpus[gpu].links[i] = m->gpus[i].links[gpu] = (uint8_t)(i != gpu ? n : 0);
        }
        return CTRAN_SUCCESS;
    }
    while (ct_word_split(&value, ',', &item)) {
        struct ct_word count = item, peer;
        int            other;
        (void)ct_word_split(&count, ':', &peer);
        if (count.at == NULL || !ct_word_number(count, UINT8_MAX, &n)) {
            return ct_text_fail(&r->t, item.at, "expected N or GPU:N, N up to 255, not \"%.*s\"",
                                CT_WORD_ARG(item));
        }
        int rc = ct_find_gpu(m, &r->t, peer, &other);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        if ((uint32_t)other == gpu) {
            return ct_text_fail(&r->t, item.at, "a link of GPU %d to itself", other);
        }
        m->gpus[gpu].links[other] = m->gpus[other].links[gpu] = (uint8_t)n;
    }
    return CTRAN_SUCCESS;
}

static int set_gpu(struct reading *r, uint32_t gpu, struct ct_word key, struct ct_word value)
{
    struct ct_machine_gpu *g = &r->m->gpus[gpu];
    if (ct_word_is(key, "name")) {
        return set_text(r, value, g->name, sizeof g->name);
    }
    if (ct_word_is(key, "uuid")) {
        return set_text(r, value, g->uuid, sizeof g->uuid);
    }
    if (ct_word_is(key, "domain")) {
        return set_text(r, value, g->domain, sizeof g->domain);
    }
    if (ct_word_is(key, "nvswitch")) {
        return set_bool(r, value, "yes", "no", &g->nvswitch);
    }
    if (ct_word_is(key, "memory")) {
        return read_amount(r, value, "BKMGT", 1024, (uint64_t)1 << 50, &g->memory_bytes);
    }
    if (ct_word_is(key, "links")) {
        return set_links(r, gpu, value);
    }
    return ct_text_fail(&r->t, key.at,
                        "\"%.*s\" is nothing that a GPU has: name, uuid, memory, domain, nvswitch "
                        "or links",
                        CT_WORD_ARG(key));
}

/* ---- NICs ------------------------------------------------------------------------------------ */

static int set_speed(struct reading *r, struct ct_nic *nic, struct ct_word value)
{
    enum { MILLION = 1000000 };
    uint64_t bits = 0;
    int      rc = read_amount(r, value, "bKMGT", 1000, (uint64_t)UINT32_MAX * MILLION, &bits);
    nic->speed_mbps = (uint32_t)(bits / MILLION);
    return rc;
}

static int set_guid(struct reading *r, struct ct_nic *nic, struct ct_word value)
{
    static const char hex[] = "0123456789abcdef";
    uint64_t          guid = 0;
    unsigned          digits = 0;
    for (size_t i = 0; i < value.len; i++) {
        const char *digit = value.at[i] != '\0' ? strchr(hex, value.at[i]) : NULL;
        if (digit == NULL && value.at[i] == ':') {
            continue;
        }
        if (digit == NULL || ++digits > 16) {
            return ct_text_fail(&r->t, value.at, "\"%.*s\" is no GUID: 16 digits, as 0a1b:...",
                                CT_WORD_ARG(value));
        }
        guid = guid << 4 | (uint64_t)(digit - hex);
    }
    nic->guid = guid;
    return CTRAN_SUCCESS;
}

static int set_nic(struct reading *r, uint32_t index, struct ct_word key, struct ct_word value)
{
    struct ct_nic *nic = &r->m->nics[index];
    bool           verbs;
    if (ct_word_is(key, "netdev")) {
        return set_text(r, value, nic->netdev, sizeof nic->netdev);
    }
    if (ct_word_is(key, "bond")) {
        return set_text(r, value, nic->bond, sizeof nic->bond);
    }
    if (ct_word_is(key, "firmware")) {
        return set_text(r, value, nic->firmware, sizeof nic->firmware);
    }
    if (ct_word_is(key, "label")) {
        return set_text(r, value, nic->label, sizeof nic->label);
    }
    if (ct_word_is(key, "up")) {
        return set_bool(r, value, "yes", "no", &nic->up);
    }
    if (ct_word_is(key, "link")) {
        return set_bool(r, value, "infiniband", "ethernet", &nic->ib);
    }
    if (ct_word_is(key, "kind")) {
        int rc = set_bool(r, value, "verbs", "ethernet", &verbs);
        nic->kind = verbs ? CT_NIC_VERBS : CT_NIC_ETHERNET;
        return rc;
    }
    if (ct_word_is(key, "speed")) {
        return set_speed(r, nic, value);
    }
    if (ct_word_is(key, "guid")) {
        return set_guid(r, nic, value);
    }
    return ct_text_fail(&r->t, key.at,
                        "\"%.*s\" is nothing that a NIC has: netdev, bond, firmware, label, kind, "
                        "up, link, speed or guid",
                        CT_WORD_ARG(key));
}

/* "NAME:PORT": a copy of the NIC's first port with another number. */
static int add_port(struct reading *r, struct ct_word w)
{
    struct ct_word number = w, name;
    uint64_t       port;
    int            old;
    (void)ct_word_split(&number, ':', &name);
    if (number.at == NULL || !ct_word_number(number, UINT8_MAX, &port) || port == 0) {
        return ct_text_fail(&r->t, w.at, "expected NAME:PORT, PORT from 1 to 255, not \"%.*s\"",
                            CT_WORD_ARG(w));
    }
    int rc = ct_find_nic(r->m, &r->t, name, &old);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    for (uint32_t i = 0; i < r->m->nnics; i++) {
        if (r->m->nics[i].port == port && strcmp(r->m->nics[i].name, r->m->nics[old].name) == 0) {
            return ct_text_fail(&r->t, w.at, "the port is there already");
        }
    }
    struct ct_nic *nic = ct_machine_add_nic(r->m, CT_NIC_VERBS, "", 1);
    if (nic == NULL) {
        return ct_text_fail(&r->t, w.at, "there is no room for more than %d ports",
                            CT_MACHINE_NICS);
    }
    *nic = r->m->nics[old];
    nic->port = (uint8_t)port;
    return CTRAN_SUCCESS;
}

/* ---- entries --------------------------------------------------------------------------------- */

static struct ct_word describe_unquoted(struct ct_word w)
{
    if (w.len >= 2 && w.at[0] == '"' && w.at[w.len - 1] == '"') {
        return (struct ct_word){w.at + 1, w.len - 2};
    }
    return w;
}

/* Applies all "KEY=VALUE" of `rest` to device i; anything else there is an error. */
static int set_device(struct reading *r, bool gpu, uint32_t i, struct ct_word rest)
{
    struct ct_word word;
    int            rc = CTRAN_SUCCESS;
    while (rc == CTRAN_SUCCESS && ct_word_next(&rest, &word)) {
        struct ct_word value = word, key;
        (void)ct_word_split(&value, '=', &key);
        if (value.at == NULL) {
            return ct_text_fail(&r->t, word.at, "expected KEY=VALUE, not \"%.*s\"",
                                CT_WORD_ARG(word));
        }
        value = describe_unquoted(value);
        rc = gpu ? set_gpu(r, i, key, value) : set_nic(r, i, key, value);
    }
    return rc;
}

/* "WHICH... KEY=VALUE..." */
static int read_devices(struct reading *r, bool gpu, struct ct_word rest)
{
    bool           chosen[CT_MACHINE_NICS] = {false}, any = false;
    const uint32_t n = gpu ? r->m->ngpus : r->m->nnics;
    struct ct_word word, before = rest;
    const char    *end = rest.at + rest.len;
    while (ct_word_next(&rest, &word) && memchr(word.at, '=', word.len) == NULL) {
        int one = 0, rc = CTRAN_SUCCESS;
        if (!ct_word_is(word, "*")) {
            rc = gpu ? ct_find_gpu(r->m, &r->t, word, &one) : ct_find_nic(r->m, &r->t, word, &one);
        }
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        for (uint32_t i = 0; i < n; i++) {
            chosen[i] |= ct_word_is(word, "*") || i == (uint32_t)one;
        }
        any = true;
        before = rest;
    }
    if (!any || word.len == 0) {
        return ct_text_fail(&r->t, any ? end : before.at, "expected %s here",
                            any ? "KEY=VALUE" : "a device, or *");
    }
    for (uint32_t i = 0; i < n; i++) {
        int rc = chosen[i] ? set_device(r, gpu, i, before) : CTRAN_SUCCESS;
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
    }
    return CTRAN_SUCCESS;
}

static int describe_read_entry(struct reading *r, struct ct_word rest)
{
    struct ct_word what, word;
    int            rc = CTRAN_SUCCESS;
    (void)ct_word_next(&rest, &what);
    if (ct_word_is(what, "gpu") || ct_word_is(what, "nic")) {
        return read_devices(r, ct_word_is(what, "gpu"), rest);
    }
    if (!ct_word_is(what, "port")) {
        return ct_text_fail(&r->t, what.at, "expected gpu, nic or port, not \"%.*s\"",
                            CT_WORD_ARG(what));
    }
    while (rc == CTRAN_SUCCESS && ct_word_next(&rest, &word)) {
        rc = add_port(r, word);
    }
    return rc;
}

int ct_machine_describe(struct ct_machine *m, const char *name, const char *text, char *why,
                        size_t cap)
{
    struct reading r = {.m = m};
    struct ct_word entry;
    r.t = (struct ct_text){.name = name, .begin = text, .at = text, .why = why, .cap = cap};
    int rc = CTRAN_SUCCESS;
    while (rc == CTRAN_SUCCESS && ct_text_entry(&r.t, &entry)) {
        rc = describe_read_entry(&r, entry);
    }
    ct_machine_settle(m);
    return rc;
}
