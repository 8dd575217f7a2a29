/* SPDX-License-Identifier: BSD-3-Clause */
/* Machines from files; see synthetic.h. */
#include "topo/synthetic.h"

#include <errno.h>
#include <hwloc.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "topo/components.h"
#include "topo/load.h"
#include "topo/text.h"
#include "topo/trial.h"

enum { XML_MAX = 64 << 20 };

static bool is_path(const char *name)
{
    size_t len = strlen(name);
    return strchr(name, '/') != NULL || (len > 4 && strcmp(name + len - 4, ".xml") == 0);
}

static int synthetic_refuse(char *why, size_t cap, const char *path, const char *reason)
{
    (void)snprintf(why, cap, "%s: %s", path, reason);
    return CTRAN_ERR_ARG;
}

/* Can hwloc be given it? A folder or a pipe it would not survive well. */
static int synthetic_look_at(const char *path, char *why, size_t cap)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return synthetic_refuse(why, cap, path, strerror(errno));
    }
    if (!S_ISREG(st.st_mode) || st.st_size > XML_MAX) {
        return synthetic_refuse(why, cap, path, "no file, or one of more than 64 MiB");
    }
    return CTRAN_SUCCESS;
}

/* What is read, and into what. */
struct reading {
    const char          *path;
    struct ct_machine   *m;
    const struct ct_log *log;
    char                *why;
    size_t               cap;
};

static int read_xml(void *arg)
{
    struct reading  *r = arg;
    hwloc_topology_t t;
    int              rc = CTRAN_SUCCESS;
    if (ct_topo_init(&t) != 0) {
        return CTRAN_ERR_NO_MEM;
    }
    ct_machine_filter(t);
    if (hwloc_topology_set_xml(t, r->path) != 0 || hwloc_topology_load(t) != 0) {
        rc = synthetic_refuse(
            r->why, r->cap, r->path,
            "hwloc does not take it; a newer lstopo must write it with --export-xml-flags v2, "
            "and HWLOC_XML_VERBOSE=1 in the environment tells more");
    } else if (ct_machine_from_hwloc(r->m, t, r->log) != CTRAN_SUCCESS) {
        rc = synthetic_refuse(r->why, r->cap, r->path, "it describes no machine");
    }
    hwloc_topology_destroy(t);
    return rc;
}

static int load_xml(struct ct_machine *m, const char *path, const struct ct_log *log, char *why,
                    size_t cap)
{
    struct reading r = {.path = path, .m = m, .log = log, .why = why, .cap = cap};
    int            rc = synthetic_look_at(path, why, cap);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (ct_trial(read_xml, &r) == CT_TRIAL_ENDED) {
        return synthetic_refuse(
            why, cap, path,
            "hwloc crashes when it reads this file: an object lacks an attribute, or a "
            "value makes no sense; write the file with lstopo");
    }
    return read_xml(&r);
}

/* The description beside the XML file; there need not be one. */
static int load_description(struct ct_machine *m, const char *xml, char *why, size_t cap)
{
    char           path[PATH_MAX];
    struct ct_text t;
    struct stat    st;
    size_t         len = strlen(xml);
    bool           ends = len > 4 && strcmp(xml + len - 4, ".xml") == 0;
    (void)snprintf(path, sizeof path, "%.*s.machine", (int)(ends ? len - 4 : len), xml);
    if (stat(path, &st) != 0 && errno == ENOENT) {
        return CTRAN_SUCCESS;
    }
    int rc = ct_text_open_file(&t, path, why, cap);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_machine_describe(m, path, t.begin, why, cap);
        ct_text_close(&t);
    }
    return rc;
}

/* "NAME" of "FOLDER/NAME.xml" */
static void name_it(struct ct_machine *m, const char *path)
{
    char        name[sizeof m->source];
    const char *slash = strrchr(path, '/'), *from = slash != NULL ? slash + 1 : path;
    size_t      len = strlen(from);
    len -= len > 4 && strcmp(from + len - 4, ".xml") == 0 ? 4 : 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)ct_min_size(len, sizeof name - 1), from);
    ct_machine_text(m->source, sizeof m->source, name);
    if (m->host[0] == '\0') {
        ct_machine_text(m->host, sizeof m->host, name);
    }
}

int ct_machine_synthetic(struct ct_machine *m, const char *name, const char *folder,
                         const struct ct_log *log, char *why, size_t cap)
{
    char path[PATH_MAX - 16]; /* room for another ending */
    if (folder == NULL || folder[0] == '\0') {
        folder = CT_PKGDATADIR "/machines";
    }
    int n = is_path(name) ? snprintf(path, sizeof path, "%s", name)
                          : snprintf(path, sizeof path, "%s/%s.xml", folder, name);
    if (n < 0 || (size_t)n >= sizeof path) {
        return synthetic_refuse(why, cap, "machine", "the path is too long");
    }
    int rc = load_xml(m, path, log, why, cap);
    if (rc == CTRAN_ERR_ARG && !is_path(name) && access(path, F_OK) != 0) {
        const size_t len = strlen(why);
        (void)snprintf(why + len, cap - len, "; CTRAN_MACHINES names the folder of the machines");
    }
    if (rc == CTRAN_SUCCESS) {
        name_it(m, path);
        rc = load_description(m, path, why, cap);
    }
    return rc;
}

int ct_machine_read(struct ct_machine *m, const struct ct_config *cfg, const struct ct_log *log,
                    char *why, size_t cap)
{
    if (cfg->machine[0] != '\0') {
        return ct_machine_synthetic(m, cfg->machine, cfg->machines, log, why, cap);
    }
    int rc = ct_machine_load(m, log);
    if (rc != CTRAN_SUCCESS) {
        (void)snprintf(why, cap, "hwloc cannot read this machine");
    }
    return rc;
}
