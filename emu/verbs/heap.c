/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens later: a binary heap, by time and then by order of insertion, so that events of one
 * time come in an order that is the same each time. The NIC's lock guards it. */
#include "emu.h"

#include <stdio.h>
#include <stdlib.h>

static struct emu_later *heap;
static size_t            count, room;
static uint64_t          inserted;

static bool before(const struct emu_later *a, const struct emu_later *b)
{
    return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->order < b->order;
}

static void swap(size_t a, size_t b)
{
    const struct emu_later kept = heap[a];
    heap[a] = heap[b];
    heap[b] = kept;
}

void emu_later(uint64_t at_ps, enum emu_event_kind kind, uint32_t number, uint64_t serial,
               struct emu_packet *packet)
{
    if (count == room) {
        room = room == 0 ? 256 : 2 * room;
        heap = realloc(heap, room * sizeof *heap);
        if (heap == NULL) {
            fprintf(stderr, "emulated verbs: no memory for %zu events\n", room);
            abort();
        }
    }
    size_t at = count++;
    heap[at] = (struct emu_later){at_ps, inserted++, kind, number, serial, packet};
    while (at > 0 && before(&heap[at], &heap[(at - 1) / 2])) {
        swap(at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

bool emu_heap_pop(uint64_t until_ps, struct emu_later *event)
{
    if (count == 0 || heap[0].at_ps > until_ps) {
        return false;
    }
    *event = heap[0];
    heap[0] = heap[--count];
    for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!before(&heap[child], &heap[at])) {
            break;
        }
        swap(at, child);
    }
    return true;
}

uint64_t emu_heap_next(void)
{
    return count == 0 ? UINT64_MAX : heap[0].at_ps;
}

void emu_heap_clear(void)
{
    struct emu_later event;
    while (emu_heap_pop(UINT64_MAX, &event)) {
        if (event.packet != NULL) {
            emu_packet_put(event.packet);
        }
    }
    free(heap);
    heap = NULL;
    room = 0;
}
