#include "rig_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

struct rig_log *rig_logs_new(uint32_t nodes)
{
    return base_calloc(nodes, sizeof(struct rig_log));
}

void rig_logs_free(struct rig_log *logs, uint32_t nodes)
{
    for (uint32_t n = 0; n < nodes; n++)
        free(logs[n].records);
    free(logs);
}

void rig_log_add(struct rig_log *log, struct rig_record record)
{
    if (log->count == log->capacity)
        log->records =
            base_grow(log->records, &log->capacity, log->count + 1, sizeof *log->records);
    log->records[log->count++] = record;
}

static void print_record(const char *model, const struct rig_log *log, size_t i)
{
    if (i >= log->count) {
        print_message("  %s: nothing\n", model);
        return;
    }
    const struct rig_record *r = &log->records[i];
    print_message("  %s: cycle %llu kind %llu: %llx %llx %llx\n", model,
                  (unsigned long long)r->time, (unsigned long long)r->kind,
                  (unsigned long long)r->value[0], (unsigned long long)r->value[1],
                  (unsigned long long)r->value[2]);
}

/* The first record in which two logs differ, or SIZE_MAX. */
static size_t difference(const struct rig_log *a, const struct rig_log *b)
{
    size_t most = a->count > b->count ? a->count : b->count;
    for (size_t i = 0; i < most; i++)
        if (i >= a->count || i >= b->count ||
            memcmp(&a->records[i], &b->records[i], sizeof a->records[i]) != 0)
            return i;
    return SIZE_MAX;
}

bool rig_logs_same(const struct rig_log *literal, const struct rig_log *fast, uint32_t nodes)
{
    uint64_t earliest = UINT64_MAX;
    uint32_t worst = 0;
    for (uint32_t n = 0; n < nodes; n++) {
        size_t i = difference(&literal[n], &fast[n]);
        uint64_t time = UINT64_MAX;
        if (i < literal[n].count) time = literal[n].records[i].time;
        if (i < fast[n].count && fast[n].records[i].time < time) time = fast[n].records[i].time;
        if (i == SIZE_MAX || time >= earliest) continue;
        earliest = time;
        worst = n;
    }
    if (earliest == UINT64_MAX) return true;
    size_t i = difference(&literal[worst], &fast[worst]);
    print_message("first difference, record %zu of node %u:\n", i, worst);
    print_record("literal", &literal[worst], i);
    print_record("fast   ", &fast[worst], i);
    return false;
}

uint64_t rig_hash(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001B3);
    return hash;
}

void rig_partitions_init(struct rig_partitions *rig, uint32_t nodes, unsigned count)
{
    memset(rig, 0, sizeof *rig);
    rig->count = count < nodes ? count : nodes;
    rig->first[rig->count] = nodes;
    for (unsigned p = 0; p < rig->count; p++) {
        rig->first[p] = nodes * p / rig->count;
        rig->partition[p] = net_partition_new(rig->first[p], nodes * (p + 1) / rig->count);
    }
}

void rig_partitions_fini(struct rig_partitions *rig)
{
    for (unsigned p = 0; p < rig->count; p++)
        net_partition_free(rig->partition[p]);
}

unsigned rig_partition_of(const struct rig_partitions *rig, uint32_t node)
{
    unsigned p = 0;
    while (node >= rig->first[p + 1])
        p++;
    return p;
}

void rig_partitions_exchange(struct rig_partitions *rig)
{
    for (unsigned p = 0; p < rig->count; p++) {
        size_t count;
        const struct net_event *events = net_partition_outbox(rig->partition[p], &count);
        for (size_t i = 0; i < count; i++)
            net_partition_post(rig->partition[rig_partition_of(rig, events[i].node)], &events[i]);
        net_partition_outbox_clear(rig->partition[p]);
    }
}

bool rig_partitions_quiet(const struct rig_partitions *rig)
{
    for (unsigned p = 0; p < rig->count; p++)
        if (net_partition_next(rig->partition[p]) != NET_NEVER) return false;
    return true;
}
