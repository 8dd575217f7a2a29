/* SPDX-License-Identifier: BSD-3-Clause */
/* Dumps: their form, and what is made of them; see image.h. */
#include "trace/image.h"

#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "trace/ticks.h"

static const uint32_t entry_bytes[CT_TRACE_TABLES] = {sizeof(struct ct_trace_comm),
                                                      sizeof(struct ct_trace_call), CT_TRACE_NAME,
                                                      sizeof(struct ct_trace_wait)};
static const uint32_t most[CT_TRACE_TABLES] = {CT_TRACE_MAX_COMMS, CT_TRACE_MAX_CALLS,
                                               CT_TRACE_MAX_NAMES, CT_TRACE_MAX_WAITS};

/* ---- making dumps ---------------------------------------------------------------------------- */

const void *ct_trace_pack_table(const struct ct_trace_segment *seg, unsigned i)
{
    const void *const tables[CT_TRACE_TABLES] = {seg->comms, seg->calls, seg->names, seg->waits};
    return tables[i];
}

/* How many entries from the first one on hold all that were used. */
static uint32_t used_of(const struct ct_trace_segment *seg, unsigned table)
{
    uint32_t n = most[table];
    for (; n > 0; n--) {
        const uint32_t i = n - 1;
        const bool     used = table == CT_TRACE_COMMS   ? seg->comms[i].state != 0
                              : table == CT_TRACE_CALLS ? seg->calls[i].state != 0
                              : table == CT_TRACE_NAMES ? seg->names[i][0] != '\0'
                                                        : seg->waits[i].state != 0;
        if (used) {
            break;
        }
    }
    return n;
}

void ct_trace_pack_header(const struct ct_trace_segment *seg, struct ct_trace_header *out)
{
    uint32_t at = sizeof *out;
    memcpy(out, &seg->header, sizeof *out);
    for (unsigned i = 0; i < CT_TRACE_TABLES; i++) {
        const uint32_t n = used_of(seg, i);
        out->table[i] = (struct ct_trace_section){at, n, entry_bytes[i], 0};
        at += n * entry_bytes[i]; /* each is a multiple of 8 */
    }
    out->header_bytes = sizeof *out;
    out->total_bytes = at;
}

size_t ct_trace_pack(struct ct_trace_segment *seg, size_t len, void *out)
{
    struct ct_trace_header *h = out;
    if (len < sizeof *seg || memcmp(seg->header.magic, CT_TRACE_MAGIC, 8) != 0 ||
        seg->header.version != CT_TRACE_VERSION) {
        return 0;
    }
    ct_trace_pack_header(seg, h);
    for (unsigned i = 0; i < CT_TRACE_TABLES; i++) {
        memcpy((char *)out + h->table[i].offset, ct_trace_pack_table(seg, i),
               (size_t)h->table[i].count * entry_bytes[i]);
    }
    return h->total_bytes;
}

struct ct_trace_moment ct_trace_pack_moment(void)
{
    return ct_trace_now(ct_trace_has_counter());
}

void ct_trace_pack_blank(struct ct_trace_header *out, uint32_t rank, uint32_t size)
{
    memset(out, 0, sizeof *out);
    memcpy(out->magic, CT_TRACE_MAGIC, 8);
    out->version = CT_TRACE_VERSION;
    out->byte_order = CT_TRACE_BYTE_ORDER;
    out->header_bytes = sizeof *out;
    out->total_bytes = sizeof *out;
    out->rank = rank;
    out->size = size;
    for (unsigned i = 0; i < CT_TRACE_TABLES; i++) {
        out->table[i] = (struct ct_trace_section){sizeof *out, 0, entry_bytes[i], 0};
    }
}

/* ---- the header ------------------------------------------------------------------------------ */

static bool is_printable(char c)
{
    return c > ' ' && c <= '~';
}

/* A text that ends, without blanks and control characters. */
static void clean(char *text, size_t cap)
{
    text[cap - 1] = '\0';
    for (; *text != '\0'; text++) {
        *text = is_printable(*text) || *text == ' ' ? *text : '?';
    }
}

static const char *header_fault(const struct ct_trace_header *h, size_t len)
{
    if (memcmp(h->magic, CT_TRACE_MAGIC, sizeof h->magic) != 0) {
        return "it is no trace of ctran";
    }
    if (h->byte_order != CT_TRACE_BYTE_ORDER) {
        return "it was written on a machine of the other byte order";
    }
    if (h->version != CT_TRACE_VERSION) {
        return "it has a version that this program does not know";
    }
    if (h->total_bytes > len || h->total_bytes % 8 != 0 || h->header_bytes != sizeof *h ||
        h->total_bytes < sizeof *h) {
        return "it is cut short, or its lengths make no sense";
    }
    if (h->size == 0 || h->size > CT_TRACE_RANKS || h->rank >= h->size) {
        return "its rank makes no sense";
    }
    for (unsigned i = 0; i < CT_TRACE_TABLES; i++) {
        const struct ct_trace_section *s = &h->table[i];
        if (s->entry_bytes != entry_bytes[i] || s->count > most[i] || s->offset < sizeof *h ||
            s->offset % 8 != 0 ||
            s->offset + (uint64_t)s->count * s->entry_bytes > h->total_bytes) {
            return "a table lies outside of it";
        }
    }
    return NULL;
}

