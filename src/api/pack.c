/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing into memory and out of it, as the machine has it and as external32 says. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/dense.h"

/* Between count elements and their packed form. */
static int transfer(struct ct_comm *comm, const char *call, const struct ct_span *span,
                    const void *packed, bool out)
{
    const struct ct_area elements = ct_span_area(comm->p, span);
    struct ct_area       flat = {.base = (void *)packed, .len_bytes = span->bytes};
    ct_area_set_memory(&flat, ct_memory_of(comm->p, packed));
    const bool ok = out ? ct_area_transfer(&flat, &elements) : ct_area_transfer(&elements, &flat);
    return ok ? CTRAN_SUCCESS : ct_api_unreachable(comm, call);
}

/* The packed side: `need` bytes from *position on in `size`. */
static int check_packed(struct ct_comm *comm, const char *call, const void *buf, ctran_count_t size,
                        const ctran_count_t *position, size_t need)
{
    if (position == NULL || size < 0 || *position < 0 || *position > size ||
        (size_t)(size - *position) < need) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call,
                            "%zu bytes from position %" PRId64 " on do not fit into %" PRId64, need,
                            position != NULL ? *position : -1, size);
    }
    if (need > 0 && buf == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_BUFFER, call, "the packed buffer is NULL");
    }
    return CTRAN_SUCCESS;
}

/* Packs elements into `packed` from *position on, or unpacks them, and moves *position on. */
static int pack_native(const char *call, const void *elements, ctran_count_t count,
                       ctran_datatype_t datatype, const void *packed, ctran_count_t size,
                       ctran_count_t *position, ctran_comm_t comm, bool packs)
{
    struct ct_comm *c;
    struct ct_span  span;
    int             rc = ct_check_comm(call, comm, &c);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_span(c, call, elements, count, datatype, &span);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_packed(c, call, packed, size, position, span.bytes);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = transfer(c, call, &span, (const char *)packed + *position, packs);
    }
    if (rc == CTRAN_SUCCESS) {
        *position += (ctran_count_t)span.bytes;
    }
    return rc;
}

int ctran_pack(const void *inbuf, ctran_count_t incount, ctran_datatype_t datatype, void *outbuf,
               ctran_count_t outsize, ctran_count_t *position, ctran_comm_t comm)
{
    return pack_native("ctran_pack", inbuf, incount, datatype, outbuf, outsize, position, comm,
                       true);
}

int ctran_unpack(const void *inbuf, ctran_count_t insize, ctran_count_t *position, void *outbuf,
                 ctran_count_t outcount, ctran_datatype_t datatype, ctran_comm_t comm)
{
    return pack_native("ctran_unpack", outbuf, outcount, datatype, inbuf, insize, position, comm,
                       false);
}

int ctran_pack_size(ctran_count_t incount, ctran_datatype_t datatype, ctran_comm_t comm,
                    ctran_count_t *size)
{
    static const char call[] = "ctran_pack_size";
    struct ct_comm   *c;
    struct ct_span    span;
    int               rc = ct_check_comm(call, comm, &c);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_count(c, call, incount, datatype, &span);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(c, call, size, "size");
    }
    if (rc == CTRAN_SUCCESS) {
        *size = (ctran_count_t)span.bytes;
    }
    return rc;
}

/* ---- external32 ------------------------------------------------------------------------------ */

/* Elements, and their packed form: plain memory that stands for the program's. */
struct external {
    struct ct_dense elements, packed;
};

static int open_external(struct ct_comm *self, const char *call, const struct ct_span *span,
                         const void *packed, size_t bytes, bool packs, struct external *e)
{
    const struct ct_dtype *byte = ct_dtype_get(CTRAN_BYTE);
    int                    rc = ct_dense_open_copy(self, call, span, packs, &e->elements);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_dense_open(self, call, packed, bytes, byte, !packs, &e->packed);
        if (rc != CTRAN_SUCCESS) {
            (void)ct_dense_close(&e->elements, false);
        }
    }
    return rc == CTRAN_SUCCESS ? rc : ct_api_pass(self, rc, call);
}

static int close_external(struct ct_comm *self, const char *call, bool packs, struct external *e)
{
    int packed = ct_dense_close(&e->packed, packs), elements = ct_dense_close(&e->elements, !packs);
    return ct_api_pass(self, packed != CTRAN_SUCCESS ? packed : elements, call);
}

/* datarep, and the bytes that count elements take. */
static int check_external(struct ct_comm *self, const char *call, const char *datarep,
                          const struct ct_span *span, size_t *bytes)
{
    if (datarep == NULL || strcmp(datarep, "external32") != 0) {
        return ct_api_raise(self, CTRAN_ERR_UNSUPPORTED_DATAREP, call,
                            "datarep is \"%s\", must be \"external32\"",
                            datarep != NULL ? datarep : "NULL");
    }
    if (__builtin_mul_overflow(span->count, ct_dtype_external_size(span->type), bytes) ||
        *bytes > PTRDIFF_MAX) {
        return ct_api_raise(self, CTRAN_ERR_COUNT, call,
                            "%zu elements are more than memory can hold", span->count);
    }
    return CTRAN_SUCCESS;
}

/* Like pack_native, in the representation datarep. */
static int pack_external(const char *call, const char *datarep, const void *elements,
                         ctran_count_t count, ctran_datatype_t datatype, const void *packed,
                         ctran_count_t size, ctran_count_t *position, bool packs)
{
    struct ct_comm *self;
    struct ct_span  span;
    size_t          bytes;
    struct external e;
    int             rc = ct_check_self(call, &self);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_span(self, call, elements, count, datatype, &span);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_external(self, call, datarep, &span, &bytes);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_packed(self, call, packed, size, position, bytes);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = open_external(self, call, &span, (const char *)packed + *position, bytes, packs, &e);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (packs) {
        ct_dtype_pack_external(span.type, e.elements.base, span.count, e.packed.base);
    } else {
        ct_dtype_unpack_external(span.type, e.elements.base, span.count, e.packed.base);
    }
    *position += (ctran_count_t)bytes;
    return close_external(self, call, packs, &e);
}

int ctran_pack_external(const char datarep[], const void *inbuf, ctran_count_t incount,
                        ctran_datatype_t datatype, void *outbuf, ctran_count_t outsize,
                        ctran_count_t *position)
{
    return pack_external("ctran_pack_external", datarep, inbuf, incount, datatype, outbuf, outsize,
                         position, true);
}

int ctran_unpack_external(const char datarep[], const void *inbuf, ctran_count_t insize,
                          ctran_count_t *position, void *outbuf, ctran_count_t outcount,
                          ctran_datatype_t datatype)
{
    return pack_external("ctran_unpack_external", datarep, outbuf, outcount, datatype, inbuf,
                         insize, position, false);
}

int ctran_pack_external_size(const char datarep[], ctran_count_t incount, ctran_datatype_t datatype,
                             ctran_count_t *size)
{
    static const char call[] = "ctran_pack_external_size";
    struct ct_comm   *self;
    struct ct_span    span;
    size_t            bytes;
    int               rc = ct_check_self(call, &self);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_count(self, call, incount, datatype, &span);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_external(self, call, datarep, &span, &bytes);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(self, call, size, "size");
    }
    if (rc == CTRAN_SUCCESS) {
        *size = (ctran_count_t)bytes;
    }
    return rc;
}
