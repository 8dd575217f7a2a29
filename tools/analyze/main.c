/* SPDX-License-Identifier: BSD-3-Clause */
/* ctran_analyze: reads dumps, and says what holds their job up. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tools/analyze/analyze.h"

enum { EXIT_BAD_DUMP = 1, EXIT_USAGE = 2 };

typedef void print_fn(const struct an_report *r, FILE *out);

struct options {
    print_fn   *print;
    bool        timeline;
    double      min_age;
    const char *output;
};

static void print_help(void)
{
    printf(
        "usage: ctran_analyze [OPTION]... DUMP...\n\n"
        "Reads the traces of a job's ranks and says which rank holds the job up, where and why.\n"
        "A DUMP is a file that CTRAN_TRACE_DUMP named, a folder of such files, or - for standard\n"
        "input. ctranrun --analyze JOB asks a job that runs.\n\n"
        "  --text            a report for people (the default)\n"
        "  --json            the same as JSON\n"
        "  --html            the same as a page, with a matrix of ranks and communicators\n"
        "  --timeline        the calls, in the JSON form of Chrome's and Perfetto's timelines\n"
        "  --output FILE     write to FILE instead of standard output\n"
        "  --min-age SECONDS look at what has waited so long or longer (1)\n"
        "  --help, --version\n\n"
        "Exit status: 0 nothing holds the job up, 1 a dump cannot be read, 2 usage, else of the\n"
        "first verdict: 10 a rank is dead, 11 stopped, 12 has not called; 13 calls do not match;\n"
        "14 deadlock; 15 a message is not sent; 16 data do not move; 17 a rank is slow.\n");
}

static bool read_age(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out) && *out >= 0 && *out < 1e9;
}

/* The index of the first file; -1 after a message; 0: all is said. */
static int parse(struct options *o, int argc, char **argv)
{
    static const struct option all[] = {{"text", no_argument, NULL, 't'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"html", no_argument, NULL, 'w'},
                                        {"timeline", no_argument, NULL, 'l'},
                                        {"output", required_argument, NULL, 'o'},
                                        {"min-age", required_argument, NULL, 'a'},
                                        {"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'v'},
                                        {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "ho:", all, NULL)) != -1;) {
        switch (c) {
        case 't':
            o->print = an_print_text;
            break;
        case 'j':
            o->print = an_print_json;
            break;
        case 'w':
            o->print = an_print_html;
            break;
        case 'l':
            o->timeline = true;
            break;
        case 'o':
            o->output = optarg;
            break;
        case 'a':
            if (!read_age(optarg, &o->min_age)) {
                fprintf(stderr,
                        "ctran_analyze: --min-age \"%s\": expected seconds, as in "
                        "--min-age 5\n",
                        optarg);
                return -1;
            }
            break;
        case 'h':
            print_help();
            return 0;
        case 'v':
            printf("ctran_analyze %s\n", PACKAGE_VERSION);
            return 0;
        default:
            return -1;
        }
    }
    if (optind == argc) {
        fprintf(stderr, "ctran_analyze: no dump is named; see ctran_analyze --help\n");
        return -1;
    }
    return optind;
}

static int write_report(const struct options *o, const struct an_job *job, struct an_report *r)
{
    FILE *out = o->output != NULL ? fopen(o->output, "w") : stdout;
    if (out == NULL) {
        fprintf(stderr, "ctran_analyze: cannot write %s: %s\n", o->output, strerror(errno));
        return EXIT_BAD_DUMP;
    }
    if (o->timeline) {
        an_print_timeline(job, out);
    } else {
        o->print(r, out);
    }
    if (fflush(out) != 0 || (out != stdout && fclose(out) != 0)) {
        fprintf(stderr, "ctran_analyze: cannot write the report: %s\n", strerror(errno));
        return EXIT_BAD_DUMP;
    }
    return r->n > 0 && !o->timeline ? an_status(r->verdicts[0].kind) : 0;
}

int main(int argc, char **argv)
{
    struct options   o = {.print = an_print_text, .min_age = 1};
    struct an_job    job = {0};
    struct an_report report = {0};
    int              first = parse(&o, argc, argv), status = EXIT_BAD_DUMP;
    if (first <= 0) {
        return first == 0 ? 0 : EXIT_USAGE;
    }
    job.min_age_ns = (uint64_t)(o.min_age * 1e9);
    bool ok = true;
    for (int i = first; i < argc && ok; i++) {
        ok = an_load(&job, argv[i]);
    }
    if (ok && job.size == 0) {
        fprintf(stderr, "ctran_analyze: there is no dump there; CTRAN_TRACE_DUMP makes a job write "
                        "some\n");
        ok = false;
    }
    if (ok && an_judge(&report, &job)) {
        status = write_report(&o, &job, &report);
    }
    an_report_free(&report);
    an_free(&job);
    return status;
}
