/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dumps to a file, where CTRAN_TRACE_DUMP names one: at a fatal error, and at signals that a
 * program does not handle itself. The signal CTRAN_TRACE_SIGNAL writes a dump and the program goes
 * on; after those that end a process, the process ends as it would have.
 *
 * A handler may run at any moment: what it calls is async-signal-safe, and it reads the segment as
 * any other reader does.
 */
#define CT_FOLDER "trace"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace/own.h"

static const int fatal[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTERM, SIGINT, SIGHUP};

/* Whom the handlers serve: the public process, of which there is one. */
static struct ct_tracer *_Atomic dumping;

/* ---- writing --------------------------------------------------------------------------------- */

static bool write_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0) {
        const ssize_t n = write(fd, at, len);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        at += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Async-signal-safe, as what it calls. */
static bool write_dump(struct ct_tracer *t, const char *why)
{
    struct ct_trace_header h;
    const int              fd = open(t->dump_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return false;
    }
    ct_trace_pack_header(t->seg, &h);
    h.taken = ct_trace_now(t->by_counter);
    memccpy(h.why, why, '\0', sizeof h.why - 1);
    bool ok = write_all(fd, &h, sizeof h);
    for (unsigned i = 0; ok && i < CT_TRACE_TABLES; i++) {
        ok = write_all(fd, ct_trace_pack_table(t->seg, i),
                       (size_t)h.table[i].count * h.table[i].entry_bytes);
    }
    return close(fd) == 0 && ok;
}

void ct_trace_write_dump(struct ct_trace *base, const char *why)
{
    struct ct_tracer *t = ct_tracer_of(base);
    if (t->dump_path[0] != '\0' && !write_dump(t, why)) {
        ct_error(&t->p->log, "cannot write the trace to %s: %s; CTRAN_TRACE_DUMP says where",
                 t->dump_path, strerror(errno));
    }
}

/* ---- signals --------------------------------------------------------------------------------- */

/* "signal 15" */
static void name_signal(int number, char out[16])
{
    memcpy(out, "signal ", 8);
    char *at = out + 7;
    if (number >= 10) {
        *at++ = (char)('0' + number / 10 % 10);
    }
    *at++ = (char)('0' + number % 10);
    *at = '\0';
}

static void on_signal(int number)
{
    struct ct_tracer *t = atomic_load(&dumping);
    const int         saved = errno;
    char              why[16];
    name_signal(number, why);
    if (t != NULL) {
        (void)write_dump(t, why);
    }
    if (t == NULL || number != t->dump_signal) {
        (void)raise(number); /* by the default action, once this has returned: SA_RESETHAND */
    }
    errno = saved;
}

/* Takes a signal that nobody handles. */
static void watch_signal(int number, int flags)
{
    struct sigaction now, ours = {.sa_handler = on_signal, .sa_flags = flags};
    sigemptyset(&ours.sa_mask);
    if (sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
        now.sa_handler == SIG_DFL) {
        (void)sigaction(number, &ours, NULL);
    }
}

static void leave_signal(int number)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler == on_signal) {
        (void)signal(number, SIG_DFL);
    }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

int ct_trace_dump_init(struct ct_tracer *t, const struct ct_trace_identity *who)
{
    const char *pattern = t->p->cfg.trace_dump;
    const bool  own = strstr(pattern, "%r") != NULL || strstr(pattern, "%p") != NULL;
    char        full[PATH_MAX];
    if (pattern[0] == '\0') {
        return CTRAN_SUCCESS;
    }
    (void)snprintf(full, sizeof full, "%s%s", pattern, own ? "" : ".%r");
    int rc = ct_log_path(&t->p->log, "CTRAN_TRACE_DUMP", full, who->host, (int)who->rank, who->job,
                         t->dump_path, sizeof t->dump_path);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    t->dump_signal = (int)t->p->cfg.trace_signal;
    atomic_store(&dumping, t);
    if (t->dump_signal != 0) {
        watch_signal(t->dump_signal, SA_RESTART);
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(fatal); i++) {
        if (fatal[i] != t->dump_signal) {
            watch_signal(fatal[i], (int)SA_RESETHAND);
        }
    }
    return CTRAN_SUCCESS;
}

void ct_trace_dump_fini(struct ct_tracer *t)
{
    struct ct_tracer *me = t;
    if (!atomic_compare_exchange_strong(&dumping, &me, NULL)) {
        return;
    }
    leave_signal(t->dump_signal);
    for (size_t i = 0; i < CT_ARRAY_LEN(fatal); i++) {
        leave_signal(fatal[i]);
    }
}
