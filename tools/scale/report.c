/* SPDX-License-Identifier: BSD-3-Clause */
/* What all ways of running share: records, addresses, the number of processes, and the report. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "scale.h"

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void record_make(unsigned char record[ENTRY_BYTES], uint32_t slot, const struct ct_addr *agent)
{
    size_t at = 4 + sizeof *agent;
    memset(record, 0, ENTRY_BYTES);
    ct_wire_put32(record, slot);
    memcpy(record + 4, agent, sizeof *agent);
    for (unsigned i = 0; at + 8 <= ENTRY_BYTES; i++, at += 8) {
        ct_wire_put64(record + at, mix((uint64_t)slot << 8 | i));
    }
}

bool record_is_right(const unsigned char record[ENTRY_BYTES], uint32_t slot,
                     const struct ct_addr *agent)
{
    unsigned char want[ENTRY_BYTES];
    record_make(want, slot, agent);
    return memcmp(want, record, ENTRY_BYTES) == 0;
}

struct ct_addr node_addr(const struct options *o, uint32_t node)
{
    return (struct ct_addr){
        .family = 4,
        .port = {(uint8_t)(o->port >> 8), (uint8_t)o->port},
        .ip = {127, (uint8_t)(10 + (node >> 16)), (uint8_t)(node >> 8), (uint8_t)node}};
}

uint32_t workers_for(const struct options *o, uint32_t nodes, uint64_t fds_a_node)
{
    enum { OTHER_FDS = 64 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 0;
    }
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* what we have is what we count on */
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < fds_a_node + OTHER_FDS) {
        return 0;
    }
    uint64_t most = (limit.rlim_cur - OTHER_FDS) / fds_a_node, need = (nodes + most - 1) / most;
    uint64_t want = o->workers > need ? o->workers : need;
    want = want < nodes ? want : nodes;
    return want <= MAX_WORKERS - MAX_STORES ? (uint32_t)want : 0;
}

static const char *const kinds[CT_TRAFFIC_KINDS] = {"proof", "store", "node", "gather"};

static void report_json(const struct options *o, const struct result *r, const char *algorithm)
{
    printf("{\"mode\": \"%s\", \"ranks\": %u, \"ranks_per_node\": %u, \"nodes\": %u, "
           "\"algorithm\": \"%s\", \"seconds\": %.4f, \"processes\": %u, \"cores\": %u, "
           "\"lookups\": %llu, "
           "\"max_rss_kb\": %llu, \"cost_scale\": %.3f, \"sent\": {",
           o->mode, o->ranks, o->per_node, r->nodes, algorithm, r->seconds, r->workers, o->cores,
           (unsigned long long)r->lookups, (unsigned long long)r->max_rss_kb, o->scale);
    for (int k = 0; k < CT_TRAFFIC_KINDS; k++) {
        printf("%s\"%s\": {\"messages\": %llu, \"bytes\": %llu}", k == 0 ? "" : ", ", kinds[k],
               (unsigned long long)r->sent[k].messages, (unsigned long long)r->sent[k].bytes);
    }
    puts("}}");
}

void report(const struct options *o, const struct result *r, const char *algorithm)
{
    if (o->json) {
        report_json(o, r, algorithm);
        return;
    }
    printf("%s: %u ranks on %u nodes, %s: %.3f s\n", o->mode, o->ranks, r->nodes, algorithm,
           r->seconds);
    for (int k = 0; k < CT_TRAFFIC_KINDS; k++) {
        printf("  %-7s %12llu messages %15llu bytes\n", kinds[k],
               (unsigned long long)r->sent[k].messages, (unsigned long long)r->sent[k].bytes);
    }
    if (r->workers > 0) {
        printf("  %u processes, the largest of %llu MB; %llu look-ups\n", r->workers,
               (unsigned long long)r->max_rss_kb / 1024, (unsigned long long)r->lookups);
    }
    if (o->calibrate) {
        printf("  things cost %.3f times what was asked for, by runs on this machine\n", o->scale);
    }
}
