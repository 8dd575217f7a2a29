/* SPDX-License-Identifier: BSD-3-Clause */
/* What graphs and their instances own: user objects, whose function is called when nobody holds
 * them any more, and in the same way the memory that a graph allocates. */
#include "emu.h"

#include <stdlib.h>

struct emu_owned {
    CUuserObject      object;
    unsigned          count;
    struct emu_owned *next;
};

CUuserObject emu_object_new(void *ptr, CUhostFn destroy, unsigned refs)
{
    CUuserObject object = calloc(1, sizeof *object);
    if (object != NULL) {
        atomic_init(&object->refs, refs);
        object->ptr = ptr;
        object->destroy = destroy;
    }
    return object;
}

void emu_object_drop(CUuserObject object, unsigned count)
{
    if (atomic_fetch_sub(&object->refs, count) == count) {
        object->destroy(object->ptr);
        free(object);
    }
}

CUresult emu_owned_add(struct emu_owned **list, CUuserObject object, unsigned count)
{
    struct emu_owned *owned = malloc(sizeof *owned);
    if (owned == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *owned = (struct emu_owned){.object = object, .count = count, .next = *list};
    *list = owned;
    return CUDA_SUCCESS;
}

CUresult emu_owned_copy(struct emu_owned **to, const struct emu_owned *from)
{
    for (; from != NULL; from = from->next) {
        if (emu_owned_add(to, from->object, from->count) != CUDA_SUCCESS) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        atomic_fetch_add(&from->object->refs, from->count);
    }
    return CUDA_SUCCESS;
}

void emu_owned_drop(struct emu_owned *list)
{
    while (list != NULL) {
        struct emu_owned *owned = list;
        list = owned->next;
        emu_object_drop(owned->object, owned->count);
        free(owned);
    }
}

CUresult cuUserObjectCreate(CUuserObject *object, void *ptr, CUhostFn destroy, unsigned refs,
                            unsigned flags)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (object == NULL || destroy == NULL || refs == 0 ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *object = emu_object_new(ptr, destroy, refs);
    return *object != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (object == NULL || count == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_object_drop(object, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags)
{
    CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (graph == NULL || graph->magic != EMU_GRAPH || object == NULL || count == 0 ||
        flags > CU_GRAPH_USER_OBJECT_MOVE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_lock();
    result = emu_owned_add(&graph->owned, object, count);
    if (result == CUDA_SUCCESS && flags == 0) {
        atomic_fetch_add(&object->refs, count);
    }
    emu_unlock();
    return result;
}
