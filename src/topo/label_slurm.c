/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Labels from Slurm: topology.conf, `scontrol show topology`, and the variables of a node. A leaf
 * switch is a rack, the switch above it a zone, and the top of a tree of three or more levels a
 * data centre: switches between those two say nothing. A block is an NVLink domain.
 * Source: topology.conf(5), and srun(1) on SLURM_TOPOLOGY_ADDR.
 */
#define HASH_NONFATAL_OOM 1 /* an element that cannot be added has hh.tbl NULL */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "topo/label_set.h"
#include "topo/slurmlist.h"

enum { MOST_SWITCHES = 1 << 16 };

struct switch_ {
    UT_hash_handle  hh;
    struct switch_ *above;
    char    *nodes; /* of a leaf; NULL: none were named, or they are those of switches below */
    unsigned line;
    char     name[CT_LABEL_LEN];
};

/* What a line says; one of blocks of blocks (AggregatedBlock=, BlockSizes=) has no name here. */
struct entry {
    const char *name, *nodes, *below; /* NULL: not said */
    bool        is_block;
};

/* ---- lines ----------------------------------------------------------------------------------- */

bool ct_label_slurm_is(const char *line)
{
    return ct_label_value(line, "SwitchName") != NULL ||
           ct_label_value(line, "BlockName") != NULL ||
           ct_label_value(line, "BlockSizes") != NULL ||
           ct_label_value(line, "AggregatedBlock") != NULL;
}

static int take_words(char *at, struct entry *e, char *why, size_t cap)
{
    for (char *word; (word = ct_label_word(&at)) != NULL;) {
        const char *sw = ct_label_value(word, "SwitchName");
        const char *block = ct_label_value(word, "BlockName");
        const char *nodes = ct_label_value(word, "Nodes");
        const char *below = ct_label_value(word, "Switches");
        if (strchr(word, '=') == NULL) {
            snprintf(why, cap, "\"%.80s\" is no KEY=VALUE", word);
            return CTRAN_ERR_ARG;
        }
        e->is_block = e->is_block || block != NULL;
        e->name = sw != NULL ? sw : block != NULL ? block : e->name;
        e->nodes = nodes != NULL && *nodes != '\0' ? nodes : e->nodes;
        e->below = below != NULL && *below != '\0' ? below : e->below;
    }
    if (e->name != NULL && (*e->name == '\0' || strlen(e->name) >= CT_LABEL_LEN)) {
        snprintf(why, cap, "\"%.80s\": a name has 1 to %d characters", e->name, CT_LABEL_LEN - 1);
        return CTRAN_ERR_ARG;
    }
    return CTRAN_SUCCESS;
}

/* ---- switches -------------------------------------------------------------------------------- */

/* The switch of a name; NULL without memory. */
static struct switch_ *label_slurm_find_or_make(struct switch_ **all, const char *name)
{
    struct switch_ *s;
    HASH_FIND(hh, *all, name, strlen(name), s);
    if (s != NULL) {
        return s;
    }
    s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    snprintf(s->name, sizeof s->name, "%s", name);
    HASH_ADD_KEYPTR(hh, *all, s->name, strlen(s->name), s);
    if (s->hh.tbl == NULL) {
        free(s);
        return NULL;
    }
    return s;
}

static void free_switches(struct switch_ *all)
{
    struct switch_ *s, *next;
    HASH_ITER (hh, all, s, next) {
        HASH_DEL(all, s);
        free(s->nodes);
        free(s);
    }
}

/* Puts the switches that it names below s. */
static int hang_below(struct switch_ **all, struct switch_ *s, const char *below, char *why,
                      size_t cap)
{
    uint32_t left = MOST_SWITCHES - HASH_COUNT(*all);
    char   **names = ct_slurmlist_hosts(below, left);
    int      rc = names != NULL ? CTRAN_SUCCESS : CTRAN_ERR_ARG;
    for (char **n = names; rc == CTRAN_SUCCESS && *n != NULL; n++) {
        struct switch_ *child = strlen(*n) < CT_LABEL_LEN ? label_slurm_find_or_make(all, *n) : s;
        if (child == NULL) {
            rc = CTRAN_ERR_NO_MEM;
        } else if (child == s) {
            rc = CTRAN_ERR_ARG;
        } else if (child->above == NULL) {
            child->above = s;
        }
    }
    if (rc == CTRAN_ERR_ARG) {
        snprintf(why, cap, "Switches=%.80s is no list of at most %u other switches as in s[0-2],t1",
                 below, left);
    }
    ct_slurmlist_free(names);
    return rc;
}

