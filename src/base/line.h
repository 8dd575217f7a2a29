/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cache lines that two cores write and read in turns. The cost is the transfer of the line between
 * the cores, which should happen once for each message. A reader that polls too often takes the
 * line from the writer before the writer has written; a writer that requests the line only when it
 * writes waits for the reader's core first.
 */
#ifndef CT_BASE_LINE_H
#define CT_BASE_LINE_H

/* Between two looks at a word that another core is about to write. */
static inline void ct_line_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The line will be written soon. */
static inline void ct_line_own(const void *line)
{
#if defined(__x86_64__) /* without -march gcc has a prefetch for reading only */
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

#endif
