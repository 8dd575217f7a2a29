/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of host names; see label_set.h. */
#include "topo/label_set.h"

/* After a mismatch only the last * may take one more character: the ones before it need no more. */
bool ct_label_match(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}
