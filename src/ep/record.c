/* SPDX-License-Identifier: BSD-3-Clause */
/* Cards: a head, then for each transport an entry head and the address, padded to 8 bytes. */
#define CT_FOLDER "ep"
#include <inttypes.h>
#include <stdlib.h>

#include "base/version.h"
#include "ep/ep_set.h"

enum { RECORD_MAGIC = 0x4352544e /* "NTRC" */, RECORD_WIRE = 3 };

/* By these and the table of algorithms ranks decide, each alone, what a collective does. */
static const int alike[] = {CT_VAR_IX_coll_algorithm, CT_VAR_IX_coll_levels, CT_VAR_IX_coll_shm,
                            CT_VAR_IX_coll_shm_bytes, CT_VAR_IX_chunk_size,  CT_VAR_IX_chunks,
                            CT_VAR_IX_reproducible};

struct record_head {
    uint32_t magic;
    uint16_t wire; /* version of this layout; the head never changes up to `digest` */
    uint16_t entries;
    char     version[16];
    char     digest[CT_DIGEST_LEN];
    uint32_t id, incarnation;

    struct ct_location_key where;
    uint64_t               tuning;
    uint32_t               settings[CT_ARRAY_LEN(alike)];
};

struct record_entry {
    char     name[12];
    uint32_t len_bytes;
};

/* Digests of the values of `alike`. */
static void digest_settings(const struct ct_config *cfg, uint32_t *settings)
{
    char value[4096];
    for (size_t i = 0; i < CT_ARRAY_LEN(alike); i++) {
        ct_config_format(cfg, alike[i], value, sizeof value);
        settings[i] = (uint32_t)ct_fnv1a(CT_FNV1A_START, value, strlen(value));
    }
}

/* Another rank's settings, from its record, beside those of the own one: they have to be alike. */
static int check_settings(const struct ct_ep_set *set, const struct record_head *head)
{
    const struct ct_process *p = set->p;
    struct record_head       own;
    memcpy(&own, set->record, sizeof own);
    for (size_t i = 0; i < CT_ARRAY_LEN(alike); i++) {
        if (head->settings[i] != own.settings[i]) {
            char value[4096];
            ct_config_format(&p->cfg, alike[i], value, sizeof value);
            ct_error(&p->log,
                     "rank %" PRIu32
                     " has another value of %s than this rank's \"%s\": set it alike "
                     "on all ranks of a job",
                     head->id, ct_config_vars()[alike[i]].name, value);
            return CTRAN_ERR_CONFIG;
        }
    }
    if (head->tuning != own.tuning) {
        const char *path = p->cfg.coll_tuning;
        ct_error(&p->log,
                 "rank %" PRIu32
                 " chooses collective algorithms by another table (digest %016" PRIx64
                 ") than this rank, which has %s (digest %016" PRIx64 "): CTRAN_COLL_TUNING has to "
                 "name the same table on all ranks of a job",
                 head->id, head->tuning, path[0] != '\0' ? path : "the built-in one", own.tuning);
        return CTRAN_ERR_CONFIG;
    }
    return CTRAN_SUCCESS;
}

int ct_ep_record_make(struct ct_ep_set *set)
{
    size_t                 most = sizeof(struct record_entry) + CT_NET_MAX_ADDR + 8;
    struct ct_location_key where;
    int                    rc = ct_ep_location_key(set->p, &where);
    char                  *record =
        rc == CTRAN_SUCCESS ? calloc(1, sizeof(struct record_head) + set->nnets * most) : NULL;
    if (record == NULL) {
        return rc != CTRAN_SUCCESS ? rc : CTRAN_ERR_NO_MEM;
    }
    struct record_head head = {
        .magic = RECORD_MAGIC,
        .wire = RECORD_WIRE,
        .entries = (uint16_t)set->nnets,
        .id = set->env.id,
        .incarnation = set->env.incarnation,
        .where = where,
        .tuning = set->p->tuning_digest,
    };
    digest_settings(&set->p->cfg, head.settings);
    snprintf(head.version, sizeof head.version, "%s", ct_version_string());
    memcpy(head.digest, ct_version_digest(), CT_DIGEST_LEN);
    memcpy(record, &head, sizeof head);
    size_t at = sizeof head;
    for (unsigned i = 0; i < set->nnets; i++) {
        size_t              len;
        const void         *addr = set->nets[i]->ops->addr(set->nets[i], &len);
        struct record_entry entry = {.len_bytes = (uint32_t)len};
        snprintf(entry.name, sizeof entry.name, "%s", set->nets[i]->ops->name);
        memcpy(record + at, &entry, sizeof entry);
        memcpy(record + at + sizeof entry, addr, len);
        at = ct_round_up(at + sizeof entry + len, 8);
    }
    set->record = record;
    set->record_len = at;
    return CTRAN_SUCCESS;
}

int ct_ep_record_check(const struct ct_ep_set *set, uint32_t id, const void *record,
                       size_t len_bytes)
{
    struct record_head head;
    if (len_bytes >= sizeof head) {
        memcpy(&head, record, sizeof head);
    }
    if (len_bytes < sizeof head || head.magic != RECORD_MAGIC) {
        ct_error(&set->p->log,
                 "rank %" PRIu32 " has published no address of ctran (%zu bytes); do "
                 "all programs of the job use ctran?",
                 id, len_bytes);
        return CTRAN_ERR_BOOTSTRAP;
    }
    if (head.wire != RECORD_WIRE || memcmp(head.digest, ct_version_digest(), CT_DIGEST_LEN) != 0) {
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
    return check_settings(set, &head);
}

void ct_ep_record_location_key(const void *record, struct ct_location_key *at)
{
    struct record_head head;
    memcpy(&head, record, sizeof head);
    *at = head.where;
}

const void *ct_ep_record_find(const void *record, size_t record_len, const char *name,
                              size_t *len_bytes)
{
    struct record_head head;
    memcpy(&head, record, sizeof head);
    size_t at = sizeof head;
    for (unsigned i = 0; i < head.entries && at + sizeof(struct record_entry) <= record_len; i++) {
        struct record_entry entry;
        memcpy(&entry, (const char *)record + at, sizeof entry);
        at += sizeof entry;
        if (entry.len_bytes > CT_NET_MAX_ADDR || entry.len_bytes > record_len - at) {
            return NULL;
        }
        if (strncmp(entry.name, name, sizeof entry.name) == 0) {
            *len_bytes = entry.len_bytes;
            return (const char *)record + at;
        }
        at = ct_round_up(at + entry.len_bytes, 8);
    }
    return NULL;
}
