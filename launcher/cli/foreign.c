/* SPDX-License-Identifier: BSD-3-Clause */
/* Other launchers' options; see foreign.h. Used by options.c. */
#include "config.h"
#include "launcher/cli/foreign.h"

#include <string.h>

#include "base/base.h"

static const struct ct_foreign rows[] = {
    /* Options of the same meaning under another name. */
    {"n ntasks", "-n", 1, NULL},
    {"N npernode perhost ntasks-per-node nproc-per-node nproc_per_node", "--ppn", 1, NULL},
    {"wd cwd chdir dir", "--wdir", 1, NULL},
    {"hosts", "-H", 1, NULL},
    {"genv", "--env-rank", 2, NULL},
    {"env", "-x", 2, NULL},
    {"l label prepend-rank", "--tag-output", 0, NULL},
    {"s", "--stdin", 1, NULL},
    {"V", "--version", 0, NULL},
    {"donotlaunch do-not-launch", "--dry-run", 0, NULL},
    {"gpus-per-task", "--gpus-per-rank", 1, NULL},
    {"nolocal", NULL, 0, "name the hosts with -H, and leave this one out"},
    /* Options that ask for the default. */
    {"allow-run-as-root genvall envall", NULL, 0, NULL},
    /* Options that have another form here. */
    {"mca gmca prtemca pmixmca tune am", NULL, 2,
     "ctran has variables instead of MCA parameters; set one with --set NAME=VALUE, and ctran_info "
     "--all lists them"},
    {"c", NULL, 1, "use -n N for ranks, or --map-by core:pe=N for cores a rank"},
    {"cpus-per-task cpus-per-rank cpus-per-proc", NULL, 1, "use --map-by core:pe=N"},
    {"npersocket", NULL, 1, "use --ppn N for ranks of a host, and --map-by package"},
    {"bynode", NULL, 0, "use --map-by node"},
    {"byslot", NULL, 0, "use --map-by slot"},
    {"bycore", NULL, 0, "use --map-by core"},
    {"bysocket", NULL, 0, "use --map-by package"},
    {"bind-to-core", NULL, 0, "use --bind-to core"},
    {"bind-to-socket", NULL, 0, "use --bind-to package"},
    {"bind-to-none", NULL, 0, "use --bind-to none"},
    {"cpu-bind cpu_bind cpu-set cpu-list", NULL, 1, "use --bind-to and --map-by"},
    {"use-hwthread-cpus hwthread-cpus", NULL, 0, "use --map-by hwthread"},
    {"rank-by ranks-by", NULL, 1, "--map-by gives the order of the ranks, too"},
    {"rf rankfile", NULL, 1, "ctran has no files of places; use --map-by and --bind-to"},
    {"display-map display-devel-map display-allocation display print-rank-map", NULL, 0,
     "use --report-bindings, or --dry-run to start nothing"},
    {"genvlist envlist", NULL, 1, "all variables are passed on; give others with -x NAME=VALUE"},
    {"export", NULL, 1, "all variables are passed on; give others with -x NAME=VALUE"},
    {"o e output error output-filename output-directory outfile-pattern errfile-pattern", NULL, 1,
     "use --output-dir DIR"},
    {"i input", NULL, 1, "redirect the standard input of ctranrun, and use --stdin RANK"},
    {"iface", NULL, 1, "use --set TCP_INTERFACES=NAME"},
    {"launcher launcher-exec bootstrap bootstrap-exec rsh rmk", NULL, 1,
     "use --launch-agent COMMAND"},
    {"app configfile", NULL, 1, "put ':' between the programs on the command line"},
    {"w nodelist", NULL, 1, "use -H HOST:N,..."},
    {"nodes nnodes", NULL, 1, "name the hosts with -H, and use --ppn N for ranks of each"},
    {"t time", NULL, 1, "use --timeout SECONDS"},
    {"prefix", NULL, 1, "install ctran at the same place on every host"},
    {"with-ft disable-auto-cleanup", NULL, 0, "use --enable-recovery"},
    {"gdb debug xterm", NULL, 0, "use --debugger \"gdb --args\""},
};

/* Whether a list with blanks between its words has the word. */
static bool has_word(const char *list, const char *word, size_t len)
{
    for (const char *at = list; *at != '\0';) {
        size_t n = strcspn(at, " ");
        if (n == len && strncmp(at, word, len) == 0) {
            return true;
        }
        at += n + strspn(at + n, " ");
    }
    return false;
}

const struct ct_foreign *ct_foreign_find(const char *arg, size_t name_len)
{
    size_t dashes = strncmp(arg, "--", 2) == 0 ? 2 : 1;
    for (size_t i = 0; name_len > dashes && i < CT_ARRAY_LEN(rows); i++) {
        if (has_word(rows[i].names, arg + dashes, name_len - dashes)) {
            return &rows[i];
        }
    }
    return NULL;
}
