/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of labels, ours and Slurm's, words and variables: what is read of them answers questions,
 * what is refused has a reason. */
#include "fuzz.h"

#include <ctype.h>
#include <stdio.h>

#include "topo/labels.h"

/* Ranges of thousands of hosts are right, and take long. */
static bool is_long(const char *text)
{
    unsigned digits = 0;
    for (; *text != '\0' && digits < 4; text++) {
        digits = isdigit((unsigned char)*text) ? digits + 1 : 0;
    }
    return digits == 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz       f = {data, size};
    struct ct_labels *l = NULL;
    uint32_t          which = fuzz_below(&f, 4), cut = fuzz_below(&f, 64);
    char             *text = malloc(f.left + 1), why[256] = "";
    int               rc;
    FUZZ_CHECK(text != NULL);
    memcpy(text, f.at, f.left);
    text[f.left] = '\0';
    if (is_long(text)) {
        free(text);
        return 0;
    }
    char *second = text + (cut < strlen(text) ? cut : strlen(text));
    if (which == 0) {
        rc = ct_labels_parse_words(&l, "n1", text, "words", why, sizeof why);
    } else if (which == 1) {
        rc = ct_labels_parse_slurm(&l, text, second, why, sizeof why);
    } else {
        rc = ct_labels_parse(&l, text, "file", why, sizeof why);
        rc = rc == CTRAN_SUCCESS ? ct_labels_parse(&l, second, "second", why, sizeof why) : rc;
    }
    FUZZ_CHECK((rc == CTRAN_SUCCESS) == (why[0] == '\0'));
    const char *hosts[] = {"n1", "n2.example.org", text, second};
    for (int i = 0; i < 4; i++) {
        struct ct_label label = ct_labels_of(l, hosts[i]);
        FUZZ_CHECK(strlen(label.nvlink) < CT_LABEL_LEN && strlen(label.rack) < CT_LABEL_LEN &&
                   strlen(label.zone) < CT_LABEL_LEN && strlen(label.dc) < CT_LABEL_LEN);
    }
    ct_labels_free(l);
    free(text);
    return 0;
}
