/* SPDX-License-Identifier: BSD-3-Clause */
/* How often each entry point has been called: for tests of what a call of the library costs. */
#include "emu.h"

enum { ROWS = 512 }; /* more than there are entry points */

static struct row {
    _Atomic(const char *) call; /* __func__ of the entry point, or of one that it calls */
    atomic_ulong          n;
} rows[ROWS];

void emu_calls_add(const char *call)
{
    for (size_t i = (uintptr_t)call / 8 % ROWS;; i = (i + 1) % ROWS) {
        const char *found = atomic_load_explicit(&rows[i].call, memory_order_relaxed);
        if (found == NULL && atomic_compare_exchange_strong(&rows[i].call, &found, call)) {
            found = call;
        }
        if (found == call) {
            atomic_fetch_add_explicit(&rows[i].n, 1, memory_order_relaxed);
            return;
        }
    }
}

unsigned long emu_calls(const char *name)
{
    unsigned long n = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const char *call = atomic_load_explicit(&rows[i].call, memory_order_relaxed);
        if (call != NULL && (name == NULL || emu_is_named(call, name))) {
            n += atomic_load_explicit(&rows[i].n, memory_order_relaxed);
        }
    }
    return n;
}
