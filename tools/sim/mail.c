/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that were sent before their receive was posted, by sender, receiver and chunk. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define NONE UINT32_MAX

static uint32_t place_of(const struct sim_mail *m, uint32_t from, uint32_t to, uint32_t chunk)
{
    uint64_t x = ((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29 ^ chunk) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32) & m->mask;
}

/* Room for twice as many. */
static bool grow(struct sim_mail *m)
{
    uint32_t           room = m->room * 2 + 256;
    uint32_t           size = 256;
    struct sim_letter *letters = sim_resize(m->letters, room * sizeof *letters);
    m->letters = letters != NULL ? letters : m->letters;
    while (size < room) {
        size *= 2;
    }
    uint32_t *heads = letters != NULL ? malloc(size * sizeof *heads) : NULL;
    if (heads == NULL) {
        return false;
    }
    memset(heads, 0xff, size * sizeof *heads);
    /* Chains are from the last to the first; to keep that, each is moved from its end on. Letters
     * of one key are of one chain, so it is enough to turn each chain round once. */
    for (uint32_t h = 0; m->heads != NULL && h <= m->mask; h++) {
        uint32_t turned = NONE;
        for (uint32_t i = m->heads[h], next; i != NONE; i = next) {
            next = letters[i].next;
            letters[i].next = turned;
            turned = i;
        }
        m->heads[h] = turned;
    }
    uint32_t *old = m->heads, olds = old != NULL ? m->mask + 1 : 0;
    m->mask = size - 1;
    for (uint32_t h = 0; h < olds; h++) {
        for (uint32_t i = old[h], next; i != NONE; i = next) {
            uint32_t p = place_of(m, letters[i].from, letters[i].to, letters[i].chunk);
            next = letters[i].next;
            letters[i].next = heads[p];
            heads[p] = i;
        }
    }
    free(old);
    m->heads = heads;
    if (m->room == 0) {
        m->spare = NONE;
    }
    m->room = room;
    return true;
}

bool sim_mail_put(struct sim_mail *m, const struct sim_letter *l)
{
    if ((m->room == 0 || (m->spare == NONE && m->used == m->room)) && !grow(m)) {
        return false;
    }
    uint32_t i = m->spare;
    if (i != NONE) {
        m->spare = m->letters[i].next;
    } else {
        i = m->used++;
    }
    uint32_t p = place_of(m, l->from, l->to, l->chunk);
    m->letters[i] = *l;
    m->letters[i].next = m->heads[p];
    m->heads[p] = i;
    m->n++;
    return true;
}

bool sim_mail_take(struct sim_mail *m, uint32_t from, uint32_t to, uint32_t chunk,
                   struct sim_letter *out)
{
    if (m->n == 0) {
        return false;
    }
    uint32_t *found = NULL;
    for (uint32_t *at = &m->heads[place_of(m, from, to, chunk)]; *at != NONE;
         at = &m->letters[*at].next) {
        const struct sim_letter *l = &m->letters[*at];
        if (l->from == from && l->to == to && l->chunk == chunk) {
            found = at; /* the last in the chain came first */
        }
    }
    if (found == NULL) {
        return false;
    }
    uint32_t i = *found;
    *out = m->letters[i];
    *found = out->next;
    m->letters[i].next = m->spare;
    m->spare = i;
    m->n--;
    return true;
}

void sim_mail_free(struct sim_mail *m)
{
    free(m->heads);
    free(m->letters);
}
