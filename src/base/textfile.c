/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a file of text; see textfile.h. */
#include "base/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *slurp(FILE *f, size_t most_bytes)
{
    size_t len = 0, room = 4096, got = 0;
    char  *text = NULL;
    errno = 0;
    do {
        char *more = len <= most_bytes ? realloc(text, room + 1) : NULL;
        errno = len <= most_bytes ? errno : EFBIG;
        if (more == NULL) {
            free(text);
            return NULL;
        }
        text = more;
        got = fread(text + len, 1, room - len, f);
        len += got;
        room *= 2;
    } while (len == room / 2);
    text[len] = '\0';
    if (!ferror(f) && strlen(text) == len && len <= most_bytes) {
        return text;
    }
    errno = ferror(f) ? errno : len > most_bytes ? EFBIG : EILSEQ;
    free(text);
    return NULL;
}

static FILE *open_file(const char *path)
{
    struct stat st;
    const int   fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE       *f = NULL;
    if (fd < 0) {
        return NULL;
    }
    if (fstat(fd, &st) == 0) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : ENXIO;
        f = S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
    }
    if (f == NULL) {
        const int why = errno;
        close(fd);
        errno = why;
    }
    return f;
}

char *ct_textfile_read(const char *path, size_t most_bytes)
{
    FILE *f = open_file(path);
    char *text = f != NULL ? slurp(f, most_bytes) : NULL;
    if (f != NULL) {
        const int why = errno;
        fclose(f);
        errno = why;
    }
    return text;
}

const char *ct_textfile_why(int error)
{
    return error == EILSEQ  ? "it is no text"
           : error == ENXIO ? "it is no regular file"
           : error == EFBIG ? "it is too long"
                            : strerror(error);
}
