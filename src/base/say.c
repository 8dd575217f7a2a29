/* SPDX-License-Identifier: BSD-3-Clause */
/* What one process says for several; see say.h. */
#include "base/say.h"

#include "base/clock.h"

enum { FREE, TAKEN, SAID };

static bool take(struct ct_say *s)
{
    uint32_t free = FREE;
    return atomic_compare_exchange_strong_explicit(&s->state, &free, TAKEN, memory_order_seq_cst,
                                                   memory_order_seq_cst);
}

static bool is_said(const struct ct_say *s)
{
    return atomic_load_explicit(&s->state, memory_order_seq_cst) == SAID;
}

static bool await_said(struct ct_say *s)
{
    const uint64_t end_ns = ct_clock_ns() + CT_SAY_MS * (uint64_t)CT_NS_PER_MS;
    uint64_t       now;
    while (!is_said(s) && (now = ct_clock_ns()) < end_ns) {
        ct_wake_announce(&s->wake);
        if (!is_said(s)) {
            ct_wake_sleep(&s->wake, end_ns - now);
        }
    }
    return is_said(s);
}

void ct_say(struct ct_say *s, const struct ct_log *log, const char *folder, const char *text)
{
    const bool first = s == NULL || take(s);
    if ((first || !await_said(s)) && log->level >= CT_LOG_ERROR) {
        ct_log_write(log, CT_LOG_ERROR, folder, "%s", text);
    }
    if (first && s != NULL) {
        atomic_store_explicit(&s->state, SAID, memory_order_seq_cst);
        ct_wake_signal(&s->wake);
    }
}
