/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of algorithms: which one runs for which collective, ranks and size. A table is a text that
 * people and programs write (ctran_perf --tune); ctran-tuning(7) describes the format:
 *
 *     COLLECTIVE [shm] [FACT<=N | FACT>=N | FACT=N]... ALGORITHM[:RADIX] [chunk=SIZE] [chunks=N]
 *
 * The first row wins whose conditions all hold and whose algorithm can serve the call. A table,
 * once parsed, never changes; any thread may read it.
 */
#ifndef CT_COLL_TUNING_H
#define CT_COLL_TUNING_H

#include "base/base.h"
#include "coll/algo/algo.h"

enum {
    CT_TUNING_BYTES = 1 << 20, /* of a file */
    CT_TUNING_RULES = 4096,    /* rows of a table */
    CT_TUNING_LINE = 512,      /* bytes of a line without its comment */
    CT_COLL_KINDS = 32,        /* collectives that there may be: bits of enum ct_coll_kind */
};

/* What a row may ask for, all of it known alike to all ranks. */
enum ct_fact {
    CT_FACT_RANKS,
    CT_FACT_NODES, /* hosts that the ranks are on */
    CT_FACT_LOCAL, /* most ranks on one of them */
    CT_FACT_BYTES, /* of the collective's whole vector */
    CT_FACT_TOTAL, /* bytes * ranks: what one reads who reads everybody's vector */
    CT_FACTS
};

/* An algorithm with its settings. */
struct ct_pick {
    const struct ct_algo *algo;
    uint32_t              radix;       /* CT_RADIX_DEFAULT where none is said */
    uint32_t              chunks;      /* 0: CTRAN_CHUNKS */
    size_t                chunk_bytes; /* 0: CTRAN_CHUNK_SIZE */
};

struct ct_rule {
    uint32_t       coll;
    bool           shm;                             /* holds only where the ranks have one */
    uint64_t       least[CT_FACTS], most[CT_FACTS]; /* inclusive */
    struct ct_pick pick;
    uint32_t       line; /* of the file */
};

struct ct_tuning {
    char            source[256];              /* the file, or "built-in table" */
    uint64_t        digest;                   /* equal for tables with the same contents */
    bool            asks_placement;           /* some row has a condition on nodes or local */
    uint32_t        begin[CT_COLL_KINDS + 1]; /* rows of bit k: rule[begin[k]] and on */
    struct ct_rule *rule;                     /* those of one collective in the file's order */
};

/* The row of collectives in `begin`. */
static inline unsigned ct_coll_index(uint32_t coll)
{
    return (unsigned)__builtin_ctz(coll);
}

/* Makes a table of a text. CTRAN_ERR_CONFIG with the reason in `why`: source and line, what was
 * found, what may stand there; CTRAN_ERR_NO_MEM. The caller frees it. */
int ct_tuning_parse(struct ct_tuning **out, const char *text, const char *source, char *why,
                    size_t cap);
/* Likewise of the file at `path`. */
int  ct_tuning_read(struct ct_tuning **out, const char *path, char *why, size_t cap);
void ct_tuning_free(struct ct_tuning *tuning);

/* The tables that are part of the library: what runs where nothing else is said, and what
 * reductions go by under CTRAN_REPRODUCIBLE. */
extern const char ct_tuning_default[], ct_tuning_reproducible[];

/* A row as text that the parser takes, without a newline. */
void ct_rule_format(const struct ct_rule *rule, char *out, size_t cap);

/* Reads "ALGORITHM" or "ALGORITHM:RADIX" of the collective into pick->algo and pick->radix. false
 * with the reason, which names what there is. */
bool ct_pick_parse(uint32_t coll, const char *text, struct ct_pick *pick, char *why, size_t cap);
/* The collective of that name; 0 with the reason. */
uint32_t ct_coll_parse(const char *name, char *why, size_t cap);

#endif
