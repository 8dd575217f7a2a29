/* SPDX-License-Identifier: BSD-3-Clause */
/* --dry-run, the side of ctranrun; see plan.h. Used by ctranrun.c. */
#include "config.h"
#include "launcher/place/plan.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launcher/launcher.h"

/* The description in a file without a name, at CT_DAEMON_FD. Returns false with errno set. */
static bool write_description(const struct ct_jobdesc *d, uint32_t me)
{
    struct evbuffer *body = evbuffer_new();
    int              fd = memfd_create("ctran-plan", 0);
    bool             ok = body != NULL && fd >= 0;
    if (ok) {
        ct_pack_u32(body, me);
        ct_pack_u32(body, 1); /* its span: itself */
        ct_jobdesc_pack(d, body);
        while (ok && evbuffer_get_length(body) > 0) {
            ok = evbuffer_write(body, fd) > 0;
        }
        ok = ok && lseek(fd, 0, SEEK_SET) == 0 &&
             (fd == CT_DAEMON_FD || dup2(fd, CT_DAEMON_FD) == CT_DAEMON_FD);
    }
    if (body != NULL) {
        evbuffer_free(body);
    }
    return ok;
}

int ct_plan_exec(const struct ct_jobdesc *d, uint32_t local, const char *daemon)
{
    char node[16] = "none";
    if (local != CT_NO_NODE) {
        snprintf(node, sizeof node, "%u", local);
    }
    if (write_description(d, local != CT_NO_NODE ? local : 0)) {
        execl(daemon, CT_DAEMON_NAME, "--plan", node, (char *)NULL);
    }
    fprintf(stderr, "ctranrun: cannot make the plan of the job: %s\n", strerror(errno));
    return CT_EXIT_INTERNAL;
}
