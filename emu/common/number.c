/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings that are numbers; common.h has the contract. */
#include "common.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

unsigned long emu_number(const char *name, unsigned long lacking, unsigned long min,
                         unsigned long max)
{
    const char *text = getenv(name);
    if (text == NULL || *text == '\0') {
        return lacking;
    }
    char               *end;
    const unsigned long value = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end != '\0' || value < min || value > max) {
        fprintf(stderr, "%s: %s is \"%s\"; give a number of %lu to %lu\n", emu_title, name, text,
                min, max);
        exit(1);
    }
    return value;
}