static int take_switch(struct switch_ **all, const struct entry *e, unsigned line, char *why,
                       size_t cap)
{
    if (HASH_COUNT(*all) >= MOST_SWITCHES) {
        snprintf(why, cap, "there are more than %d switches", MOST_SWITCHES);
        return CTRAN_ERR_ARG;
    }
    struct switch_ *s = label_slurm_find_or_make(all, e->name);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (s->line != 0) {
        snprintf(why, cap, "switch %s stands already in line %u", s->name, s->line);
        return CTRAN_ERR_ARG;
    }
    s->line = line;
    if (e->below != NULL) {
        return hang_below(all, s, e->below, why, cap);
    }
    s->nodes = e->nodes != NULL ? strdup(e->nodes) : NULL;
    return e->nodes == NULL || s->nodes != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

/* The top of the tree; NULL: it has none, since it is a circle. */
static const struct switch_ *label_slurm_top_of(const struct switch_ *s, unsigned most)
{
    while (s->above != NULL && most-- > 0) {
        s = s->above;
    }
    return s->above == NULL ? s : NULL;
}

static int add_leaves(struct ct_labels **labels, struct switch_ *all, struct ct_label_lines *lines,
                      char *why, size_t cap)
{
    int rc = CTRAN_SUCCESS;
    for (struct switch_ *s = all; s != NULL && rc == CTRAN_SUCCESS; s = s->hh.next) {
        const struct switch_ *top =
            s->nodes != NULL ? label_slurm_top_of(s, HASH_COUNT(all)) : NULL;
        if (s->nodes == NULL) {
            continue;
        }
        lines->number = s->line;
        if (top == NULL) {
            snprintf(why, cap, "the switches above %s are above each other", s->name);
            return CTRAN_ERR_ARG;
        }
        struct ct_label label = {"", s->name, s->above != NULL ? s->above->name : "",
                                 s->above != NULL && top != s->above ? top->name : ""};
        rc = ct_labels_add(labels, s->nodes, &label, why, cap);
    }
    return rc;
}

int ct_label_slurm_parse(struct ct_labels **labels, struct ct_label_lines *lines, char *first,
                         char *why, size_t cap)
{
    struct switch_ *all = NULL;
    int             rc = CTRAN_SUCCESS;
    for (char *line = first; line != NULL && rc == CTRAN_SUCCESS;) {
        struct entry e = {0};
        if (!ct_label_slurm_is(line)) {
            snprintf(why, cap, "\"%.80s\" begins with no SwitchName= or BlockName=", line);
            rc = CTRAN_ERR_ARG;
            break;
        }
        rc = take_words(line, &e, why, cap);
        if (rc == CTRAN_SUCCESS && e.is_block && e.nodes != NULL) {
            struct ct_label label = {e.name, "", "", ""};
            rc = ct_labels_add(labels, e.nodes, &label, why, cap);
        } else if (rc == CTRAN_SUCCESS && !e.is_block && e.name != NULL) {
            rc = take_switch(&all, &e, lines->number, why, cap);
        }
        line = rc == CTRAN_SUCCESS ? ct_label_lines_next(lines) : NULL;
    }
    if (rc == CTRAN_SUCCESS && !lines->no_memory) {
        rc = add_leaves(labels, all, lines, why, cap);
    }
    free_switches(all);
    return rc;
}

/* ---- variables ------------------------------------------------------------------------------- */

/* One part of "a.b.c" that is not the last: its length, and moves on; 0: there is none. */
static size_t label_slurm_take_part(const char **at)
{
    size_t len = strcspn(*at, ".");
    if ((*at)[len] == '\0') {
        return 0;
    }
    *at += len + 1;
    return len;
}

int ct_labels_parse_slurm(struct ct_labels **labels, const char *addr, const char *pattern,
                          char *why, size_t cap)
{
    char     top[CT_LABEL_LEN] = "", zone[CT_LABEL_LEN] = "", rack[CT_LABEL_LEN] = "";
    char     block[CT_LABEL_LEN] = "";
    unsigned levels = 0;
    for (const char *kind = pattern; strchr(kind, '.') != NULL;) {
        const char *type = kind, *name = addr;
        size_t      type_len = label_slurm_take_part(&kind), len = label_slurm_take_part(&addr);
        if (type_len == 0 || len == 0 || len >= CT_LABEL_LEN) {
            return CTRAN_SUCCESS;
        }
        if (strncmp(type, "block.", type_len + 1) == 0) {
            snprintf(block, sizeof block, "%.*s", (int)len, name);
        } else if (strncmp(type, "switch.", type_len + 1) == 0) {
            memcpy(zone, rack, sizeof zone);
            snprintf(rack, sizeof rack, "%.*s", (int)len, name);
            memmove(top, levels++ == 0 ? rack : top, sizeof top);
        }
    }
    struct ct_label label = {block, rack, zone, levels >= 3 ? top : ""};
    return levels > 0 || block[0] != '\0' ? ct_labels_add(labels, "*", &label, why, cap)
                                          : CTRAN_SUCCESS;
}
