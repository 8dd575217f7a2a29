/* SPDX-License-Identifier: BSD-3-Clause */
/* ctran_scale: the command line. See ctran_scale(1). */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <config.h>

#include "scale.h"

static const char usage_text[] =
    "usage: ctran_scale --mode sockets|processes|baseline|simulate --ranks N [OPTION...]\n"
    "  --ranks-per-node K   ranks of a node (512, or N if that is less)\n"
    "  --algorithm NAME     between nodes: bidirectional_ring, bruck, binomial, ring, ...\n"
    "  --stores N           servers of the store (1)\n"
    "  --workers N          processes, if that is more than the descriptors make necessary (2)\n"
    "  --limit SECONDS      of the whole run (120)\n"
    "  --port N             of all agents (another in each run)\n"
    "  --launcher FILE      that starts the processes (ctranrun)\n"
    "  --json               print one JSON object\n"
    "simulate:\n"
    "  --calibrate          what things cost on this machine, by runs of 2048 ranks over sockets\n"
    "  --cores N            processors that all share; 0: each node has its own (2)\n"
    "  --start-us, --join-us, --message-us, --byte-ns, --latency-us X   what things cost\n";

static int usage(const char *why, const char *what)
{
    fprintf(stderr, "ctran_scale: %s%s; ctran_scale --help lists the options\n", why, what);
    return 2;
}

/* What the value of an option may be, where not any text will do. */
static const char *wanted(int c)
{
    switch (c) {
    case 'n':
        return "a number from 1 to 16777216";
    case 'k':
        return "a number from 1 to 4096";
    case 's':
        return "a number from 1 to 16";
    case 'w':
        return "a number from 1 to 240";
    case 'l':
        return "a number of seconds from 1 to 100000";
    case 'c':
        return "a number from 0 to 4096";
    case 'p':
        return "a port from 1 to 65535";
    default:
        return "a number from 0 to 1e9";
    }
}

_Static_assert(MAX_STORES == 16 && MAX_WORKERS == 256, "the ranges that `wanted` names");

/* Below those that the system gives out by itself. */
enum { FIRST_PORT = 10000, PORTS = 20000 };
enum { START = 256, JOIN, MESSAGE, BYTE, LATENCY, CALIBRATE };

static const struct option known[] = {
    {"mode", required_argument, NULL, 'm'},
    {"ranks", required_argument, NULL, 'n'},
    {"ranks-per-node", required_argument, NULL, 'k'},
    {"algorithm", required_argument, NULL, 'a'},
    {"stores", required_argument, NULL, 's'},
    {"workers", required_argument, NULL, 'w'},
    {"limit", required_argument, NULL, 'l'},
    {"cores", required_argument, NULL, 'c'},
    {"launcher", required_argument, NULL, 'L'},
    {"port", required_argument, NULL, 'p'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {"start-us", required_argument, NULL, START},
    {"join-us", required_argument, NULL, JOIN},
    {"message-us", required_argument, NULL, MESSAGE},
    {"byte-ns", required_argument, NULL, BYTE},
    {"latency-us", required_argument, NULL, LATENCY},
    {"calibrate", no_argument, NULL, CALIBRATE},
    {NULL, 0, NULL, 0},
};

static bool take_count(const char *text, uint32_t low, uint32_t high, uint32_t *out)
{
    char         *end;
    unsigned long v = strtoul(text, &end, 10);
    *out = (uint32_t)v;
    return *text >= '0' && *text <= '9' && *end == '\0' && v >= low && v <= high;
}

static bool take_cost(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= 0 && *out < 1e9;
}

static bool take(struct options *o, int c, const char *text)
{
    uint32_t port;
    bool     good;
    switch (c) {
    case 'm':
        o->mode = text;
        return true;
    case 'a':
        o->algorithm = text;
        return true;
    case 'n':
        return take_count(text, 1, 1 << 24, &o->ranks);
    case 'k':
        return take_count(text, 1, 4096, &o->per_node);
    case 's':
        return take_count(text, 1, MAX_STORES, &o->stores);
    case 'w':
        return take_count(text, 1, MAX_WORKERS - MAX_STORES, &o->workers);
    case 'l':
        return take_count(text, 1, 100000, &o->limit_s);
    case 'c':
        return take_count(text, 0, 4096, &o->cores);
    case 'L':
        o->launcher = text;
        return true;
    case 'p':
        good = take_count(text, 1, UINT16_MAX, &port);
        o->port = (uint16_t)port;
        return good;
    case START:
        return take_cost(text, &o->start_us);
    case JOIN:
        return take_cost(text, &o->join_us);
    case MESSAGE:
        return take_cost(text, &o->message_us);
    case BYTE:
        return take_cost(text, &o->byte_ns);
    case LATENCY:
        return take_cost(text, &o->latency_us);
    case CALIBRATE:
        o->calibrate = true;
        return true;
    default:
        o->json = true;
        return true;
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const struct options *o, struct result *r);
    } modes[] = {{"sockets", run_sockets},
                 {"baseline", run_baseline},
                 {"simulate", run_simulate},
                 {"processes", run_processes},
                 {"rank", run_rank}};
    ct_stdfd_fill();
    /* Costs: those with which the simulation is nearest to eight runs on two processors, of 1024 to
     * 98304 ranks, 1 to 512 of them a node; bench/scale.jsonl has the runs. */
    struct options o = {.stores = 1,
                        .workers = 2,
                        .launcher = "ctranrun",
                        .limit_s = 120,
                        .cores = 2,
                        .start_us = 3000,
                        .join_us = 85,
                        .message_us = 14,
                        .byte_ns = 2.4,
                        .latency_us = 20,
                        .scale = 1};
    struct result  r = {.seconds = 0};
    if (argc > 3 && strcmp(argv[1], "--as-agent") == 0) {
        return be_agent(argv + 2);
    }
    for (int c, index = 0; (c = getopt_long(argc, argv, "", known, &index)) != -1;) {
        if (c == 'h') {
            fputs(usage_text, stdout);
            return 0;
        }
        if (c == 'V') {
            puts("ctran_scale " PACKAGE_VERSION);
            return 0;
        }
        if (c == '?') {
            return usage("unknown option, or one without its value", "");
        }
        if (!take(&o, c, optarg)) {
            fprintf(stderr, "ctran_scale: --%s: %s: wanted: %s\n", known[index].name, optarg,
                    wanted(c));
            return 2;
        }
    }
    if (o.mode == NULL || o.ranks == 0 || optind < argc) {
        return usage("--mode and --ranks are needed, and no other words", "");
    }
    o.port = o.port != 0 ? o.port : (uint16_t)(FIRST_PORT + getpid() % PORTS);
    o.per_node = o.per_node != 0 ? o.per_node : o.ranks < 512 ? o.ranks : 512;
    if (o.calibrate && strcmp(o.mode, "simulate") != 0) {
        return usage("--calibrate is for --mode simulate, not for ", o.mode);
    }
    if (o.calibrate && calibrate(&o) != CTRAN_SUCCESS) {
        return 1;
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(modes); i++) {
        if (strcmp(modes[i].name, o.mode) == 0) {
            int                   rc = modes[i].run(&o, &r);
            const struct ct_algo *a =
                ct_oob_algo(o.algorithm, r.nodes > 0 ? r.nodes : 1, o.per_node * ENTRY_BYTES);
            if (rc == CTRAN_SUCCESS) {
                report(&o, &r, i == 1 || a == NULL ? "ring of all ranks" : a->name);
            }
            return rc == CTRAN_SUCCESS ? 0 : 1;
        }
    }
    return usage("no such mode: ", o.mode);
}
