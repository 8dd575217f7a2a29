/* SPDX-License-Identifier: BSD-3-Clause */
/* Internal streams of a context, made when they are first used and destroyed with it. */
#define CT_FOLDER "stream"
#include "stream/context.h"

CUstream ct_stream_branch(struct ct_stream_context *c, unsigned i)
{
    if (i >= c->nbranches) {
        CUstream *more = realloc(c->branch, (i + 1) * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        c->branch = more;
        while (c->nbranches <= i) {
            if (CT_GPU_TRY(c->p->gpu, "an internal stream", cuStreamCreate,
                           (&c->branch[c->nbranches], CU_STREAM_NON_BLOCKING)) != CTRAN_SUCCESS) {
                return NULL;
            }
            c->nbranches++;
        }
    }
    return c->branch[i];
}
