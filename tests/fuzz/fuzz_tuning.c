/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of algorithms and lists that force some: what is read can be written and read again, and
 * says the same; what is refused has a reason. */
#include "fuzz.h"

#include "coll/coll.h"

static char *text_of(struct fuzz *f)
{
    char *text = malloc(f->left + 1);
    FUZZ_CHECK(text != NULL);
    memcpy(text, f->at, f->left);
    text[f->left] = '\0';
    return text;
}

/* Rows made of words that a table has, most of them in their places. */
static char *row_of(struct fuzz *f)
{
    static const char *const colls[] = {"allreduce ", "bcast ", "barrier ", "scan ", "nothing "};
    static const char *const words[] = {
        "shm ",       "ranks<=8 ",  "ranks>=3 ",  "nodes=1 ", "local<=4 ",
        "bytes<=1K ", "bytes>=2K ", "total<=9G ", "ring ",    "knomial:3 ",
        "chunk=64K ", "chunks=2 ",  "chain ",     "# why ",   "bytes<=99999999999G "};
    char *text = calloc(1, 4096);
    FUZZ_CHECK(text != NULL);
    while (f->left > 0 && strlen(text) < 3900) {
        strcat(text, colls[fuzz_below(f, 5)]);
        for (uint32_t n = fuzz_below(f, 6); n > 0; n--) {
            strcat(text, words[fuzz_below(f, 15)]);
        }
        strcat(text, "\n");
    }
    return text;
}

static void table(const char *text)
{
    struct ct_tuning *t = NULL, *again = NULL;
    char              why[256] = "", row[CT_TUNING_LINE];
    int               rc = ct_tuning_parse(&t, text, "table", why, sizeof why);
    FUZZ_CHECK((rc == CTRAN_SUCCESS) == (why[0] == '\0'));
    for (uint32_t i = 0; rc == CTRAN_SUCCESS && i < t->begin[CT_COLL_KINDS]; i++) {
        ct_rule_format(&t->rule[i], row, sizeof row);
        FUZZ_CHECK(ct_tuning_parse(&again, row, "row", why, sizeof why) == CTRAN_SUCCESS);
        FUZZ_CHECK(again->begin[CT_COLL_KINDS] == 1);
        again->rule[0].line = t->rule[i].line;
        FUZZ_CHECK(memcmp(again->rule[0].most, t->rule[i].most, sizeof t->rule[i].most) == 0 &&
                   memcmp(again->rule[0].least, t->rule[i].least, sizeof t->rule[i].least) == 0 &&
                   again->rule[0].pick.algo == t->rule[i].pick.algo);
        ct_tuning_free(again);
    }
    ct_tuning_free(rc == CTRAN_SUCCESS ? t : NULL);
}

static void list(const char *text)
{
    struct ct_pick forced[CT_COLL_KINDS];
    char           why[256] = "";
    bool           good = ct_forced_parse(text, forced, why, sizeof why);
    FUZZ_CHECK(good == (why[0] == '\0'));
    for (unsigned k = 0; good && k < CT_COLL_KINDS; k++) {
        FUZZ_CHECK(forced[k].algo == NULL || forced[k].radix >= 2);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = {data, size};
    uint32_t    which = fuzz_below(&f, 4);
    char       *text = which < 2 ? row_of(&f) : text_of(&f);
    (which == 3 ? list : table)(text);
    free(text);
    return 0;
}
