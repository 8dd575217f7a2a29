/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the program asks the library for. */
#define CT_FOLDER "api"
#include <stdlib.h>

#include "api/api.h"
#include "mem/mem.h"
#include "node/node.h"

enum { ALIGNMENT = CT_CACHE_LINE, MOST_ALIGNMENT = 1 << 30 };

/* The hint mpi_minimum_memory_alignment, a power of two in bytes; others are ignored. */
size_t ct_api_alignment_of(struct ct_process *p, const struct ct_info *info)
{
    char text[16], *end;
    if (info == NULL ||
        ct_info_get(&p->infos, info, "mpi_minimum_memory_alignment", text, sizeof text) < 0) {
        return ALIGNMENT;
    }
    const unsigned long wanted = strtoul(text, &end, 10);
    const bool          fits = *end == '\0' && wanted <= MOST_ALIGNMENT;
    return fits && (wanted & (wanted - 1)) == 0 ? ct_max_size(wanted, ALIGNMENT) : ALIGNMENT;
}

int ctran_alloc_mem(ctran_aint_t size, ctran_info_t info_handle, void *baseptr)
{
    static const char  call[] = "ctran_alloc_mem";
    struct ct_process *p = ct_api_enter(call);
    struct ct_info    *info;
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    struct ct_comm *self = ct_comm_self(p);
    if (size < 0 || baseptr == NULL) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call, "%s",
                            baseptr == NULL ? "baseptr is NULL" : "size is negative");
    }
    int rc = ct_check_info(self, call, info_handle, &info);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const size_t align = ct_api_alignment_of(p, info);
    void        *base = ct_expose_alloc(p, (size_t)size, align);
    /* No object is longer than PTRDIFF_MAX, with the byte that makes one of size 0. */
    if (base == NULL &&
        (size == PTRDIFF_MAX || posix_memalign(&base, align, (size_t)size + 1) != 0)) {
        return ct_api_raise(self, CTRAN_ERR_NO_MEM, call, "for %td bytes", size);
    }
    memcpy(baseptr, &base, sizeof base);
    return CTRAN_SUCCESS;
}

int ctran_free_mem(void *base)
{
    static const char  call[] = "ctran_free_mem";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if ((uintptr_t)base % ALIGNMENT != 0) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_BASE, call,
                            "%p is not what ctran_alloc_mem gave", base);
    }
    if (base != NULL && !ct_expose_free(p, base)) {
        free(base);
    }
    return CTRAN_SUCCESS;
}

/* ---- of GPUs --------------------------------------------------------------------------------- */

int ctran_mem_alloc(ctran_aint_t size, ctran_info_t info_handle, void *baseptr)
{
    static const char  call[] = "ctran_mem_alloc";
    struct ct_process *p = ct_api_enter(call);
    struct ct_info    *info;
    void              *base = NULL;
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    struct ct_comm *self = ct_comm_self(p);
    if (size < 0 || baseptr == NULL) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call, "%s",
                            baseptr == NULL ? "baseptr is NULL" : "size is negative");
    }
    int rc = ct_check_info(self, call, info_handle, &info);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_mem_alloc(p, (size_t)size, &base);
    if (rc != CTRAN_SUCCESS) {
        return ct_api_raise(self, rc, call, "for %td bytes of GPU memory", size);
    }
    memcpy(baseptr, &base, sizeof base);
    return CTRAN_SUCCESS;
}

int ctran_mem_free(void *base)
{
    static const char  call[] = "ctran_mem_free";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    const int rc = base != NULL ? ct_mem_free(p, base) : CTRAN_SUCCESS;
    return rc == CTRAN_SUCCESS
               ? rc
               : ct_api_raise(ct_comm_self(p), rc, call,
                              "%p is not what ctran_mem_alloc gave, or was freed", base);
}

int ctran_mem_register(void *base, ctran_aint_t size)
{
    static const char  call[] = "ctran_mem_register";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    struct ct_comm *self = ct_comm_self(p);
    if (base == NULL || size <= 0) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call, "%s",
                            base == NULL ? "base is NULL" : "size is not above 0");
    }
    const int rc = ct_mem_register(p, base, (size_t)size);
    return rc == CTRAN_SUCCESS ? rc
                               : ct_api_raise(self, rc, call, "for %td bytes at %p", size, base);
}

int ctran_mem_deregister(void *base)
{
    static const char  call[] = "ctran_mem_deregister";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    const int rc = ct_mem_deregister(p, base);
    return rc == CTRAN_SUCCESS ? rc
                               : ct_api_raise(ct_comm_self(p), rc, call,
                                              "%p is not the base of registered memory", base);
}
