/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conform - the conformance suite of transports: each case on each variant of a transport, in real
 * processes. A transport that passes may carry ep.
 *
 *   conform TRANSPORT [CASE]            all variants of the transport
 *   conform --mutant NAME TRANSPORT [CASE]     with one fault; has to fail
 *   conform --list-mutants TRANSPORT
 */
#define CT_FOLDER "test"
#include "cases.h"
#include "mutants.h"

static const struct world_args variants[] = {
    {.name = "self", .transport = "self", .settings = "CTRAN_TRANSPORTS=self"},
    {.name = "shm", .transport = "shm", .settings = "CTRAN_TRANSPORTS=self,shm"},
    {.name = "shm, small ring",
     .transport = "shm",
     .settings = "CTRAN_TRANSPORTS=self,shm CTRAN_SHM_RING_SIZE=4K"},
    {.name = "shm, shared memory",
     .transport = "shm",
     .memory = WORLD_SHARED,
     .settings = "CTRAN_TRANSPORTS=self,shm CTRAN_SHM_ALLOC=1"},
    {.name = "shm, by messages",
     .transport = "shm",
     .settings = "CTRAN_TRANSPORTS=self,shm CTRAN_SHM_SINGLE_COPY=off"},
    {.name = "tcp",
     .transport = "tcp",
     .settings = "CTRAN_TRANSPORTS=self,tcp CTRAN_TCP_INTERFACES=127.0.0.0/8 "
                 "CTRAN_TCP_TIMEOUT=500ms"},
    {.name = "ib",
     .transport = "ib",
     .settings = "CTRAN_TRANSPORTS=self,ib CTRAN_IB_DEVICES=emu0,emu1 CTRAN_IB_TIMEOUT=1s "
                 "CTRAN_IB_ACK_TIMEOUT=10 CTRAN_IB_RETRIES=2 CTRAN_IB_PROBE=100ms"},
    {.name = "ib, one port",
     .transport = "ib",
     .settings = "CTRAN_TRANSPORTS=self,ib CTRAN_IB_DEVICES=emu0 CTRAN_IB_TIMEOUT=1s "
                 "CTRAN_IB_ACK_TIMEOUT=10 CTRAN_IB_RETRIES=2 CTRAN_IB_PROBE=100ms "
                 "CTRAN_IB_QPS=5 CTRAN_IB_SEGMENT=4K "
                 "CTRAN_IB_OUTSTANDING=2 CTRAN_IB_FIRST_WRITE=16777200"},
    {.name = "ib, atomics of the NIC",
     .transport = "ib",
     .only = "atomics",
     .settings = "CTRAN_TRANSPORTS=self,ib CTRAN_IB_DEVICES=emu0 CTRAN_IB_ATOMICS=nic"},
    {.name = "ib, two primary ports",
     .transport = "ib",
     .settings = "CTRAN_TRANSPORTS=self,ib CTRAN_IB_DEVICES=emu0,emu1,emu2 CTRAN_IB_TIMEOUT=1s "
                 "CTRAN_IB_ACK_TIMEOUT=10 CTRAN_IB_RETRIES=2 CTRAN_IB_PROBE=100ms "
                 "CTRAN_IB_SEGMENT=16K CTRAN_IB_FIRST_WRITE=16777000 CTRAN_IB_RECEIVES=64"},
    {.name = "template", .transport = "template", .settings = "CTRAN_TRANSPORTS=self,template"},
    {.name = NULL},
};

static const struct world_case *const tables[] = {cases_message, cases_key, cases_rma, cases_wait,
                                                  cases_device};

static bool run_case(const struct world_args *args, const struct world_case *c)
{
    const bool     alone = strcmp(args->transport, "self") == 0;
    const uint32_t n = alone ? 1 : c->n;
    if (alone && c->victims != 0) {
        return true;
    }
    const bool ok = world_run(args, n, c->victims, c->body);
    (void)printf("%s: %s, %s\n", ok ? "ok" : "NOT OK", args->name, c->name);
    (void)fflush(stdout);
    return ok;
}

/* With a fault the first case that finds it is enough. */
static unsigned run_variant(const struct world_args *args, const char *only)
{
    unsigned failed = 0;
    for (size_t i = 0; i < CT_ARRAY_LEN(tables); i++) {
        for (const struct world_case *c = tables[i]; c->name != NULL; c++) {
            if ((only == NULL || strcmp(only, c->name) == 0) &&
                (args->only == NULL || strcmp(args->only, c->name) == 0) && !run_case(args, c)) {
                failed++;
                if (args->spoil != NULL) {
                    return failed;
                }
            }
        }
    }
    return failed;
}

/* A hang is one way to fail. A mutant with a fault thus has little time; what conforms has as much
 * as a crowded machine may need. */
enum { FAULTY_LIMIT_S = 10 };

static int run(const char *transport, const char *only, const struct mutant *mutant)
{
    unsigned failed = 0, found = 0;
    for (const struct world_args *v = variants; v->name != NULL; v++) {
        /* Faults change functions, so one case of a variant shows no more of them. */
        if (strcmp(v->transport, transport) == 0 && (mutant == NULL || v->only == NULL)) {
            struct world_args args = *v;
            if (mutant != NULL) {
                args.spoil = mutant->spoil;
                args.limit_s = mutant->conforms ? 0 : FAULTY_LIMIT_S;
            }
            failed += run_variant(&args, only);
            found++;
            if (mutant != NULL && failed > 0) {
                break;
            }
        }
    }
    return found == 0 ? 2 : failed > 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--list-mutants") == 0) {
        mutants_list(argv[2]);
        return 0;
    }
    if ((argc == 4 || argc == 5) && strcmp(argv[1], "--mutant") == 0) {
        const struct mutant *m = mutant_find(argv[2]);
        return m != NULL ? run(argv[3], argc == 5 ? argv[4] : NULL, m) : 2;
    }
    if (argc == 2 || argc == 3) {
        return run(argv[1], argc == 3 ? argv[2] : NULL, NULL);
    }
    (void)fprintf(stderr, "usage: conform [--mutant NAME | --list-mutants] TRANSPORT [CASE]\n");
    return 2;
}
