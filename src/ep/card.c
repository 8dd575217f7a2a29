/* SPDX-License-Identifier: BSD-3-Clause */
/* Cards: a head, then for each transport an entry head and the address, padded to 8 bytes. */
#define CT_FOLDER "ep"
#include <inttypes.h>
#include <stdlib.h>

#include "base/version.h"
#include "ep/ep_set.h"

enum { CARD_MAGIC = 0x4352544e /* "NTRC" */, CARD_WIRE = 2 };

struct card_head {
    uint32_t magic;
    uint16_t wire; /* version of this layout; the head never changes up to `digest` */
    uint16_t entries;
    char     version[16];
    char     digest[CT_DIGEST_LEN];
    uint32_t id, incarnation;

    struct ct_whereabouts where;
};

struct card_entry {
    char     name[12];
    uint32_t len_bytes;
};

int ct_ep_card_make(struct ct_ep_set *set)
{
    size_t                most = sizeof(struct card_entry) + CT_NET_MAX_ADDR + 8;
    struct ct_whereabouts where;
    int                   rc = ct_ep_whereabouts(set->p, &where);
    char                 *card =
        rc == CTRAN_SUCCESS ? calloc(1, sizeof(struct card_head) + set->nnets * most) : NULL;
    if (card == NULL) {
        return rc != CTRAN_SUCCESS ? rc : CTRAN_ERR_NO_MEM;
    }
    struct card_head head = {
        .magic = CARD_MAGIC,
        .wire = CARD_WIRE,
        .entries = (uint16_t)set->nnets,
        .id = set->env.id,
        .incarnation = set->env.incarnation,
        .where = where,
    };
    snprintf(head.version, sizeof head.version, "%s", ct_version_string());
    memcpy(head.digest, ct_version_digest(), CT_DIGEST_LEN);
    memcpy(card, &head, sizeof head);
    size_t at = sizeof head;
    for (unsigned i = 0; i < set->nnets; i++) {
        size_t            len;
        const void       *addr = set->nets[i]->ops->addr(set->nets[i], &len);
        struct card_entry entry = {.len_bytes = (uint32_t)len};
        snprintf(entry.name, sizeof entry.name, "%s", set->nets[i]->ops->name);
        memcpy(card + at, &entry, sizeof entry);
        memcpy(card + at + sizeof entry, addr, len);
        at = ct_round_up(at + sizeof entry + len, 8);
    }
    set->card = card;
    set->card_len = at;
    return CTRAN_SUCCESS;
}

int ct_ep_card_check(const struct ct_ep_set *set, uint32_t id, const void *card, size_t len_bytes)
{
    struct card_head head;
    if (len_bytes >= sizeof head) {
        memcpy(&head, card, sizeof head);
    }
    if (len_bytes < sizeof head || head.magic != CARD_MAGIC) {
        ct_error(&set->p->log,
                 "rank %" PRIu32 " has published no address of ctran (%zu bytes); do "
                 "all programs of the job use ctran?",
                 id, len_bytes);
        return CTRAN_ERR_BOOTSTRAP;
    }
    if (head.wire != CARD_WIRE || memcmp(head.digest, ct_version_digest(), CT_DIGEST_LEN) != 0) {
        ct_error(&set->p->log,
                 "rank %" PRIu32 " runs ctran %.15s build %.16s, this rank runs %s "
                 "build %.16s: use one build for the whole job",
                 id, head.version, head.digest, ct_version_string(), ct_version_digest());
        return CTRAN_ERR_VERSION;
    }
    if (head.id != id) {
        ct_error(&set->p->log, "rank %" PRIu32 " has published the address of rank %" PRIu32, id,
                 head.id);
        return CTRAN_ERR_BOOTSTRAP;
    }
    return CTRAN_SUCCESS;
}

void ct_ep_card_whereabouts(const void *card, struct ct_whereabouts *at)
{
    struct card_head head;
    memcpy(&head, card, sizeof head);
    *at = head.where;
}

const void *ct_ep_card_find(const void *card, size_t card_len, const char *name, size_t *len_bytes)
{
    struct card_head head;
    memcpy(&head, card, sizeof head);
    size_t at = sizeof head;
    for (unsigned i = 0; i < head.entries && at + sizeof(struct card_entry) <= card_len; i++) {
        struct card_entry entry;
        memcpy(&entry, (const char *)card + at, sizeof entry);
        at += sizeof entry;
        if (entry.len_bytes > CT_NET_MAX_ADDR || entry.len_bytes > card_len - at) {
            return NULL;
        }
        if (strncmp(entry.name, name, sizeof entry.name) == 0) {
            *len_bytes = entry.len_bytes;
            return (const char *)card + at;
        }
        at = ct_round_up(at + entry.len_bytes, 8);
    }
    return NULL;
}
