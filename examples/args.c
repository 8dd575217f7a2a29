/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines of the examples; see args.h. */
#include "args.h"

#include <getopt.h>
#include <stdlib.h>

enum { HELP = 256 }; /* what getopt_long returns for --help; for another option, its place */

void args_usage(const struct args *args, FILE *to)
{
    fprintf(to, "usage: ctranrun -n RANKS %s [OPTION]...\n%s", args->program, args->purpose);
    for (const struct arg *a = args->table; a->name != NULL; a++) {
        char name[32];
        snprintf(name, sizeof name, "--%s %s", a->name, a->value != NULL ? a->value : "");
        fprintf(to, "  %-15s ", name);
        for (const char *c = a->help; *c != '\0'; c++) {
            fputc(*c, to);
            if (*c == '\n') {
                fprintf(to, "%18s", "");
            }
        }
        fputc('\n', to);
    }
    fprintf(to, "  %-15s print this\n", "--help");
}

static bool take(const struct arg *a, const char *text)
{
    char *end = NULL;
    switch (a->kind) {
    case ARG_LONG: {
        const long value = strtol(text, &end, 10);
        *(long *)a->to = value;
        return end != text && *end == '\0' && (double)value >= a->least && (double)value <= a->most;
    }
    case ARG_REAL: {
        const double value = strtod(text, &end);
        *(double *)a->to = value;
        return end != text && *end == '\0' && value > a->least && value < a->most;
    }
    case ARG_TEXT:
        *(const char **)a->to = text;
        return true;
    case ARG_FLAG:
        *(bool *)a->to = true;
        return true;
    }
    return false;
}

int args_parse(const struct args *args, int argc, char **argv, bool speak)
{
    struct option options[ARGS_MOST + 2] = {{NULL, 0, NULL, 0}};
    int           n = 0, c;
    for (; args->table[n].name != NULL && n < ARGS_MOST; n++) {
        const int takes = args->table[n].kind == ARG_FLAG ? no_argument : required_argument;
        options[n] = (struct option){args->table[n].name, takes, NULL, n};
    }
    options[n] = (struct option){"help", no_argument, NULL, HELP};
    opterr = speak;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == HELP) {
            if (speak) {
                args_usage(args, stdout);
            }
            return 0;
        }
        if (c == '?') {
            return 2; /* getopt_long has said why */
        }
        if (!take(&args->table[c], optarg)) {
            if (speak) {
                fprintf(stderr, "%s: \"%s\" is no valid value for --%s\n", args->program, optarg,
                        args->table[c].name);
            }
            return 2;
        }
    }
    if (optind < argc && speak) {
        fprintf(stderr, "%s: unexpected argument \"%s\"\n", args->program, argv[optind]);
    }
    return optind < argc ? 2 : -1;
}
