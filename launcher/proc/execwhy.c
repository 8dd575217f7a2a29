/* SPDX-License-Identifier: BSD-3-Clause */
/* Reasons of a failed execve; see execwhy.h. Used by procs.c. */
#include "config.h"
#include "launcher/proc/execwhy.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

enum { HEAD_MAX = 4096 };

/* The beginning of a file. */
struct head {
    uint8_t bytes[HEAD_MAX + 1]; /* with a NUL after them */
    size_t  len;
};

static bool read_head(struct head *h, const char *path)
{
    int     fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, h->bytes, HEAD_MAX) : -1;
    if (fd >= 0) {
        close(fd);
    }
    h->len = n > 0 ? (size_t)n : 0;
    h->bytes[h->len] = '\0';
    return n >= 0;
}

/* ---- ELF ------------------------------------------------------------------------------------- */

static bool is_elf(const struct head *h)
{
    return h->len >= sizeof(Elf32_Ehdr) && memcmp(h->bytes, ELFMAG, SELFMAG) == 0;
}

/* Names the machine that an ELF file is made for. */
struct kind {
    uint16_t machine;
    uint8_t  width, order; /* ELFCLASS..., ELFDATA... */
};

/* Type and machine lie at one place in files of both widths, in the file's own order of bytes. */
static uint16_t elf_u16(const struct head *h, size_t at)
{
    bool big = h->bytes[EI_DATA] == ELFDATA2MSB;
    return (uint16_t)(h->bytes[at + (big ? 0 : 1)] << 8 | h->bytes[at + (big ? 1 : 0)]);
}

static struct kind kind_of(const struct head *h)
{
    return (struct kind){.machine = elf_u16(h, offsetof(Elf64_Ehdr, e_machine)),
                         .width = h->bytes[EI_CLASS],
                         .order = h->bytes[EI_DATA]};
}

static void name_kind(struct kind k, char *out, size_t cap)
{
    static const struct {
        uint16_t    machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86-64"}, {EM_386, "i386"},    {EM_AARCH64, "AArch64"},
                 {EM_ARM, "ARM"},       {EM_PPC64, "POWER"}, {EM_PPC, "PowerPC"},
                 {EM_RISCV, "RISC-V"},  {EM_S390, "s390"},   {EM_SPARCV9, "SPARC"},
                 {EM_IA_64, "IA-64"},   {EM_MIPS, "MIPS"},   {EM_LOONGARCH, "LoongArch"}};
    const char *bits = k.width == ELFCLASS32 ? "32" : "64";
    const char *order = k.order == ELFDATA2MSB ? "big" : "little";
    for (size_t i = 0; i < CT_ARRAY_LEN(names); i++) {
        if (names[i].machine == k.machine) {
            snprintf(out, cap, "%s (%s bits, %s-endian)", names[i].name, bits, order);
            return;
        }
    }
    snprintf(out, cap, "ELF machine %u (%s bits, %s-endian)", k.machine, bits, order);
}

/* Reads the loader that a 64-bit file in this machine's order of bytes names; "": none can be
 * read. */
static void find_loader(const struct head *h, char *out, size_t cap)
{
    Elf64_Ehdr e;
    out[0] = '\0';
    if (h->len < sizeof e || h->bytes[EI_CLASS] != ELFCLASS64 ||
        h->bytes[EI_DATA] != (BYTE_ORDER == BIG_ENDIAN ? ELFDATA2MSB : ELFDATA2LSB)) {
        return;
    }
    memcpy(&e, h->bytes, sizeof e);
    for (size_t i = 0; i < e.e_phnum; i++) {
        Elf64_Phdr p;
        if (e.e_phoff > h->len || h->len - e.e_phoff < (i + 1) * sizeof p) {
            return;
        }
        memcpy(&p, h->bytes + e.e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_INTERP && p.p_offset < h->len && p.p_filesz <= h->len - p.p_offset) {
            snprintf(out, cap, "%.*s", (int)p.p_filesz, (const char *)h->bytes + p.p_offset);
            return;
        }
    }
}

