/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking for programs before anything is started; see program.h. Used by ctranrun.c. */
#include "config.h"
#include "launcher/proc/program.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"

/* 0 when the file can be executed, ENOENT when it is not there, another errno otherwise. */
static int program_judge(const char *file)
{
    struct stat st;
    if (stat(file, &st) != 0) {
        return errno == ENOTDIR ? ENOENT : errno;
    }
    if (S_ISDIR(st.st_mode)) {
        return EISDIR;
    }
    /* Root may read and write any file, but executes only a file that some user may execute. */
    return access(file, X_OK) == 0 ? 0 : errno;
}

static int program_report(const char *file, int err)
{
    if (err == ENOENT) {
        fprintf(stderr, "ctranrun: %s: there is no such file; check the program's path\n", file);
        return CT_EXIT_NOT_FOUND;
    }
    fprintf(stderr, "ctranrun: %s: cannot be executed: %s; %s\n", file, strerror(err),
            err == EISDIR   ? "give a program"
            : err == EACCES ? "make the file executable (chmod +x)"
                            : "check the program");
    return CT_EXIT_CANNOT_EXEC;
}

/* Writes dir/name, below wdir if dir is relative. Returns false if it is too long. */
static bool program_join(char *out, size_t cap, const char *wdir, const char *dir, const char *name)
{
    const char *base = dir[0] == '/' || wdir[0] == '\0' ? "" : wdir;
    int n = snprintf(out, cap, "%s%s%s%s%s", base, *base ? "/" : "", dir, *dir ? "/" : "", name);
    return n >= 0 && (size_t)n < cap;
}

static int find_in_path(const char *name, const char *path, const char *wdir, char *out, size_t cap)
{
    char denied[PATH_MAX] = "";
    int  denied_err = 0;
    for (const char *at = path; at != NULL;) {
        char   dir[PATH_MAX];
        size_t len = strcspn(at, ":");
        snprintf(dir, sizeof dir, "%.*s", (int)len, len > 0 ? at : ".");
        at = at[len] == ':' ? at + len + 1 : NULL;
        int err =
            program_join(out, cap, wdir, len > 0 ? dir : ".", name) ? program_judge(out) : ENOENT;
        if (err == 0) {
            return 0;
        }
        if (err != ENOENT && denied_err == 0) {
            denied_err = err;
            snprintf(denied, sizeof denied, "%s", out);
        }
    }
    if (denied_err != 0) {
        return program_report(denied, denied_err);
    }
    fprintf(stderr, "ctranrun: %s: not found in PATH (%s); give the program's path\n", name, path);
    return CT_EXIT_NOT_FOUND;
}

/* An absolute path stays right when the rank has entered its working directory. Links in it stay
 * as they are: programs look at how they were called. */
static int make_absolute(char *file, size_t cap)
{
    char here[PATH_MAX], whole[2 * PATH_MAX];
    if (file[0] == '/') {
        return 0;
    }
    if (getcwd(here, sizeof here) == NULL) {
        return program_report(file, errno);
    }
    int n = snprintf(whole, sizeof whole, "%s/%s", here, file);
    if ((size_t)n >= cap) {
        return program_report(file, ENAMETOOLONG);
    }
    memcpy(file, whole, (size_t)n + 1);
    return 0;
}

int ct_program_find(const char *name, const char *path, const char *wdir, char *out, size_t cap)
{
    int status;
    if (strchr(name, '/') == NULL) {
        status = find_in_path(name, path, wdir, out, cap);
    } else {
        int err = program_join(out, cap, name[0] == '/' ? "" : wdir, "", name) ? program_judge(out)
                                                                               : ENAMETOOLONG;
        status = err == 0 ? 0 : program_report(name, err);
    }
    return status == 0 ? make_absolute(out, cap) : status;
}

int ct_program_find_daemon(char *out, size_t cap)
{
    static const char *const places[] = {"", "../libexec/"};
    char                     self[PATH_MAX];
    ssize_t                  len = readlink("/proc/self/exe", self, sizeof self - 1);
    self[len > 0 ? len : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash != NULL) {
        slash[1] = '\0';
    }
    for (size_t i = 0; slash != NULL && i < CT_ARRAY_LEN(places); i++) {
        int n = snprintf(out, cap, "%s%s" CT_DAEMON_NAME, self, places[i]);
        if (n > 0 && (size_t)n < cap && program_judge(out) == 0) {
            return 0;
        }
    }
    snprintf(out, cap, "%s/" CT_DAEMON_NAME, CT_LIBEXECDIR);
    if (program_judge(out) == 0) {
        return 0;
    }
    fprintf(stderr,
            "ctranrun: the daemon " CT_DAEMON_NAME " is neither beside ctranrun in %s, nor in "
            "../libexec, nor in " CT_LIBEXECDIR "; install ctran anew\n",
            self);
    return CT_EXIT_INTERNAL;
}

/* The PATH that an app's ranks will have. */
static const char *ranks_path(const struct ct_app *app)
{
    const char *path = getenv("PATH");
    for (char **s = app->env; s != NULL && *s != NULL; s++) {
        if (strncmp(*s, "PATH=", 5) == 0) {
            path = *s + 5;
        }
    }
    return path != NULL ? path : "/usr/local/bin:/bin:/usr/bin";
}

int ct_program_find_all(struct ct_jobdesc *d)
{
    char file[PATH_MAX];
    for (uint32_t i = 0; i < d->napps; i++) {
        struct ct_app *a = &d->apps[i];
        int status = ct_program_find(a->path != NULL ? a->path : a->argv[0], ranks_path(a), a->wdir,
                                     file, sizeof file);
        if (status != 0) {
            return status;
        }
        free(a->path);
        a->path = strdup(file);
    }
    return 0;
}
