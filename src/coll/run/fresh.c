/* SPDX-License-Identifier: BSD-3-Clause */
/* fresh.h: words from the first to the last, evenly apart, beside those of the last time. */
#include "coll/run/fresh.h"

#include <string.h>

/* Where that memory is, or is to be. */
static struct ct_fresh_seen *find(struct ct_fresh *f, const char *base, size_t len_bytes)
{
    for (unsigned i = 0; i < CT_FRESH_SEEN; i++) {
        if (f->seen[i].base == base && f->seen[i].len_bytes == len_bytes) {
            return &f->seen[i];
        }
    }
    struct ct_fresh_seen *seen = &f->seen[f->next++ % CT_FRESH_SEEN];
    seen->base = NULL;
    return seen;
}

bool ct_fresh_look(struct ct_fresh *f, const void *base, size_t len_bytes)
{
    uint64_t word[CT_FRESH_WORDS];
    if (len_bytes < sizeof word[0]) {
        return true;
    }
    const size_t          step = (len_bytes - sizeof word[0]) / (CT_FRESH_WORDS - 1);
    struct ct_fresh_seen *seen = find(f, base, len_bytes);
    for (size_t i = 0; i < CT_FRESH_WORDS; i++) {
        memcpy(&word[i], (const char *)base + i * step, sizeof word[i]);
    }
    const bool written = seen->base == NULL || memcmp(seen->word, word, sizeof word) != 0;
    seen->base = base;
    seen->len_bytes = len_bytes;
    memcpy(seen->word, word, sizeof word);
    return written;
}
