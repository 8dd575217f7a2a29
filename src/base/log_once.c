/* SPDX-License-Identifier: BSD-3-Clause */
/* What one process says for several; see log_once.h. */
#include "base/log_once.h"

#include <string.h>

#include "base/clock.h"
#include "base/util.h"

enum { FREE, TAKEN, LOGGED };

static bool take(struct ct_log_once *s)
{
    uint32_t free = FREE;
    return atomic_compare_exchange_strong_explicit(&s->state, &free, TAKEN, memory_order_seq_cst,
                                                   memory_order_seq_cst);
}

static bool is_logged(const struct ct_log_once *s)
{
    return atomic_load_explicit(&s->state, memory_order_seq_cst) == LOGGED;
}

static bool await_logged(struct ct_log_once *s, uint32_t limit_ms)
{
    const uint64_t end_ns = ct_clock_ns() + limit_ms * (uint64_t)CT_NS_PER_MS;
    uint64_t       now;
    while (!is_logged(s) && (now = ct_clock_ns()) < end_ns) {
        ct_wake_announce(&s->wake);
        if (!is_logged(s)) {
            ct_wake_sleep(&s->wake, end_ns - now);
        }
    }
    return is_logged(s);
}

void ct_log_once(struct ct_log_once *s, const struct ct_log *log, const char *folder,
                 const char *text, uint32_t limit_ms)
{
    const uint64_t digest = ct_fnv1a(CT_FNV1A_START, text, strlen(text));
    const bool     first = s == NULL || take(s);
    const bool     logged = !first && await_logged(s, limit_ms) && s->text == digest;
    if (!logged && log->level >= CT_LOG_ERROR) {
        ct_log_write(log, CT_LOG_ERROR, folder, "%s", text);
    }
    if (first && s != NULL) {
        s->text = digest;
        atomic_store_explicit(&s->state, LOGGED, memory_order_seq_cst);
        ct_wake_signal(&s->wake);
    }
}
