/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a type was made: its constructor's arguments, kept with it and given out again
 * (MPI-4.1 sec. 5.1.13). All calls take large counts, so what the standard lists as such is there;
 * there are no address arguments. Called by src/api/type_contents.c.
 */
#include "dtype/derived.h"

#include <stdlib.h>

int ct_contents_init(struct ct_contents *c, int combiner, size_t nints, size_t ncounts,
                     size_t ntypes)
{
    *c = (struct ct_contents){
        .combiner = combiner, .nints = nints, .ncounts = ncounts, .ntypes = ntypes};
    c->ints = nints > 0 ? calloc(nints, sizeof *c->ints) : NULL;
    c->counts = ncounts > 0 ? calloc(ncounts, sizeof *c->counts) : NULL;
    c->types = ntypes > 0 ? calloc(ntypes, sizeof *c->types) : NULL;
    if ((c->ints == NULL && nints > 0) || (c->counts == NULL && ncounts > 0) ||
        (c->types == NULL && ntypes > 0)) {
        ct_contents_fini(c);
        return CTRAN_ERR_NO_MEM;
    }
    return CTRAN_SUCCESS;
}

void ct_contents_fini(struct ct_contents *c)
{
    for (size_t i = 0; c->types != NULL && i < c->ntypes; i++) {
        if (c->types[i] != NULL) {
            ct_dtype_drop(c->types[i]);
        }
    }
    free(c->ints);
    free(c->counts);
    free(c->types);
    *c = (struct ct_contents){.combiner = 0};
}

void ct_dtype_contents(const struct ct_dtype *type, struct ct_dtype_contents *out)
{
    const struct ct_derived *d = ct_derived_of(type);
    if (d == NULL) {
        *out = (struct ct_dtype_contents){.combiner = CTRAN_COMBINER_NAMED};
        return;
    }
    const struct ct_contents *c = &d->contents;
    *out = (struct ct_dtype_contents){c->combiner, c->nints,  c->ncounts, c->ntypes,
                                      c->ints,     c->counts, c->types};
}
