/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the job as events of PMIx; see job_event.h. Used by server.c. */
#include "config.h"
#include "launcher/pmix/job_event.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/base.h"
#include "pmi/pmi.h"

/* libpmix keeps an event for clients that have yet to ask for it. It sends each client what comes
 * in the order in which it came, answers to fences included; but not to the event's source. libpmix
 * forgets the source of a kept event, so the affected rank is named once more. */
void ct_pmix_job_event_tell(const char *nspace, enum ct_job_event event, uint32_t rank)
{
    static const pmix_status_t codes[CT_JOB_EVENT_KINDS] = {
        [CT_JOB_EVENT_ENDED] = CT_PMIX_ENDED,
        [CT_JOB_EVENT_NO_START] = CT_PMIX_NO_START,
        [CT_JOB_EVENT_MAY_LEAVE] = CT_PMIX_MAY_LEAVE,
    };
    pmix_proc_t proc;
    pmix_info_t info[2];
    bool        yes = true;
    pmix_rank_t about = event == CT_JOB_EVENT_MAY_LEAVE ? PMIX_RANK_UNDEF : rank;
    PMIX_LOAD_PROCID(&proc, nspace, about);
    PMIX_INFO_LOAD(&info[0], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    (void)PMIx_Notify_event(codes[event], &proc, PMIX_RANGE_LOCAL, info, CT_ARRAY_LEN(info), NULL,
                            NULL);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
}

/* No rank listens for events in such a job: ranks that wait for others look at the file from time
 * to time. */
void ct_pmix_job_event_write(const char *tmpdir, uint32_t rank)
{
    char path[PATH_MAX];
    int  n = snprintf(path, sizeof path, "%s/" CT_ENDED_FILE, tmpdir);
    int  fd = n < (int)sizeof path
                  ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                  : -1;
    if (fd >= 0) { /* else the waiting ranks wait until their time limit */
        (void)dprintf(fd, "%" PRIu32 "\n", rank);
        close(fd);
    }
}
