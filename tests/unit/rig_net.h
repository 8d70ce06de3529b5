/* What tests of networks share: logs of what happened at each node, to compare two models with, and
 * the exchange of events between partitions.
 */
#ifndef TEST_RIG_NET_H
#define TEST_RIG_NET_H

#include "machine/net/net.h"

enum { RIG_PARTITIONS = 4 };

struct rig_record {
    uint64_t time, kind, value[3];
};

struct rig_log {
    struct rig_record *records;
    size_t count, capacity;
};

struct rig_log *rig_logs_new(uint32_t nodes);
void rig_logs_free(struct rig_log *logs, uint32_t nodes);
void rig_log_add(struct rig_log *log, struct rig_record record);
/* Whether two sets of logs are equal; else prints the first difference in time. */
bool rig_logs_same(const struct rig_log *literal, const struct rig_log *fast, uint32_t nodes);

uint64_t rig_hash(uint64_t hash, const void *bytes, size_t size);

/* Partitions over nodes 0 to first[count] - 1. */
struct rig_partitions {
    struct net_partition *partition[RIG_PARTITIONS];
    uint32_t first[RIG_PARTITIONS + 1];
    unsigned count;
};

void rig_partitions_init(struct rig_partitions *rig, uint32_t nodes, unsigned count);
void rig_partitions_fini(struct rig_partitions *rig);
/* Which one has a node. */
unsigned rig_partition_of(const struct rig_partitions *rig, uint32_t node);
/* Posts what the partitions sent each other. */
void rig_partitions_exchange(struct rig_partitions *rig);
/* Whether nothing is under way. */
bool rig_partitions_quiet(const struct rig_partitions *rig);

#endif
