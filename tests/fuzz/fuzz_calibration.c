/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of calibration: what is read can be written and read again, and says the same; figures are
 * within their bounds; what is refused has a reason, and changes nothing. */
#include "fuzz.h"

#include <inttypes.h>

#include "ctran.h"
#include "node/node.h"

static const char KEY[] = "a machine";

/* A text of lines that a file may have, most of them in their places, under its own digest. */
static char *lines_of(struct fuzz *f)
{
    char *text = calloc(1, CT_CALIBRATION_TEXT);
    FUZZ_CHECK(text != NULL);
    size_t len = (size_t)sprintf(text, "ctran calibration 1\nmachine %s\ntime %" PRIu64 "\n", KEY,
                                 fuzz_number(f, 4));
    for (int i = 0; i < CT_FIGURES; i++) {
        const uint32_t which = fuzz_below(f, 8) == 7 ? fuzz_below(f, CT_FIGURES) : (uint32_t)i;
        if (fuzz_below(f, 4) > 0) {
            len += (size_t)sprintf(text + len, "%s %" PRIu64 "\n", ct_figure_info[which].name,
                                   fuzz_number(f, 1 + fuzz_below(f, 8)));
        }
    }
    (void)sprintf(text + len, "digest %016" PRIx64 "\n", ct_fnv1a(CT_FNV1A_START, text, len));
    return text;
}

static void read_text(const char *text)
{
    struct ct_calibration c, before, again;
    char                  why[256] = "", own[CT_CALIBRATION_TEXT];
    ct_calibration_guess(&c);
    before = again = c;
    if (ct_calibration_parse(&c, text, KEY, why, sizeof why) != CTRAN_SUCCESS) {
        FUZZ_CHECK(why[0] != '\0' && memcmp(&c, &before, sizeof c) == 0);
        return;
    }
    for (int i = 0; i < CT_FIGURES; i++) {
        FUZZ_CHECK(c.figure[i] >= ct_figure_info[i].least && c.figure[i] <= ct_figure_info[i].most);
    }
    FUZZ_CHECK(ct_calibration_format(&c, KEY, own, sizeof own) > 0);
    FUZZ_CHECK(ct_calibration_parse(&again, own, KEY, why, sizeof why) == CTRAN_SUCCESS);
    FUZZ_CHECK(memcmp(c.figure, again.figure, sizeof c.figure) == 0 &&
               c.measured == again.measured && c.when_s == again.when_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = {data, size};
    char       *text;
    if (fuzz_below(&f, 3) > 0) {
        text = lines_of(&f);
    } else {
        text = malloc(f.left + 1);
        FUZZ_CHECK(text != NULL);
        memcpy(text, f.at, f.left);
        text[f.left] = '\0';
    }
    read_text(text);
    free(text);
    return 0;
}
