/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The set of labels; see labels.h. Names of hosts stand in a hash table, patterns in a list. What a
 * label says is kept once, however many hosts say it.
 */
#define HASH_NONFATAL_OOM 1 /* an element that cannot be added has hh.tbl NULL */
#include "topo/labels.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "topo/label_set.h"
#include "topo/slurmlist.h"

enum { MOST_HOST = 256 };

struct text {
    UT_hash_handle hh;
    char           text[];
};

struct host {
    UT_hash_handle  hh;
    struct ct_label label;
    bool            is_short; /* the first part of a full name */
    bool            unclear;  /* of several */
    char            name[];
};

struct pattern {
    struct ct_label label;
    char           *text;
};

struct ct_labels {
    struct text    *texts;
    struct host    *hosts;
    struct pattern *patterns;
    uint32_t        npatterns, room, nnamed;
    bool            any;             /* host that was named */
    char            only[MOST_HOST]; /* the host that is asked for; "": any */
};

/* ---- what is known --------------------------------------------------------------------------- */

static const struct ct_label unknown = {"", "", "", ""};

static const char *labels_first_of(const char *a, const char *b)
{
    return a[0] != '\0' ? a : b;
}

static void labels_complete(struct ct_label *label, const struct ct_label *by)
{
    label->nvlink = labels_first_of(label->nvlink, by->nvlink);
    label->rack = labels_first_of(label->rack, by->rack);
    label->zone = labels_first_of(label->zone, by->zone);
    label->dc = labels_first_of(label->dc, by->dc);
}

static bool is_complete(const struct ct_label *label)
{
    return label->nvlink[0] != '\0' && label->rack[0] != '\0' && label->zone[0] != '\0' &&
           label->dc[0] != '\0';
}

/* The set's own copy; NULL without memory. */
static const char *labels_keep(struct ct_labels *l, const char *name)
{
    struct text *t;
    size_t       len = strlen(name);
    if (len == 0) {
        return "";
    }
    HASH_FIND(hh, l->texts, name, len, t);
    if (t != NULL) {
        return t->text;
    }
    t = calloc(1, sizeof *t + len + 1);
    if (t == NULL) {
        return NULL;
    }
    memcpy(t->text, name, len);
    HASH_ADD_KEYPTR(hh, l->texts, t->text, len, t);
    if (t->hh.tbl == NULL) {
        free(t);
        return NULL;
    }
    return t->text;
}