size_t ct_trace_image_read(struct ct_trace_image *image, const void *bytes, size_t len, char *why,
                           size_t cap)
{
    struct ct_trace_header *h = &image->h;
    if (len < sizeof *h) {
        snprintf(why, cap, "it has %zu bytes, a trace at least %zu", len, sizeof *h);
        return 0;
    }
    memcpy(h, bytes, sizeof *h);
    const char *fault = header_fault(h, len);
    if (fault != NULL) {
        snprintf(why, cap, "%s", fault);
        return 0;
    }
    clean(h->host, sizeof h->host);
    clean(h->job, sizeof h->job);
    clean(h->why, sizeof h->why);
    image->at = bytes;
    image->ns_a_tick = 1.0;
    if (h->taken.ticks > h->opened.ticks && h->taken.mono_ns > h->opened.mono_ns) {
        image->ns_a_tick = (double)(h->taken.mono_ns - h->opened.mono_ns) /
                           (double)(h->taken.ticks - h->opened.ticks);
    }
    return h->total_bytes;
}

/* ---- entries --------------------------------------------------------------------------------- */

static const char *entry(const struct ct_trace_image *image, unsigned table, uint32_t i)
{
    const struct ct_trace_section *s = &image->h.table[table];
    return image->at + s->offset + (size_t)i * s->entry_bytes;
}

/* Whether the runs have exactly n members, each of them a rank of a job of `size`. */
static bool runs_fit(const struct ct_trace_comm *c, uint32_t size)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->nruns; i++) {
        const struct ct_trace_run *r = &c->run[i];
        const int64_t              last = (int64_t)r->first + ((int64_t)r->count - 1) * r->stride;
        if (r->count == 0 || r->count > c->n || r->first >= size || last < 0 || last >= size) {
            return false;
        }
        n += r->count;
    }
    return n == c->n;
}

bool ct_trace_image_comm(const struct ct_trace_image *image, uint32_t i, struct ct_trace_comm *out)
{
    memcpy(out, entry(image, CT_TRACE_COMMS, i), sizeof *out);
    if ((out->state != CT_TRACE_COMM_OPEN && out->state != CT_TRACE_COMM_FREED) || out->n == 0 ||
        out->n > CT_TRACE_RANKS || out->me >= out->n) {
        return false;
    }
    if (out->nruns > CT_TRACE_RUNS || !runs_fit(out, image->h.size)) {
        out->nruns = 0;
    }
    return true;
}

static uint16_t name_or_none(const struct ct_trace_image *image, uint16_t index)
{
    return index < image->h.table[CT_TRACE_NAMES].count ? index : CT_TRACE_NO_NAME;
}

bool ct_trace_image_call(const struct ct_trace_image *image, uint32_t i, struct ct_trace_call *out)
{
    memcpy(out, entry(image, CT_TRACE_CALLS, i), sizeof *out);
    out->name = name_or_none(image, out->name);
    out->type = name_or_none(image, out->type);
    out->op = name_or_none(image, out->op);
    out->algorithm = name_or_none(image, out->algorithm);
    return out->state == CT_TRACE_CALL_STARTED || out->state == CT_TRACE_CALL_OVER;
}

bool ct_trace_image_wait(const struct ct_trace_image *image, uint32_t i, struct ct_trace_wait *out)
{
    memcpy(out, entry(image, CT_TRACE_WAITS, i), sizeof *out);
    out->name = name_or_none(image, out->name);
    if (out->state != 1 || out->nitems > CT_TRACE_ITEMS || out->nitems > out->npending) {
        return false;
    }
    for (uint32_t k = 0; k < out->nitems; k++) {
        if (out->item[k].peer >= (int64_t)image->h.size || out->item[k].peer < -2) {
            out->item[k].peer = -1;
        }
    }
    return true;
}

const char *ct_trace_image_name(const struct ct_trace_image *image, uint32_t index)
{
    if (index >= image->h.table[CT_TRACE_NAMES].count) {
        return "?";
    }
    const char  *text = entry(image, CT_TRACE_NAMES, index);
    const size_t len = strnlen(text, CT_TRACE_NAME);
    for (size_t i = 0; i < len; i++) {
        if (!is_printable(text[i]) || strchr("<>&\"'\\", text[i]) != NULL) {
            return "?";
        }
    }
    return len > 0 && len < CT_TRACE_NAME ? text : "?";
}

uint32_t ct_trace_comm_member(const struct ct_trace_comm *c, uint32_t rank)
{
    for (uint32_t i = 0; i < c->nruns; i++) {
        if (rank < c->run[i].count) {
            return c->run[i].first + rank * (uint32_t)c->run[i].stride;
        }
        rank -= c->run[i].count;
    }
    return UINT32_MAX;
}

uint64_t ct_trace_image_ns(const struct ct_trace_image *image, uint64_t ticks)
{
    const struct ct_trace_moment *from = &image->h.opened;
    const double ns = ticks > from->ticks ? (double)(ticks - from->ticks) * image->ns_a_tick : 0.0;
    return from->mono_ns + (ns < 9e18 ? (uint64_t)ns : 0);
}
