/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compositions: algorithms made of flat ones, each run by the groups of a level (levels.h). To the
 * outside a composition is a struct ct_algo as any other; it fits where env.levels are there.
 *
 * A composition is up to CT_STAGES stages, one after the other. A stage is an algorithm, which
 * ranks run it together, and where its vector lies in the whole one. All ranks have the same number
 * of rounds: a stage lasts as long as its longest group needs. compose.c asks the stage's algorithm
 * about the rank's group, and translates peers and blocks; what stages there are is said by a
 * function for each pattern, hier.c and rail.c. Among the leaders, or along a rail, the same
 * pattern serves the levels above.
 *
 * All compositions use places instead of ranks; only the outermost one translates peers to ranks.
 * Blocks of CT_BY_PLACE algorithms stay numbered by place.
 */
#ifndef CT_COLL_ALGO_COMPOSE_H
#define CT_COLL_ALGO_COMPOSE_H

#include "coll/algo/step.h"

enum { CT_STAGES = 5 };

/* The ranks that run a stage together. */
enum ct_circle {
    CT_GROUP,   /* the members of each group */
    CT_LEADERS, /* one of each group: the root in its own, the first in the others */
    CT_LASTS,   /* the last of each group */
    CT_RAIL     /* those with the same number in their groups, which all have as many */
};

/* Where the blocks of a stage lie in the whole vector: block b is `width` blocks from
 * first + b * step on, and the same again copies - 1 times, each `stride` further on. With `start`
 * it is the blocks from start[b] up to start[b + 1]: then the stage's algorithm uses no scratch, or
 * has in it blocks in their order, from the own one on. */
struct ct_blockmap {
    uint32_t        first, step, width, copies, stride;
    const uint32_t *start;
};

/* What a buffer of the stage's algorithm is. TMP: its blocks lie there from `at` on, without gaps;
 * if it is one of which only the own block is used, that lies at `at`. */
struct ct_backing {
    uint8_t  buf; /* enum ct_buf */
    bool     own; /* in TMP: only the own block is there */
    bool     all; /* in TMP: they lie as in the whole vector, for all of which there is room */
    uint32_t at;
};

struct ct_stage {
    const struct ct_algo *algo;
    enum ct_circle        circle;
    bool                  absent; /* this rank has no part in it, or its group no other */
    bool                  alone;  /* a rank that is alone in its group runs the stage as well */
    struct ct_env         env;    /* as the algorithm is to see it */
    uint32_t              whole;  /* blocks of the whole vector */
    struct ct_blockmap    map;
    struct ct_backing     as[3]; /* SEND, RECV, TMP */
};

/* A pattern with its algorithms. */
struct ct_compose {
    const struct ct_algo *self;   /* the composition */
    const struct ct_algo *first;  /* in groups, before leaders or rails; NULL: nothing */
    const struct ct_algo *middle; /* among leaders, or along rails, on the highest level */
    const struct ct_algo *above;  /* the algorithm while there are levels above; NULL: `self` */
    const struct ct_algo *last;   /* in groups, after; NULL: nothing */
    /* Says what stages there are for env.me, which is a place, as is env.root. */
    unsigned (*stages)(const struct ct_compose *c, const struct ct_env *env, struct ct_stage *out);
    bool even; /* only where all groups have the same number of members, on each level */
    bool low;  /* one level only: those above are not looked at */
};

/* A stage as most are: n, me and root of this rank's circle, its buffers the whole's, its vector
 * the whole one, cut into fewer blocks. */
struct ct_stage ct_stage_of(const struct ct_env *env, enum ct_circle circle,
                            const struct ct_algo *algo);
/* Like ct_stage_of, done by who is alone in a group, too. */
struct ct_stage ct_stage_alone(const struct ct_env *env, const struct ct_algo *algo);
/* That of the leaders or rails: the pattern again while there are levels above. */
struct ct_stage ct_stage_middle(const struct ct_compose *c, const struct ct_env *env,
                                enum ct_circle circle);
/* Its input is what the one before it left in RECV; or the whole's, if this rank did nothing in
 * that. */
void ct_stage_go_on(struct ct_stage *s, const struct ct_stage *before);
/* The first block of scratch behind what the stage uses of it. */
uint32_t ct_stage_end(const struct ct_stage *s);
/* Whether this rank is its group's leader. */
bool ct_stage_leads(const struct ct_env *env);

/* What a composition's functions do. */
bool     ct_compose_fits(const struct ct_compose *c, const struct ct_env *env);
uint32_t ct_compose_nblk(const struct ct_compose *c, const struct ct_env *env);
uint32_t ct_compose_rounds(const struct ct_compose *c, const struct ct_env *env);
uint32_t ct_compose_tmp(const struct ct_compose *c, const struct ct_env *env);
unsigned ct_compose_round(const struct ct_compose *c, const struct ct_env *env, uint32_t r,
                          struct ct_step *out);

/* Declares ct_algo_<id> of struct ct_compose <id>_parts, named `name_`. */
#define CT_COMPOSITION(id, name_, COLL, TRAITS, TXLAG)                                             \
    static bool id##_fits(const struct ct_env *env)                                                \
    {                                                                                              \
        return ct_compose_fits(&id##_parts, env);                                                  \
    }                                                                                              \
    static uint32_t id##_nblk(const struct ct_env *env)                                            \
    {                                                                                              \
        return ct_compose_nblk(&id##_parts, env);                                                  \
    }                                                                                              \
    static uint32_t id##_rounds(const struct ct_env *env, unsigned lane)                           \
    {                                                                                              \
        (void)lane;                                                                                \
        return ct_compose_rounds(&id##_parts, env);                                                \
    }                                                                                              \
    static uint32_t id##_tmp(const struct ct_env *env)                                             \
    {                                                                                              \
        return ct_compose_tmp(&id##_parts, env);                                                   \
    }                                                                                              \
    static unsigned id##_round(const struct ct_env *env, unsigned lane, uint32_t r,                \
                               struct ct_step *out)                                                \
    {                                                                                              \
        (void)lane;                                                                                \
        return ct_compose_round(&id##_parts, env, r, out);                                         \
    }                                                                                              \
    const struct ct_algo ct_algo_##id = {                                                          \
        .name = name_,                                                                             \
        .colls = COLL,                                                                             \
        .traits = CT_BY_LEVEL | (TRAITS),                                                          \
        .lanes = 1,                                                                                \
        .rxlag = 1,                                                                                \
        .txlag = TXLAG,                                                                            \
        .fits = id##_fits,                                                                         \
        .nblk = id##_nblk,                                                                         \
        .rounds = id##_rounds,                                                                     \
        .tmp = id##_tmp,                                                                           \
        .round = id##_round,                                                                       \
    };

#endif