static bool keep_label(struct ct_labels *l, const struct ct_label *from, struct ct_label *to)
{
    *to = (struct ct_label){labels_keep(l, from->nvlink), labels_keep(l, from->rack),
                            labels_keep(l, from->zone), labels_keep(l, from->dc)};
    return to->nvlink != NULL && to->rack != NULL && to->zone != NULL && to->dc != NULL;
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static struct host *labels_find(const struct ct_labels *l, const char *name, size_t len)
{
    struct host *h;
    HASH_FIND(hh, l->hosts, name, len, h);
    return h;
}

static struct host *labels_make(struct ct_labels *l, const char *name, size_t len)
{
    struct host *h = calloc(1, sizeof *h + len + 1);
    if (h == NULL) {
        return NULL;
    }
    memcpy(h->name, name, len);
    h->label = unknown;
    HASH_ADD_KEYPTR(hh, l->hosts, h->name, len, h);
    if (h->hh.tbl == NULL) {
        free(h);
        return NULL;
    }
    return h;
}

/* The first part of a full name, where it is one: an address has none. */
static size_t short_len(const char *name)
{
    size_t len = strcspn(name, ".");
    return name[len] == '.' && strspn(name, "0123456789") < len ? len : 0;
}

/* A full name may be asked for by its first part, unless that is a host of its own, or several have
 * it. */
static bool add_short(struct ct_labels *l, const char *name, const struct ct_label *label, bool new)
{
    size_t       len = short_len(name);
    struct host *h = len > 0 ? labels_find(l, name, len) : NULL;
    if (len == 0 || (h != NULL && !h->is_short)) {
        return true;
    }
    if (h != NULL) {
        h->unclear = h->unclear || new;
        labels_complete(&h->label, label);
        return true;
    }
    h = labels_make(l, name, len);
    if (h != NULL) {
        h->is_short = true;
        h->label = *label;
    }
    return h != NULL;
}

static bool add_host(struct ct_labels *l, const char *name, const struct ct_label *label)
{
    size_t       len = strlen(name);
    struct host *h = labels_find(l, name, len);
    bool new = h == NULL || h->is_short;
    if (h == NULL) {
        h = labels_make(l, name, len);
    } else if (h->is_short) {
        h->is_short = h->unclear = false;
        h->label = unknown;
    }
    if (h == NULL) {
        return false;
    }
    l->nnamed += new;
    labels_complete(&h->label, label);
    return add_short(l, name, label, new);
}

static bool add_pattern(struct ct_labels *l, const char *text, const struct ct_label *label)
{
    if (l->npatterns == l->room) {
        uint32_t        room = l->room > 0 ? 2 * l->room : 16;
        struct pattern *more = realloc(l->patterns, room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        l->patterns = more;
        l->room = room;
    }
    char *copy = strdup(text);
    if (copy != NULL) {
        l->patterns[l->npatterns++] = (struct pattern){*label, copy};
        l->nnamed++;
    }
    return copy != NULL;
}

/* Whether an answer for the host that is asked for may depend on this name: a pattern that matches,
 * or its own first part, also another's, which makes that unclear. */
static bool labels_concerns(const struct ct_labels *l, const char *name)
{
    char         part[MOST_HOST];
    const size_t len = strcspn(l->only, ".");
    if (l->only[0] == '\0') {
        return true;
    }
    if (strpbrk(name, "*?") == NULL) {
        return strcspn(name, ".") == len && memcmp(name, l->only, len) == 0;
    }
    snprintf(part, sizeof part, "%.*s", (int)len, l->only);
    return ct_label_match(name, l->only) || ct_label_match(name, part);
}

static int add_names(struct ct_labels *l, char **names, const struct ct_label *label)
{
    struct ct_label kept = {NULL, NULL, NULL, NULL};
    for (; *names != NULL; names++) {
        l->any = true;
        if (!labels_concerns(l, *names)) {
            continue;
        }
        if (kept.rack == NULL && !keep_label(l, label, &kept)) {
            return CTRAN_ERR_NO_MEM;
        }
        bool ok = strpbrk(*names, "*?") != NULL ? add_pattern(l, *names, &kept)
                                                : add_host(l, *names, &kept);
        if (!ok) {
            return CTRAN_ERR_NO_MEM;
        }
    }
    return CTRAN_SUCCESS;
}

/* Capitals do not count in names of hosts. */
static void labels_lower(char *name)
{
    for (; *name != '\0'; name++) {
        *name = (char)tolower((unsigned char)*name);
    }
}

int ct_labels_add(struct ct_labels **labels, const char *hosts, const struct ct_label *label,
                  char *why, size_t cap)
{
    struct ct_labels *l = *labels != NULL ? *labels : calloc(1, sizeof *l);
    char             *text = strdup(hosts);
    char            **names = NULL;
    int               rc = l != NULL && text != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    if (rc == CTRAN_SUCCESS) {
        *labels = l;
        labels_lower(text);
        names = ct_slurmlist_hosts(text, CT_LABELS_HOSTS - l->nnamed);
        rc = names != NULL ? add_names(l, names, label) : CTRAN_ERR_ARG;
    } else if (*labels == NULL) {
        free(l);
    }
    if (rc == CTRAN_ERR_ARG) {
        snprintf(why, cap,
                 "\"%.80s\" is no list of hosts as in n[01-04,7],m* or makes it more than %d hosts",
                 hosts, CT_LABELS_HOSTS);
    }
    ct_slurmlist_free(names);
    free(text);
    return rc;
}

int ct_labels_only(struct ct_labels **labels, const char *host)
{
    struct ct_labels *l = calloc(1, sizeof *l);
    if (l == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (strlen(host) < sizeof l->only) { /* nothing is known of a longer one */
        memcpy(l->only, host, strlen(host) + 1);
        labels_lower(l->only);
    }
    *labels = l;
    return CTRAN_SUCCESS;
}

bool ct_labels_none(const struct ct_labels *l)
{
    return l == NULL || !l->any;
}

void ct_labels_free(struct ct_labels *l)
{
    struct text *t, *next_text;
    struct host *h, *next_host;
    if (l == NULL) {
        return;
    }
    HASH_ITER (hh, l->texts, t, next_text) {
        HASH_DEL(l->texts, t);
        free(t);
    }
    HASH_ITER (hh, l->hosts, h, next_host) {
        HASH_DEL(l->hosts, h);
        free(h);
    }
    for (uint32_t i = 0; i < l->npatterns; i++) {
        free(l->patterns[i].text);
    }
    free(l->patterns);
    free(l);
}

/* ---- questions ------------------------------------------------------------------------------- */

struct ct_label ct_labels_of(const struct ct_labels *l, const char *host)
{
    struct ct_label label = unknown;
    char            name[MOST_HOST], part[MOST_HOST];
    if (l == NULL || strlen(host) >= sizeof name) {
        return label;
    }
    memcpy(name, host, strlen(host) + 1);
    labels_lower(name);
    size_t             len = short_len(name);
    const struct host *h = labels_find(l, name, strlen(name));
    h = h == NULL && len > 0 ? labels_find(l, name, len) : h;
    h = h != NULL && len > 0 && h->is_short ? NULL : h; /* another's first part */
    if (h != NULL && !h->unclear) {
        label = h->label;
    }
    snprintf(part, sizeof part, "%.*s", (int)(len > 0 ? len : strlen(name)), name);
    for (uint32_t i = 0; i < l->npatterns && !is_complete(&label); i++) {
        const struct pattern *p = &l->patterns[i];
        if (ct_label_match(p->text, name) || (len > 0 && ct_label_match(p->text, part))) {
            labels_complete(&label, &p->label);
        }
    }
    return label;
}

int ct_labels_each(const struct ct_labels *l,
                   int (*fn)(void *arg, const char *host, const struct ct_label *label), void *arg)
{
    int rc = CTRAN_SUCCESS;
    if (l == NULL) {
        return rc;
    }
    for (const struct host *h = l->hosts; h != NULL && rc == CTRAN_SUCCESS; h = h->hh.next) {
        if (!h->is_short) {
            const struct ct_label label = ct_labels_of(l, h->name);
            rc = fn(arg, h->name, &label);
        }
    }
    for (uint32_t i = 0; i < l->npatterns && rc == CTRAN_SUCCESS; i++) {
        rc = fn(arg, l->patterns[i].text, &l->patterns[i].label);
    }
    return rc;
}