static bool explain_elf(const struct head *h, int err, char *out, size_t cap)
{
    struct head own;
    char        theirs[96], ours[96], loader[1024];
    uint16_t    type = elf_u16(h, offsetof(Elf64_Ehdr, e_type));
    struct kind k = kind_of(h);
    if (err == ENOENT) {
        find_loader(h, loader, sizeof loader);
        snprintf(
            out, cap,
            "its loader %s is not on this machine; install the loader, or build the program here",
            loader[0] != '\0' ? loader : "(ld.so)");
        return true;
    }
    if (!read_head(&own, "/proc/self/exe") || !is_elf(&own)) {
        return false;
    }
    struct kind o = kind_of(&own);
    if (k.machine != o.machine || k.width != o.width || k.order != o.order) {
        name_kind(k, theirs, sizeof theirs);
        name_kind(o, ours, sizeof ours);
        snprintf(
            out, cap,
            "the file is made for %s, and this machine is %s; build the program for this machine",
            theirs, ours);
        return true;
    }
    if (type != ET_EXEC && type != ET_DYN) {
        snprintf(out, cap,
                 "the file is an object file or a core, and no program; link the program");
        return true;
    }
    return false;
}

/* ---- scripts --------------------------------------------------------------------------------- */

/* The interpreter of the first line, as the kernel takes it: up to a blank. */
static void find_interpreter(const struct head *h, char *out, size_t cap)
{
    const char *at = (const char *)h->bytes + 2;
    at += strspn(at, " \t");
    snprintf(out, cap, "%.*s", (int)strcspn(at, " \t\n"), at);
}

static bool explain_script(const struct head *h, const char *path, int err, char *out, size_t cap)
{
    char   interpreter[1024];
    size_t line = strcspn((const char *)h->bytes, "\n");
    find_interpreter(h, interpreter, sizeof interpreter);
    size_t len = strlen(interpreter);
    if (err == ENOENT && line > 0 && h->bytes[line - 1] == '\r') {
        snprintf(out, cap,
                 "its lines end in CR LF, so that its interpreter \"%.*s\" is not found; "
                 "remove the CRs: sed -i 's/\\r$//' %s",
                 (int)(len > 0 && interpreter[len - 1] == '\r' ? len - 1 : len), interpreter, path);
    } else if (err == ENOENT) {
        snprintf(out, cap,
                 "its interpreter %s, which its first line names, is not on this machine; install "
                 "the interpreter, or change the line",
                 interpreter);
    } else if (err == EACCES) {
        snprintf(out, cap, "its interpreter %s may not be executed", interpreter);
    } else {
        snprintf(out, cap, "its interpreter %s is no program of this machine", interpreter);
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool execwhy_explain(const struct head *h, const char *path, int err, char *out, size_t cap)
{
    if (is_elf(h)) {
        return explain_elf(h, err, out, cap);
    }
    if (h->len >= 2 && memcmp(h->bytes, "#!", 2) == 0) {
        return explain_script(h, path, err, out, cap);
    }
    if (err == ENOEXEC && h->len == 0) {
        snprintf(out, cap, "it is empty");
    } else if (err == ENOEXEC) {
        snprintf(
            out, cap,
            "the file is neither a program of this machine nor a script that begins with #!; a "
            "script for the shell begins with #!/bin/sh");
    }
    return err == ENOEXEC;
}

void ct_execwhy(const char *path, int err, char *out, size_t cap)
{
    struct head h;
    bool        known = (err == ENOENT || err == ENOEXEC || err == EACCES) && read_head(&h, path) &&
                 execwhy_explain(&h, path, err, out, cap);
    if (!known) {
        snprintf(out, cap, "%s", strerror(err));
    }
}
