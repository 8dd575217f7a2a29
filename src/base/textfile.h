/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of text that users write: read whole, of bounded size, and only what is a regular file. */
#ifndef CT_BASE_TEXTFILE_H
#define CT_BASE_TEXTFILE_H

#include <stddef.h>

/* The file at `path` as a text of at most `most_bytes`, which the caller frees. NULL: it cannot be
 * read, for the reason that errno and ct_textfile_why(errno) give; ENOMEM is one. Does not wait for
 * a writer, as a FIFO would have it. */
char *ct_textfile_read(const char *path, size_t most_bytes);
/* What errno says after a NULL: EFBIG, a longer file; EILSEQ, no text; ENXIO, no regular file. */
const char *ct_textfile_why(int error);

#endif
