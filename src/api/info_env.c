/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program was started with, as an info object: CTRAN_INFO_ENV, made by ctran_init, and
 * those of ctran_info_create_env. A key with an unknown value, or with a value that is too long,
 * does not exist.
 */
#define CT_FOLDER "api"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "api/api.h"

static void set(struct ct_infos *s, struct ct_info *info, const char *key, const char *value)
{
    (void)ct_info_set(s, info, key, value); /* too long: it is not there */
}

/* command, and argv with blanks between its words. */
static void set_words(struct ct_infos *s, struct ct_info *info, int argc, char **argv)
{
    char   words[CTRAN_MAX_INFO_VAL] = "";
    size_t len = 0;
    if (argc > 0 && argv[0] != NULL) {
        set(s, info, "command", argv[0]);
    }
    for (int i = 1; i < argc && argv[i] != NULL && len < sizeof words; i++) {
        len += (size_t)snprintf(words + len, sizeof words - len, "%s%s", i > 1 ? " " : "", argv[i]);
    }
    if (len > 0 && len < sizeof words) {
        set(s, info, "argv", words);
    }
}

/* The command line as the kernel knows it: words, each with its 0. */
static void set_command_line(struct ct_infos *s, struct ct_info *info)
{
    char line[2 * CTRAN_MAX_INFO_VAL], *argv[256];
    int  argc = 0, fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    ssize_t len = read(fd, line, sizeof line - 1);
    (void)close(fd);
    line[len > 0 ? len : 0] = '\0';
    for (ssize_t at = 0; at < len && argc < (int)CT_ARRAY_LEN(argv);) {
        argv[argc++] = line + at;
        at += (ssize_t)strlen(line + at) + 1;
    }
    /* What did not fit is not there; a part of it would mislead. */
    const bool whole = len < (ssize_t)sizeof line - 1 && argc < (int)CT_ARRAY_LEN(argv);
    set_words(s, info, whole ? argc : (argc > 0 ? 1 : 0), argv);
}

static void set_machine(struct ct_infos *s, struct ct_info *info)
{
    char           folder[CTRAN_MAX_INFO_VAL];
    struct utsname machine;
    if (getcwd(folder, sizeof folder) != NULL) {
        set(s, info, "wdir", folder);
    }
    if (uname(&machine) == 0) {
        set(s, info, "arch", machine.machine);
    }
}

/* size 0: not known. */
static void set_job(struct ct_infos *s, struct ct_info *info, uint32_t size, const char *host)
{
    char number[16];
    snprintf(number, sizeof number, "%u", size);
    if (size > 0) {
        set(s, info, "maxprocs", number);
        set(s, info, "soft", number);
    }
    set(s, info, "host", host);
}

/* What is known of it now: a process stays in its job until its end, so after finalize the same as
 * between; before init what the launcher has told. */
static void set_job_now(struct ct_process *p, struct ct_info *info)
{
    const enum ct_api_state now = ct_api_now();
    char                    host[CTRAN_MAX_PROCESSOR_NAME];
    if ((now == CT_API_RUNNING || now == CT_API_AFTER) && p->job != NULL) {
        set_job(&p->infos, info, p->job->size, p->job->host);
        return;
    }
    const uint32_t size = ct_job_foresee(host, sizeof host);
    set_job(&p->infos, info, size, host);
}

int ct_api_make_env(struct ct_process *p)
{
    struct ct_infos *s = &p->infos;
    s->env = ct_info_make(s);
    if (s->env == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    set_command_line(s, s->env);
    set_machine(s, s->env);
    set_job(s, s->env, p->job->size, p->job->host);
    return CTRAN_SUCCESS;
}

void ct_api_free_env(struct ct_process *p)
{
    if (p->infos.env != NULL) {
        ct_info_free(&p->infos, p->infos.env);
        p->infos.env = NULL;
    }
}

int ctran_info_create_env(int argc, char *argv[], ctran_info_t *info)
{
    struct ct_process *p = ct_api_process();
    int                rc = ctran_info_create(info);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (argc > 0 && argv != NULL) {
        set_words(&p->infos, *info, argc, argv);
    } else {
        set_command_line(&p->infos, *info);
    }
    set_machine(&p->infos, *info);
    set_job_now(p, *info);
    return CTRAN_SUCCESS;
}
