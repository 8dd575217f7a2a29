/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the test of datatypes share: model types made real by the public calls. */
#ifndef CT_TESTS_FUNC_TYPES_H
#define CT_TESTS_FUNC_TYPES_H

#include "check.h"
#include "../typemap.h"

/* The type of a model, not committed; what it was made of has been freed. */
ctran_datatype_t types_real(const struct tm_type *t);

/* A random type whose `count` elements do not overlap one another, with data. */
struct tm_type *types_random(uint64_t *rng, size_t count);

/* Another layout of the same scalars in the same order, with gaps. */
struct tm_type *types_other(const struct tm_map *map, uint64_t *rng);

/* Memory for count elements of a model type: filled with what `key` says, or with canaries. */
struct types_field {
    const struct tm_map *map;
    unsigned char       *mem, *at; /* `at`: the address of the first element */
    size_t               span, count;
};
void types_field_new(struct types_field *f, const struct tm_map *map, size_t count);
void types_field_fill(struct types_field *f, const unsigned char *flat);
/* The elements have these bytes, and nothing between them was written. */
void types_field_expect(const char *file, int line, const struct types_field *f,
                        const unsigned char *flat);
void types_field_free(struct types_field *f);
#define EXPECT_FIELD(f, flat) types_field_expect(__FILE__, __LINE__, f, flat)

/* The bytes of a message, the same at both ends. */
unsigned char *types_flat(size_t len, uint64_t key);

/* types_coll.c, types_inquiry.c */
void types_collectives(void);
void types_reductions(void);
void types_contents(void);
void types_attributes(void);
void types_counts(void);
void types_packing(void);
void types_errors(void);

#endif
