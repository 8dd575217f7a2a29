/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of waiting ranks; see blockfile.h. */
#include "config.h"
#include "launcher/status/blockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int ct_blockfile_create(const char *session, uint32_t n, char *path, size_t cap)
{
    int len = snprintf(path, cap, "%s/blocked", session);
    if (len < 0 || (size_t)len >= cap) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && ftruncate(fd, (off_t)n * (off_t)sizeof(struct ct_blocked_slot)) != 0) {
        int err = errno;
        close(fd);
        errno = err;
        return -1;
    }
    return fd;
}

/* Names of calls have no other letters, so that nothing else reaches a terminal. */
static bool blockfile_is_name(const char *text)
{
    size_t len = strnlen(text, CT_BLOCKED_NAME);
    return len < CT_BLOCKED_NAME && strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789") == len;
}

static bool read_slot(int fd, uint32_t at, struct ct_blocked_slot *out)
{
    return pread(fd, out, sizeof *out, (off_t)at * (off_t)sizeof *out) == (ssize_t)sizeof *out;
}

/* Reads the slot as it was at one moment. A slot that is being written is complete at the next
 * look. */
static bool read_whole(int fd, uint32_t at, struct ct_blocked_slot *out)
{
    enum { TRIES = 100 };
    struct ct_blocked_slot again;
    for (int i = 0; i < TRIES; i++) {
        if (!read_slot(fd, at, out) || !read_slot(fd, at, &again)) {
            return false;
        }
        if (out->seq % 2 == 0 && memcmp(out, &again, sizeof again) == 0) {
            return true;
        }
    }
    return false;
}

void ct_blockfile_read(int fd, uint32_t local_rank, uint64_t now_ns, struct ct_blocked_call *out)
{
    struct ct_blocked_slot s;
    *out = (struct ct_blocked_call){.call = ""};
    if (fd < 0 || !read_whole(fd, local_rank, &s) || s.owner == 0 || !blockfile_is_name(s.call)) {
        return;
    }
    memcpy(out->call, s.call, sizeof out->call);
    out->comm = s.comm;
    out->peer = s.peer;
    out->tag = s.tag;
    out->since_ms = now_ns > s.since_ns ? (now_ns - s.since_ns) / CT_NS_PER_MS : 0;
}

void ct_blocked_call_pack(struct evbuffer *out, const struct ct_blocked_call *c)
{
    ct_pack_text(out, c->call);
    ct_pack_u64(out, c->comm);
    ct_pack_u64(out, c->since_ms);
    ct_pack_u32(out, (uint32_t)c->peer);
    ct_pack_u32(out, (uint32_t)c->tag);
}

void ct_blocked_call_unpack(struct ct_unpack *in, struct ct_blocked_call *c)
{
    const char *call = ct_unpack_text(in);
    *c = (struct ct_blocked_call){.comm = ct_unpack_u64(in), .since_ms = ct_unpack_u64(in)};
    c->peer = (int32_t)ct_unpack_u32(in);
    c->tag = (int32_t)ct_unpack_u32(in);
    in->bad |= !blockfile_is_name(call);
    if (!in->bad) {
        snprintf(c->call, sizeof c->call, "%s", call);
    }
}
